/** A Node readable (an HTTP/1 message or an HTTP/2 stream) as a push source. */
import type { Readable } from 'node:stream'
import { ProxyError } from '../../errors.ts'
import { HeaderList } from '../../headers/list.ts'
import type { Flow, Sink, Source } from '../../pipeline/contract.ts'

/** The body of a request. Nothing is read before it is started. */
export class RequestBody implements Source, Flow {
  readonly length: number | null
  /** True once the last byte has been read. */
  ended = false
  bytesReceived = 0
  readonly #stream: Readable & { rawTrailers?: string[] }
  readonly #beforeStart: (() => void) | null
  #sink: Sink | null = null
  #over = false

  /** `beforeStart` runs once when somebody wants the bytes: it sends 100 Continue. */
  constructor(stream: Readable, length: number | null, beforeStart: (() => void) | null = null) {
    this.#stream = stream
    this.length = length
    this.#beforeStart = beforeStart
  }

  start(sink: Sink): Flow {
    this.#sink = sink
    const stream = this.#stream
    if (stream.destroyed && !stream.readableEnded) {
      this.gone()
      return this
    }
    stream.on('data', (chunk: Buffer) => {
      this.bytesReceived += chunk.length
      if (this.#over) return
      if (!sink.write(chunk)) stream.pause()
    })
    stream.on('end', () => {
      this.ended = true
      if (this.#over) return
      this.#over = true
      const raw = stream.rawTrailers
      sink.end(raw && raw.length > 0 ? new HeaderList(raw) : undefined)
    })
    this.#beforeStart?.()
    return this
  }

  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    if (!this.#over) this.#stream.resume()
  }

  cancel(): void {
    this.#over = true
    this.#stream.pause()
  }

  /** The client has gone: the body is not whole, and never will be. */
  gone(error?: ProxyError): void {
    if (this.#over) return
    this.#over = true
    this.#sink?.fail(
      error ?? new ProxyError({ source: 'client', phase: 'request-body', code: 'client-closed' }),
    )
  }
}
