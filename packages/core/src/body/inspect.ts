/** Runs the chunk hooks over a request body as it passes. */
import { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import { isThenable } from '../pipeline/answer.ts'
import type { Flow, Reply, Sink, Source, Verdict } from '../pipeline/contract.ts'
import type { AnyContext, Hook } from '../pipeline/plan.ts'
import type { Own } from './guard.ts'

type ChunkHook = Hook<(cx: AnyContext, bytes: Uint8Array, end: boolean) => Verdict>

const NOTHING = new Uint8Array(0)

/**
 * The same body, where each chunk passes the hooks before anybody else sees it.
 * A reply of a hook is handed to `interrupt`, and the body breaks: nothing behind it takes it for whole.
 */
export function inspectSource(
  source: Source,
  hooks: readonly ChunkHook[],
  cx: AnyContext,
  interrupt: (reply: Reply, at: number) => void,
): Source {
  return {
    length: source.length,
    start: sink => new Inspection(source, hooks, cx, interrupt, sink),
  }
}

class Inspection implements Sink, Flow, Own {
  readonly keepsTheRules = true
  readonly #hooks: readonly ChunkHook[]
  readonly #cx: AnyContext
  readonly #interrupt: (reply: Reply, at: number) => void
  readonly #sink: Sink
  #flow: Flow | null = null
  #cancelled: ProxyError | null = null
  #over = false
  /** A verdict is awaited: chunks that arrive meanwhile wait here (at most what was already on its way). */
  #waiting = false
  readonly #queue: { bytes: Uint8Array; end: boolean; trailers?: HeaderList | undefined }[] = []
  #reader: 'running' | 'paused' = 'running'

  constructor(
    source: Source,
    hooks: readonly ChunkHook[],
    cx: AnyContext,
    interrupt: (reply: Reply, at: number) => void,
    sink: Sink,
  ) {
    this.#hooks = hooks
    this.#cx = cx
    this.#interrupt = interrupt
    this.#sink = sink
    this.#flow = source.start(this)
    if (this.#cancelled) this.#flow.cancel(this.#cancelled)
    else if (this.#waiting || this.#reader === 'paused') this.#flow.pause()
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over) return true
    if (this.#waiting) {
      this.#queue.push({ bytes, end: false })
      return false
    }
    return this.#judge(bytes, false, undefined, 0)
  }

  end(trailers?: HeaderList): void {
    if (this.#over) return
    if (this.#waiting) this.#queue.push({ bytes: NOTHING, end: true, trailers })
    else this.#judge(NOTHING, true, trailers, 0)
  }

  fail(error: ProxyError): void {
    if (this.#over) return
    this.#over = true
    this.#sink.fail(error)
  }

  pause(): void {
    this.#reader = 'paused'
    this.#flow?.pause()
  }

  resume(): void {
    this.#reader = 'running'
    if (!this.#waiting) this.#flow?.resume()
  }

  cancel(error: ProxyError): void {
    if (this.#over) return
    this.#over = true
    this.#cancelled = error
    this.#flow?.cancel(error)
  }

  #judge(bytes: Uint8Array, end: boolean, trailers: HeaderList | undefined, from: number): boolean {
    for (let i = from; i < this.#hooks.length; i++) {
      const hook = this.#hooks[i]!
      let verdict: Verdict
      try {
        verdict = hook.run(this.#cx, bytes, end)
      } catch (cause) {
        this.#break(new ProxyError({ source: 'proxy', phase: 'request-body', code: 'internal', cause }))
        return true
      }
      if (verdict === undefined) continue
      if (isThenable(verdict)) {
        this.#waiting = true
        this.#flow?.pause()
        Promise.resolve(verdict).then(
          reply => this.#decided(reply, hook.at, bytes, end, trailers, i + 1),
          cause =>
            this.#break(new ProxyError({ source: 'proxy', phase: 'request-body', code: 'internal', cause })),
        )
        return false
      }
      this.#refuse(verdict, hook.at)
      return true
    }
    if (end) {
      this.#over = true
      this.#sink.end(trailers)
      return true
    }
    return this.#sink.write(bytes)
  }

  #decided(
    reply: Reply | undefined,
    at: number,
    bytes: Uint8Array,
    end: boolean,
    trailers: HeaderList | undefined,
    next: number,
  ): void {
    if (this.#over) return
    this.#waiting = false
    if (reply !== undefined) return this.#refuse(reply, at)
    let more = this.#judge(bytes, end, trailers, next)
    while (!this.#waiting && !this.#over) {
      const queued = this.#queue.shift()
      if (!queued) break
      more = this.#judge(queued.bytes, queued.end, queued.trailers, 0)
    }
    if (!this.#waiting && !this.#over && more && this.#reader === 'running') this.#flow?.resume()
  }

  #refuse(reply: Reply, at: number): void {
    this.#interrupt(reply, at)
    this.#break(new ProxyError({ source: 'client', phase: 'request-body', code: 'refused' }))
  }

  #break(error: ProxyError): void {
    if (this.#over) return
    this.#over = true
    this.#cancelled = error
    this.#queue.length = 0
    this.#flow?.cancel(error)
    this.#sink.fail(error)
  }
}
