/** A Node readable (an HTTP/1 message or an HTTP/2 stream) as a push source. */
import type { Readable } from 'node:stream'
import { ProxyError } from '../../errors.ts'
import { HeaderList } from '../../headers/list.ts'
import type { Flow, Sink, Source } from '../../pipeline/contract.ts'
import type { ClientGuard } from '../clients/guard.ts'
import { Pace, type Sender } from '../clients/minimum-rate.ts'

/** What a message of HTTP/1 and a stream of HTTP/2 have besides. */
type Incoming = Readable & { rawTrailers?: string[]; rstCode?: number; aborted?: boolean }

/** The body of a request. Nothing is read before it is started. */
export class RequestBody implements Source, Flow, Sender {
  readonly length: number | null
  /** True once the last byte has been read. */
  ended = false
  bytesReceived = 0
  readonly pace: Pace = new Pace()
  readonly #stream: Incoming
  readonly #beforeStart: (() => void) | null
  /** Holds it to a rate; `null` for no longer. */
  #guard: ClientGuard | null
  #sink: Sink | null = null
  #paused = false
  #over = false
  #error: ProxyError | null = null

  /** `beforeStart` runs once when somebody wants the bytes: it sends 100 Continue. */
  constructor(
    stream: Readable,
    length: number | null,
    beforeStart: (() => void) | null = null,
    guard: ClientGuard | null = null,
  ) {
    this.#stream = stream
    this.#guard = guard
    this.length = length
    this.#beforeStart = beforeStart
  }

  /** The client waits to be asked for it, and has not been. */
  get unasked(): boolean {
    return this.#beforeStart !== null && this.#sink === null
  }

  /** It will not be whole. */
  get broken(): boolean {
    return this.#error !== null
  }

  get received(): number {
    return this.bytesReceived
  }

  get due(): boolean {
    return !this.#paused
  }

  tooSlow(): void {
    if (this.#guard !== null) this.#guard.slow.bodies++
    this.gone(new ProxyError({ source: 'client', phase: 'request-body', code: 'request-timeout' }))
  }

  /** From now on it may come as slowly as it likes. */
  unwatch(): void {
    const guard = this.#guard
    if (guard === null) return
    this.#guard = null
    guard.bodies?.remove(this)
  }

  start(sink: Sink): Flow {
    const stream = this.#stream
    if (this.#over || (stream.destroyed && !stream.readableEnded)) {
      this.#over = true
      sink.fail(this.#error ?? bodyError('client-closed'))
      return this
    }
    this.#sink = sink
    stream.on('data', (chunk: Buffer) => {
      this.bytesReceived += chunk.length
      if (this.#over) return
      if (!sink.write(chunk)) this.pause()
    })
    stream.on('end', () => {
      // node:http2 says 'end' for an upload that the client has cut, too (RFC 9113, 8.1.1): it never looks whole.
      if (stream.rstCode || stream.aborted) return this.gone()
      this.ended = true
      this.unwatch()
      if (this.#over) return
      this.#over = true
      const raw = stream.rawTrailers
      sink.end(raw && raw.length > 0 ? new HeaderList(raw) : undefined)
    })
    this.#beforeStart?.()
    this.#guard?.bodies?.add(this)
    return this
  }

  pause(): void {
    if (this.#over) return
    this.#paused = true
    this.#stream.pause()
  }

  resume(): void {
    if (this.#over) return
    this.#paused = false
    this.#stream.resume()
  }

  cancel(): void {
    if (this.#over) return
    this.#over = true
    this.unwatch()
    this.#stream.pause()
  }

  /** Nobody wants the rest: it is read off and dropped. `enough` is called when more than `most` bytes of it came. */
  discard(most: number, enough: () => void): void {
    this.#over = true
    this.unwatch()
    this.#error ??= bodyError('body-consumed')
    let left = most
    this.#stream.on('data', (chunk: Buffer) => {
      if (left < 0) return
      left -= chunk.length
      if (left < 0) enough()
    })
    this.#stream.resume()
  }

  /** The body is not whole, and never will be; by default because the client has gone. */
  gone(error: ProxyError = bodyError('client-closed')): void {
    if (this.#over) return
    this.#over = true
    this.unwatch()
    this.#error = error
    this.#sink?.fail(error)
  }
}

function bodyError(code: 'client-closed' | 'body-consumed'): ProxyError {
  return new ProxyError({
    source: code === 'client-closed' ? 'client' : 'proxy',
    phase: 'request-body',
    code,
  })
}
