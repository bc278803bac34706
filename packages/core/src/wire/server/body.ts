/** The body of a request, pushed as it is read from the connection. */
import { ProxyError } from '../../errors.ts'
import { HeaderList } from '../../headers/list.ts'
import { CONTENT_LENGTH, kindOf, TRANSFER_ENCODING } from '../../headers/names.ts'
import type { Flow, Sink, Source } from '../../pipeline/contract.ts'
import type { ClientGuard } from '../../transport/clients/guard.ts'
import { Pace, type Sender } from '../../transport/clients/minimum-rate.ts'
import { type ChunkedDecoder, DATA, END } from '../message/chunked.ts'
import { MORE } from '../message/field-lines.ts'

/** What a body asks of its connection. */
export interface BodyReader {
  /** The client waits to be asked for the body: send 100 Continue. */
  askForBody(): void
  /** The body can take bytes again. */
  readOn(): void
  /** The body takes too long. */
  timedOut(): void
}

/** {@link WireBody.feed}: the bytes are no body. */
export const BROKEN = -1

/** Bytes that are kept for a reader that is not there yet, or pauses; more wait on the connection. */
const KEPT_BYTES = 16_384

/** Fed by its connection; what nobody takes is kept, up to a bound. */
export class WireBody implements Source, Flow, Sender {
  readonly length: number | null
  bytesReceived = 0
  /** Whoever reads it has had its last byte. */
  ended = false
  /** Its last byte has come. */
  complete = false
  readonly pace: Pace = new Pace()
  readonly #reader: BodyReader
  readonly #decoder: ChunkedDecoder | null
  /** The client waits to be asked for it. */
  readonly #expects: boolean
  #left: number
  #kept: Buffer[] = NOTHING
  #keptBytes = 0
  #trailers: string[] = NO_TRAILERS
  #sink: Sink | null = null
  #paused = false
  /** Nobody reads it any more. */
  #over = false
  #discarding = false
  #error: ProxyError | null = null
  /** Holds it to a rate; `null` for no longer. */
  #guard: ClientGuard | null

  /** `length`: bytes, or `null` for a chunked body, which `decoder` reads. */
  constructor(
    reader: BodyReader,
    length: number | null,
    decoder: ChunkedDecoder | null,
    expects: boolean,
    guard: ClientGuard | null = null,
  ) {
    this.#guard = guard
    this.#reader = reader
    this.length = length
    this.#left = length ?? 0
    this.#decoder = decoder
    this.#expects = expects
  }

  /** The client waits to be asked for it, and has not been. */
  get unasked(): boolean {
    return this.#expects && this.#sink === null
  }

  get received(): number {
    return this.bytesReceived
  }

  get due(): boolean {
    return !this.#paused
  }

  tooSlow(): void {
    if (this.#guard !== null) this.#guard.slow.bodies++
    this.#reader.timedOut()
  }

  /** From now on it may come as slowly as it likes. */
  unwatch(): void {
    const guard = this.#guard
    if (guard === null) return
    this.#guard = null
    guard.bodies?.remove(this)
  }

  /** It takes no bytes now. */
  get blocked(): boolean {
    return this.#over ? !this.#discarding : this.#keptBytes >= KEPT_BYTES
  }

  start(sink: Sink): Flow {
    if (this.#over) {
      sink.fail(this.#error ?? bodyError('client-closed'))
      return this
    }
    this.#sink = sink
    if (this.#expects) this.#reader.askForBody()
    if (!this.complete) this.#guard?.bodies?.add(this)
    this.#replay()
    return this
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    if (!this.#paused || this.#over) return
    this.#paused = false
    this.#replay()
  }

  cancel(): void {
    this.#stop()
  }

  /** Nobody wants the rest: it is read off and dropped. */
  discard(): void {
    this.#stop()
    this.#discarding = true
    this.#error ??= bodyError('body-consumed')
  }

  /** It is not whole, and never will be; by default because the client has gone. */
  gone(error: ProxyError = bodyError('client-closed')): void {
    if (this.#over) return
    this.#stop()
    this.#error = error
    this.#sink?.fail(error)
  }

  /** Takes bytes up to its end, or until it is blocked. The place behind them, or {@link BROKEN}. */
  feed(bytes: Buffer, from: number, to: number): number {
    if (this.#decoder !== null) return this.#feedChunked(this.#decoder, bytes, from, to)
    const end = Math.min(to, from + this.#left)
    this.#left -= end - from
    this.complete = this.#left === 0
    this.#give(bytes, from, end)
    if (this.complete) this.#end()
    return end
  }

  #feedChunked(decoder: ChunkedDecoder, bytes: Buffer, from: number, to: number): number {
    let at = from
    while (!this.blocked) {
      const found = decoder.next(bytes, at, to)
      if (found === MORE) return to
      if (found !== DATA && found !== END) return BROKEN
      at = decoder.at
      if (found === END) {
        if (frames(decoder.trailers)) return BROKEN
        this.complete = true
        this.#trailers = decoder.trailers
        this.#end()
        break
      }
      this.#give(bytes, decoder.dataFrom, decoder.dataTo)
    }
    return at
  }

  #give(bytes: Buffer, from: number, to: number): void {
    this.bytesReceived += to - from
    if (this.#over || from === to) return
    const piece = bytes.subarray(from, to)
    if (this.#sink !== null && !this.#paused) {
      if (!this.#sink.write(piece)) this.#paused = true
    } else {
      if (this.#kept === NOTHING) this.#kept = []
      this.#kept.push(piece)
      this.#keptBytes += piece.length
    }
  }

  #end(): void {
    this.unwatch()
    if (this.#over || this.#paused || this.#sink === null) return
    this.ended = this.#over = true
    this.#sink.end(this.#trailers.length > 0 ? new HeaderList(this.#trailers) : undefined)
  }

  /** Gives what was kept; then it can take more. */
  #replay(): void {
    const sink = this.#sink!
    while (!this.#paused && this.#keptBytes > 0) {
      const piece = this.#kept.shift()!
      this.#keptBytes -= piece.length
      if (!sink.write(piece)) this.#paused = true
    }
    if (this.complete) this.#end()
    else if (!this.#paused) this.#reader.readOn()
  }

  #stop(): void {
    this.#over = true
    this.unwatch()
    this.#kept = NOTHING
    this.#keptBytes = 0
  }
}

const NOTHING: Buffer[] = []
const NO_TRAILERS: string[] = []

/** A trailer section that says how long a message is (RFC 9110, 6.5.1): too late, and for some reader the truth. */
function frames(trailers: readonly string[]): boolean {
  for (let i = 0; i < trailers.length; i += 2) {
    const kind = kindOf(trailers[i]!)
    if (kind === CONTENT_LENGTH || kind === TRANSFER_ENCODING) return true
  }
  return false
}

function bodyError(code: 'client-closed' | 'body-consumed'): ProxyError {
  const source = code === 'client-closed' ? 'client' : 'proxy'
  return new ProxyError({ source, phase: 'request-body', code })
}
