/** The body of a request on its way into a stream, and into another one when the first was not processed. */
import type { ClientHttp2Stream } from 'node:http2'
import { ProxyError } from '../../errors.ts'
import type { HeaderList } from '../../headers/list.ts'
import type { Flow, Sink, Source } from '../../pipeline/contract.ts'
import type { OutgoingRequest } from '../connector.ts'
import { trailerFields } from './fields.ts'

/** Bytes of a body that are kept until the target has shown that it takes the request. */
const KEPT_BYTES = 65_536

/** What a call hears of its upload. */
export interface UploadOwner {
  /** The target takes no more for now, or takes it again. */
  onBlocked(blocked: boolean): void
  /** All of it has been written. */
  onSent(): void
  /** It can't be sent to its end. */
  fail(error: ProxyError): void
}

/** Reads the source once; a small body, or the beginning of one, can be written twice. */
export class Upload implements Sink {
  begun = false
  /** All of it has been written. */
  sent = false
  readonly #source: Source
  readonly #owner: UploadOwner
  readonly #withheld: OutgoingRequest['decided']
  #stream: ClientHttp2Stream | null = null
  #flow: Flow | null = null
  #trailers: HeaderList | undefined
  #kept: Uint8Array[] | null = []
  #keptBytes = 0
  #over = false

  /** `withheld`: trailers that are not sent. */
  constructor(source: Source, owner: UploadOwner, withheld?: OutgoingRequest['decided']) {
    this.#source = source
    this.#owner = owner
    this.#withheld = withheld
  }

  /** True when another stream could get all of it. */
  get repeatable(): boolean {
    return this.#kept !== null
  }

  /** Writes into a stream: from the start, or again. */
  into(stream: ClientHttp2Stream): void {
    this.#stream = stream
    stream.on('drain', () => {
      if (this.#over || this.#stream !== stream) return
      this.#owner.onBlocked(false)
      if (!this.sent) this.#flow?.resume()
    })
    stream.on('wantTrailers', () => this.#sendTrailers(stream))
    if (this.begun) return this.#repeat(stream)
    this.begun = true
    this.#flow = this.#source.start(this)
    if (this.#over) this.#flow.cancel(unwanted())
  }

  /** Its stream is gone; what still comes waits for the next one. */
  leave(): void {
    this.#stream = null
  }

  /** The target answers: it has taken the request, and nothing will be sent again. */
  taken(): void {
    this.#kept = null
  }

  cancel(error: ProxyError = unwanted()): void {
    if (this.#over) return
    this.#over = true
    this.#kept = null
    this.#flow?.cancel(error)
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over) return false
    const stream = this.#stream
    this.#keep(bytes, stream === null)
    if (stream === null || stream.closed) return false
    if (stream.write(bytes)) return true
    this.#owner.onBlocked(true)
    return false
  }

  end(trailers?: HeaderList): void {
    if (this.#over) return
    this.sent = true
    this.#trailers = trailers
    if (this.#stream) this.#finish(this.#stream)
  }

  /** The client's upload broke: it must not look whole. */
  fail(error: ProxyError): void {
    if (this.#over) return
    this.#over = true
    this.#owner.fail(error)
  }

  #keep(bytes: Uint8Array, always: boolean): void {
    if (this.#kept === null) return
    this.#keptBytes += bytes.length
    if (this.#keptBytes <= KEPT_BYTES || always) this.#kept.push(bytes)
    else this.#kept = null
  }

  #repeat(stream: ClientHttp2Stream): void {
    let more = true
    for (const bytes of this.#kept!) more = stream.write(bytes)
    if (this.#keptBytes > KEPT_BYTES) this.#kept = null
    if (this.sent) this.#finish(stream)
    else if (more) this.#flow?.resume()
    else this.#owner.onBlocked(true)
  }

  #finish(stream: ClientHttp2Stream): void {
    stream.end()
    this.#owner.onSent()
  }

  #sendTrailers(stream: ClientHttp2Stream): void {
    try {
      stream.sendTrailers(this.#trailers ? trailerFields(this.#trailers.raw, this.#withheld) : {})
    } catch (cause) {
      this.fail(new ProxyError({ source: 'client', phase: 'request-body', code: 'bad-request', cause }))
    }
  }
}

function unwanted(): ProxyError {
  return new ProxyError({ source: 'upstream', phase: 'request-body', code: 'upstream-reset' })
}
