/** A body on its way through a stream of node:zlib: backpressure both ways, and every end frees the stream. */
import type { ProxyError } from '../../errors.ts'
import type { HeaderList } from '../../headers/list.ts'
import type { Flow, Sink, Source } from '../../pipeline/contract.ts'
import { trailersOfChanged } from '../changed.ts'
import { guardReply, type Own } from '../guard.ts'
import type { Engine } from './codings.ts'

/** What undoing and making codings have in common. */
export abstract class ZlibSource implements Source, Sink, Flow, Own {
  readonly keepsTheRules = true
  /** What comes in is read, and what comes out is new. */
  readonly readsOnly = true
  readonly length = null
  readonly #source: Source
  #free: (() => void) | null
  #sink!: Sink
  #flow: Flow | null = null
  #engine: Engine | null = null
  #over = false
  /** Set when it was over before there was a flow to cancel. */
  #cancelled: ProxyError | null = null
  #paused = false
  #trailers: HeaderList | undefined

  /** `free` is called once, when the stream is not needed any more. */
  constructor(source: Source, free: (() => void) | null = null) {
    this.#source = guardReply(source)
    this.#free = free
  }

  protected get over(): boolean {
    return this.#over
  }

  protected get engine(): Engine | null {
    return this.#engine
  }

  /** Takes what comes in. False: pause. */
  abstract write(bytes: Uint8Array): boolean
  /** What came in is whole. */
  protected abstract ending(): void
  /** A chunk has come out. False: it must not pass. */
  protected abstract admits(bytes: Uint8Array): boolean
  /** All has come out. False: it is not whole. */
  protected abstract finished(): boolean
  /** What is told when the stream breaks. */
  protected abstract failure(cause: unknown): ProxyError

  start(sink: Sink): Flow {
    this.#sink = sink
    const flow = this.#source.start(this)
    this.#flow = flow
    if (this.#cancelled) flow.cancel(this.#cancelled)
    return this
  }

  end(trailers?: HeaderList): void {
    if (this.#over) return
    this.#trailers = trailers
    this.ending()
  }

  fail(error: ProxyError): void {
    if (this.#over) return
    this.#close()
    this.#sink.fail(error)
  }

  pause(): void {
    this.#paused = true
    this.#engine?.pause()
  }

  resume(): void {
    this.#paused = false
    if (this.#over) return
    if (this.#engine) this.#engine.resume()
    else this.#flow?.resume()
  }

  cancel(error: ProxyError): void {
    if (this.#over) return
    this.#close()
    this.#stopSource(error)
  }

  /** What was written has been taken. */
  protected drained(): void {}

  /** The slot goes back without the source having been started. */
  protected release(): void {
    this.#free?.()
    this.#free = null
  }

  /** Bytes pass through this stream from now on. */
  protected use(engine: Engine): void {
    this.#engine = engine
    engine.on('data', (bytes: Uint8Array) => {
      if (this.#over) return
      if (!this.admits(bytes)) return
      if (!this.#sink.write(bytes)) engine.pause()
    })
    engine.on('drain', () => {
      if (this.#over) return
      this.drained()
      this.#flow?.resume()
    })
    engine.on('end', () => {
      if (this.#over) return
      if (!this.finished()) return
      this.whole()
    })
    engine.on('error', (cause: Error) => this.break(cause))
    if (this.#paused) engine.pause()
  }

  protected whole(): void {
    this.#close()
    this.#sink.end(trailersOfChanged(this.#trailers))
  }

  /** Neither side goes on. */
  protected break(cause: unknown): void {
    if (this.#over) return
    const error = this.failure(cause)
    this.#close()
    this.#sink.fail(error)
    this.#stopSource(error)
  }

  #close(): void {
    this.#over = true
    this.#engine?.destroy()
    this.release()
  }

  #stopSource(error: ProxyError): void {
    this.#cancelled = error
    this.#flow?.cancel(error)
  }
}
