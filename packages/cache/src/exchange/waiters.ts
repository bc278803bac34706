/** The requests that wait for one fetch. */
import { type Context, HeaderList, ProxyError, type Reply } from '@postern/core'
import type { Question } from '../policy/request.ts'
import { type Entry, fits } from '../store/entry.ts'
import { clientClosed } from './replies.ts'

/** A request that waits for an answer. */
export interface Waiter {
  readonly cx: Context
  readonly question: Question
  readonly resolve: (reply: Reply | PromiseLike<Reply>) => void
  readonly reject: (cause: unknown) => void
  readonly onAbort: () => void
}

/** Most interim responses that are kept for those who join late. */
const MOST_INTERIM = 8

export class Waiters {
  #waiting: Waiter[] = []
  readonly #interim: { status: number; headers: HeaderList }[] = []
  readonly #deserted: (error: ProxyError) => void

  /** @param deserted the last one has left */
  constructor(deserted: (error: ProxyError) => void) {
    this.#deserted = deserted
  }

  /** Waits. Whoever leaves is answered at once, for the log, and is no longer in the way. */
  add(cx: Context, question: Question): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const { signal } = cx
      const waiter: Waiter = { cx, question, resolve, reject, onAbort: () => this.#gone(waiter) }
      this.#waiting.push(waiter)
      for (const { status, headers } of this.#interim) cx.inform(status, headers.clone())
      if (signal.aborted) this.#gone(waiter)
      else signal.addEventListener('abort', waiter.onAbort, { once: true })
    })
  }

  /** Passes an interim response on, now and to whoever joins later. It is never stored. */
  inform(status: number, headers: HeaderList): void {
    if (this.#interim.length < MOST_INTERIM) this.#interim.push({ status, headers })
    for (const { cx } of this.#waiting) cx.inform(status, headers.clone())
  }

  /** All of them; each must be answered. */
  take(): Waiter[] {
    const waiting = this.#waiting
    this.#waiting = []
    for (const { cx, onAbort } of waiting) cx.signal.removeEventListener('abort', onAbort)
    return waiting
  }

  /** Those of {@link take} that have to wait on. */
  putBack(waiters: readonly Waiter[]): void {
    for (const waiter of waiters) {
      this.#waiting.push(waiter)
      waiter.cx.signal.addEventListener('abort', waiter.onAbort, { once: true })
    }
  }

  #gone(waiter: Waiter): void {
    const at = this.#waiting.indexOf(waiter)
    if (at === -1) return
    this.#waiting.splice(at, 1)
    const { reason } = waiter.cx.signal
    const error = reason instanceof ProxyError ? reason : clientClosed()
    waiter.resolve({ status: 499, headers: new HeaderList(), body: null, error })
    if (this.#waiting.length === 0) this.#deserted(error)
  }
}

/** True when a stored response is one for this request: it may wait for a fetch that turns out to be of another variant. */
export function isFor(entry: Entry, selector: string, { cx, question }: Waiter): boolean {
  return fits(entry, selector, cx.request.headers) && (!question.hasAuthorization || entry.shared)
}
