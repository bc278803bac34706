/** Tells the filters that want to hear of it how an attempt goes. */
import type { ProxyError } from '../errors.ts'
import { HeaderList } from '../headers/list.ts'
import type { AttemptWatch, SentAttempt } from '../pipeline/contract.ts'
import type { Exchange } from '../pipeline/exchange.ts'
import { warnOf } from '../pipeline/warn.ts'

/** Runs the hooks for an attempt that is about to be sent with `fields`; what they throw ends nothing. */
export function watchAttempt(
  cx: Exchange,
  target: string,
  path: string,
  fields: string[],
): AttemptWatch | null {
  const { onAttempt, filters } = cx.plan
  const sent: SentAttempt = {
    attempt: cx.attempts,
    upstream: cx.upstream ?? '',
    target,
    method: cx.request.method,
    path,
    headers: new HeaderList(fields),
  }
  const watches: Watch[] = []
  for (const { at, run } of onAttempt) {
    const name = `filter '${filters[at]!.name}' (onAttempt)`
    try {
      const watch = run(cx, sent)
      if (watch !== undefined) watches.push(new Watch(watch, name))
    } catch (cause) {
      warnOf(name, cause)
    }
  }
  if (watches.length < 2) return watches[0] ?? null
  return {
    onHead(status) {
      for (const watch of watches) watch.onHead(status)
    },
    onEnd(error) {
      for (const watch of watches) watch.onEnd(error)
    },
  }
}

class Watch implements AttemptWatch {
  readonly #watch: AttemptWatch
  readonly #name: string

  constructor(watch: AttemptWatch, name: string) {
    this.#watch = watch
    this.#name = name
  }

  onHead(status: number): void {
    try {
      this.#watch.onHead(status)
    } catch (cause) {
      warnOf(this.#name, cause)
    }
  }

  onEnd(error: ProxyError | null): void {
    try {
      this.#watch.onEnd(error)
    } catch (cause) {
      warnOf(this.#name, cause)
    }
  }
}
