/** One exchange of HTTP/1.1: the client's side of it, and the sink for the reply's body. */

import { KeptBody } from '../../body/kept.ts'
import { latin1 } from '../../body/latin1.ts'
import { isSource } from '../../body/transform.ts'
import { ProxyError } from '../../errors.ts'
import { type HeaderList, isFieldName, isFieldValue } from '../../headers/list.ts'
import type { ClientLink, Flow, OpenExchange, Reply, Sink, Source } from '../../pipeline/contract.ts'
import { failureReply } from '../../reply.ts'
import {
  announcedLength,
  assertInterim,
  discardBody,
  fitReply,
  gone,
  wrongLength,
} from '../../transport/fit-reply.ts'
import { piecesOf } from '../../transport/node/pieces.ts'
import { Stall } from '../../transport/node/stall.ts'
import { type Answering, runExchange } from '../../transport/run-exchange.ts'
import { CHUNK_END, chunkHead, lastChunk } from '../message/chunk-writer.ts'
import type { WireBody } from './body.ts'
import type { WireConnection } from './connection.ts'
import type { Finished } from './output.ts'
import { interimHead, NO_BODY, PUSHED, ReplyHeadWriter } from './reply-head.ts'

/** A body that nobody read and that is at most this long is read off, so that the connection lives on. */
const DRAINED_BYTES = 65_536
/** Up to here, copying a body into the text of its head is cheaper than a second buffer in the system call. */
const ONE_WRITE_BYTES = 16_384
/** From here on a body is written in pieces. */
const PIECES_BYTES = 131_072

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

const heads = new ReplyHeadWriter()

/** Made with the request, over when its answer is out or the client has gone. */
export class WireLink implements ClientLink, Sink, Finished, Answering {
  readonly readsOnly = true
  readonly body: WireBody | null
  /** The connection ends with this answer; nothing behind it is read. */
  closing = false
  readonly #connection: WireConnection
  readonly #isHead: boolean
  /** No request can follow. */
  #last: boolean
  #exchange!: OpenExchange
  #reply: Reply | null = null
  /** Its turn has come, and its head is on its way. */
  #begun = false
  #flow: Flow | null = null
  #bytesSent = 0
  /** What the head says of a body that is pushed. */
  #length: number | null = null
  #chunked = false
  #error: ProxyError | null = null
  // While the source starts, its first chunk and end are kept: a small reply is one write.
  #starting = false
  #first: Uint8Array | null = null
  #ended = false
  /** The last byte has been given to the output. */
  #written = false
  #blocked = false
  #asked = false
  #stall: Stall | null = null
  #over = false

  constructor(connection: WireConnection, isHead: boolean, body: WireBody | null, last: boolean) {
    this.#connection = connection
    this.#isHead = isHead
    this.body = body
    this.#last = last
  }

  get draining(): boolean {
    return this.#connection.serving.draining
  }

  get bytesReceived(): number {
    return this.body === null ? 0 : this.body.bytesReceived
  }

  inform(status: number, headers: HeaderList): void {
    assertInterim(status, headers)
    // Behind another answer it would come too late or be taken for that one's: it is left out.
    if (this.#over || this.#begun || !this.#connection.isFirst(this)) return
    this.#connection.output.put(interimHead(status, headers.raw))
    this.#connection.flushSoon()
  }

  /** The client is asked for the body, when it is this answer's turn. */
  askForBody(): void {
    if (this.#over || this.#begun) return
    this.#asked = true
    if (!this.#connection.isFirst(this)) return
    this.#asked = false
    this.#connection.output.put(CONTINUE)
    this.#connection.flushSoon()
  }

  begin(exchange: OpenExchange): void {
    this.#exchange = exchange
    runExchange(exchange, this)
  }

  /** All answers in front of it are written. */
  turn(): void {
    if (this.#reply !== null) this.#start(this.#reply)
    else if (this.#asked) this.askForBody()
  }

  answer(reply: Reply, error: ProxyError | null): void {
    if (error !== null) this.#error = error
    this.#send(reply)
  }

  #send(given: Reply): void {
    // Nobody is there to read it; its source must know.
    if (this.#over) return discardBody(given?.body ?? null, gone('reply-body'))
    const reply = fitReply(given, this.#isHead ? 'HEAD' : 'GET')
    if (reply !== given) this.#error ??= reply.error ?? null
    this.#reply = reply
    this.body?.unwatch()
    if (this.#connection.isFirst(this)) this.#start(reply)
  }

  #start(reply: Reply): void {
    try {
      this.#tryStart(reply)
    } catch (cause) {
      // A source that throws when it is started: it must not look whole, nor end the process.
      this.fail(new ProxyError({ source: 'proxy', phase: 'reply-body', code: 'internal', cause }))
    }
  }

  #tryStart(reply: Reply): void {
    const { body, status } = reply
    const bodiless = this.#isHead || status === 204 || status === 304
    const { output } = this.#connection
    try {
      this.#writeHead(reply, bodiless ? NO_BODY : lengthOf(body))
    } catch (cause) {
      return this.#unsendable(reply, cause)
    }
    this.#begun = true
    this.closing = heads.closing
    this.#chunked = heads.chunked
    output.put(heads.text)
    if (body === null) {
      if (!bodiless && announcedLength(reply.headers) !== 0 && reply.headers.has('content-length')) {
        return this.fail(wrongLength())
      }
      this.#finish()
    } else if (body instanceof Uint8Array) this.#sendBytes(body)
    else if (body instanceof KeptBody) this.#sendKept(body)
    else if (isSource(body)) this.#sendSource(body)
    else this.fail(gone('reply-body'))
  }

  #writeHead({ status, headers, prepared }: Reply, body: number): void {
    const { keepAlive } = this.#connection
    const last = this.#isLast()
    if (prepared !== undefined && heads.writePrepared(status, headers, prepared, last, body, keepAlive))
      return
    heads.write(status, headers.raw, last, body, keepAlive)
  }

  #sendKept(body: KeptBody): void {
    if (this.#isHead || body.length > ONE_WRITE_BYTES) return this.#sendBytes(body.bytes)
    this.#bytesSent = body.length
    this.#connection.output.put(body.text)
    this.#finish()
  }

  #sendBytes(bytes: Uint8Array): void {
    if (this.#isHead) return this.#finish()
    if (bytes.length > PIECES_BYTES) return this.#sendSource(piecesOf(bytes))
    this.#bytesSent = bytes.length
    this.#give(bytes)
    this.#finish()
  }

  #sendSource(source: Source): void {
    if (this.#isHead) {
      discardBody(source, gone('reply-body'))
      return this.#finish()
    }
    this.#length = this.#chunked ? null : announcedLength(this.#reply!.headers)
    this.#starting = true
    this.#flow = source.start(this)
    this.#starting = false
    if (this.#error !== null || this.#over) return
    const first = this.#first
    this.#first = null
    if (first !== null && !this.#give(first)) this.#block()
    if (this.#ended) this.#finish()
    else this.#connection.flushSoon()
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over || this.#ended) return false
    this.#bytesSent += bytes.length
    if (this.#length !== null && !(this.#bytesSent <= this.#length)) {
      this.#bytesSent -= bytes.length
      this.#wrongLength()
      return false
    }
    if (this.#starting && this.#first === null) {
      this.#first = bytes
      return true
    }
    if (this.#starting) this.#giveFirst()
    const more = this.#give(bytes)
    this.#connection.flushSoon()
    if (more) return true
    this.#block()
    return false
  }

  end(trailers?: HeaderList): void {
    if (this.#over || this.#ended) return
    if (this.#length !== null && this.#bytesSent !== this.#length) return this.#wrongLength()
    if (trailers !== undefined && this.#chunked && !areLegal(trailers)) {
      return this.fail(new ProxyError({ source: 'upstream', phase: 'reply-body', code: 'bad-reply' }))
    }
    if (this.#starting) this.#giveFirst()
    this.#ended = true
    if (this.#chunked) this.#connection.output.put(lastChunk(trailers === undefined ? null : trailers.raw))
    if (!this.#starting) this.#finish()
  }

  /** Bytes of the body, with their frame. False: pause. */
  #give(bytes: Uint8Array): boolean {
    const { output } = this.#connection
    const { length } = bytes
    if (length === 0) return true
    if (this.#chunked) output.put(chunkHead(length))
    let more = true
    if (length <= ONE_WRITE_BYTES) output.put(latin1(bytes))
    else more = output.send(bytes)
    if (this.#chunked) output.put(CHUNK_END)
    return more && !output.full
  }

  #giveFirst(): void {
    const first = this.#first
    this.#first = null
    if (first !== null && !this.#give(first)) this.#block()
  }

  #wrongLength(): void {
    const error = wrongLength()
    this.fail(error)
    this.#flow?.cancel(error)
  }

  /** The reply broke: the client must see that it is not whole (RFC 9112, 8). */
  fail(error: ProxyError): void {
    if (this.#over || this.#written) return
    this.#error = error
    this.#connection.cut()
  }

  /** The last byte is on its way: the next answer may begin. */
  #finish(): void {
    this.#written = true
    this.#connection.answered(this)
  }

  #block(): void {
    if (this.#blocked) return
    this.#blocked = true
    if (!this.#starting) this.#flow?.pause()
    this.watch()
  }

  /** The client has taken what waited. */
  drained(): void {
    if (!this.#blocked) return
    this.#blocked = false
    this.#stall?.stop()
    this.#flow?.resume()
  }

  /** Bytes wait for the client: it has to take them in time. */
  watch(): void {
    const { stalls } = this.#connection.serving
    if (stalls === null || this.#over) return
    this.#stall ??= new Stall(
      stalls,
      () => this.#connection.output.waiting,
      error => this.#stalled(error),
    )
    this.#stall.start()
  }

  #stalled(error: ProxyError): void {
    if (this.#over) return
    this.#error = error
    this.#connection.cut()
  }

  /** The connection has to end with this answer. */
  #isLast(): boolean {
    const connection = this.#connection
    const { draining } = connection.serving
    if (this.#last || (draining && connection.isNewest(this))) return true
    const { body } = this
    if (body === null || body.ended) return false
    // An upload goes on behind an answer that does not want it; one that was not asked for may or may not come.
    return draining || body.unasked || body.length === null || body.length > DRAINED_BYTES
  }

  #unsendable(reply: Reply, cause: unknown): void {
    discardBody(reply.body, gone('reply-head'))
    if (reply.error) return this.fail(reply.error)
    const error = new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'bad-reply', cause })
    this.#error = error
    this.#send(failureReply(error))
  }

  allowSlowBody(): void {
    this.body?.unwatch()
  }

  /** The exchange ends now: with an answer where none has begun. */
  cut(error: ProxyError): void {
    if (this.#over || this.#written) return
    if (this.#begun) return this.fail(error)
    if (this.#reply !== null) discardBody(this.#reply.body, error)
    this.#error = error
    this.#last = true
    this.#send(failureReply(error))
  }

  /** What came instead of the rest of the request's body is no body. */
  breakBody(error: ProxyError): void {
    this.#last = true
    this.body?.gone(error)
  }

  flushed(): void {
    if (this.#over) return
    this.#over = true
    this.#stall?.stop()
    this.#exchange.done(this.#reply!.status, this.#bytesSent, this.#error)
    this.#connection.done(this)
  }

  /** The connection is gone. */
  closed(): void {
    if (this.#over) return
    this.#over = true
    this.#stall?.stop()
    const reply = this.#reply
    const error = this.#error ?? gone(reply ? 'reply-body' : 'reply-head')
    this.body?.gone(error)
    this.#exchange.abort(error)
    if (this.#flow !== null) this.#flow.cancel(error)
    else if (reply !== null && !this.#written) discardBody(reply.body, error)
    this.#exchange.done(reply !== null && this.#begun ? reply.status : error.status, this.#bytesSent, error)
  }
}

/** Bytes of a body that is whole, or {@link PUSHED}. */
function lengthOf(body: Reply['body']): number {
  if (body === null) return 0
  return body instanceof Uint8Array || body instanceof KeptBody ? body.length : PUSHED
}

function areLegal(fields: HeaderList): boolean {
  for (const [name, value] of fields) {
    if (typeof name !== 'string' || typeof value !== 'string') return false
    if (!isFieldName(name) || !isFieldValue(value)) return false
  }
  return true
}
