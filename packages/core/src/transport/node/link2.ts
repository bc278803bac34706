/** One exchange of HTTP/2: the client's side of it, and the sink for the reply's body. */

import { constants, type ServerHttp2Stream } from 'node:http2'
import { KeptBody } from '../../body/kept.ts'
import { isSource } from '../../body/transform.ts'
import { ProxyError } from '../../errors.ts'
import type { HeaderList } from '../../headers/list.ts'
import type { ClientLink, Flow, OpenExchange, Reply, Sink, Source } from '../../pipeline/contract.ts'
import { failureReply } from '../../reply.ts'
import { announcedLength, assertInterim, discardBody, fitReply, gone, wrongLength } from '../fit-reply.ts'
import { type Answering, runExchange } from '../run-exchange.ts'
import { fieldsOf } from './fields2.ts'
import { piecesOf } from './pieces.ts'
import type { RequestBody } from './request-body.ts'
import type { Serving } from './serving.ts'
import { Stall } from './stall.ts'
import type { StreamSet } from './stream-set.ts'

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } = constants

/** Behind a whole answer, this much of an upload is read off, for this long, before the client is told to stop. */
const UNREAD_BYTES = 65_536
const UNREAD_MS = 2000

/** From here on a body is written in pieces. */
const PIECES_BYTES = 131_072

/** Made with the stream, over when its answer is out or the client has gone. */
export class Http2Link implements ClientLink, Sink, Answering {
  readonly readsOnly = true
  readonly #serving: Serving
  readonly #stream: ServerHttp2Stream
  readonly #method: string
  readonly #body: RequestBody | null
  /** All exchanges of the session. */
  readonly #links: StreamSet
  #exchange!: OpenExchange
  #reply: Reply | null = null
  #flow: Flow | null = null
  #bytesSent = 0
  /** What the head says of a body that is pushed. */
  #length: number | null = null
  #error: ProxyError | null = null
  #trailers: HeaderList | null = null
  #blocked = false
  #stall: Stall | null = null
  #unread: NodeJS.Timeout | null = null
  /** All of the reply has been handed to the stream. */
  #ended = false
  /** All of the reply has been taken from the stream. */
  #whole = false
  #over = false

  constructor(
    serving: Serving,
    stream: ServerHttp2Stream,
    method: string,
    body: RequestBody | null,
    links: StreamSet,
  ) {
    this.#serving = serving
    this.#stream = stream
    this.#method = method
    this.#body = body
    this.#links = links
  }

  get draining(): boolean {
    return this.#serving.draining
  }

  get bytesReceived(): number {
    return this.#body?.bytesReceived ?? 0
  }

  inform(status: number, headers: HeaderList): void {
    assertInterim(status, headers)
    const stream = this.#stream
    if (this.#over || stream.headersSent || stream.destroyed || stream.closed) return
    stream.additionalHeaders({ ...fieldsOf(headers), ':status': status })
  }

  begin(exchange: OpenExchange): void {
    this.#exchange = exchange
    const stream = this.#stream
    this.#links.add(this)
    // Node reports a reset as an error event too; 'close' tells all that is needed.
    stream.on('error', () => {})
    stream.on('finish', () => this.#finished())
    stream.on('close', () => this.closed())
    // A stream that is cut while its upload is paused does not close before that has been read.
    stream.on('aborted', () => this.closed())
    // The host of a (req, res) function may have answered already.
    if (stream.closed || stream.headersSent) return this.closed()
    runExchange(exchange, this)
  }

  answer(reply: Reply, error: ProxyError | null): void {
    if (error !== null) this.#error = error
    this.#send(reply)
  }

  #send(given: Reply): void {
    try {
      this.#trySend(given)
    } catch (cause) {
      // A source that throws when it is started: it must not look whole, nor end the process.
      this.fail(new ProxyError({ source: 'proxy', phase: 'reply-body', code: 'internal', cause }))
    }
  }

  #trySend(given: Reply): void {
    const stream = this.#stream
    if (this.#over || stream.destroyed || stream.closed || stream.headersSent) {
      return discardBody(given.body, gone('reply-body'))
    }
    const reply = fitReply(given, this.#method)
    if (reply !== given) this.#error ??= reply.error ?? null
    this.#reply = reply
    this.#body?.unwatch()
    const body = reply.body instanceof KeptBody ? reply.body.bytes : reply.body
    const empty = body === null || this.#method === 'HEAD'
    try {
      stream.respond(
        { ...fieldsOf(reply.headers), ':status': reply.status },
        { endStream: empty, waitForTrailers: !empty },
      )
    } catch (cause) {
      return this.#unsendable(reply, cause)
    }
    this.#ended = empty
    if (empty) return discardBody(body, gone('reply-body'))
    // The compatibility API's response, which the host may have made, would send its own.
    stream.removeAllListeners('wantTrailers')
    stream.on('wantTrailers', () => this.#sendTrailers())
    if (body instanceof Uint8Array) {
      if (body.length > PIECES_BYTES) return this.#sendSource(piecesOf(body))
      this.#bytesSent = body.length
      this.#ended = true
      stream.end(body)
      this.#watch()
    } else if (isSource(body)) this.#sendSource(body)
    else stream.close(NGHTTP2_INTERNAL_ERROR)
  }

  #sendSource(source: Source): void {
    this.#length = announcedLength(this.#reply!.headers)
    this.#flow = source.start(this)
    if (this.#blocked) this.#flow.pause()
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over || this.#ended) return false
    this.#bytesSent += bytes.length
    if (this.#length !== null && !(this.#bytesSent <= this.#length)) {
      this.#bytesSent -= bytes.length
      this.#wrongLength()
      return false
    }
    if (this.#stream.write(bytes)) return true
    if (!this.#blocked) {
      this.#blocked = true
      this.#flow?.pause()
      this.#watch()
      this.#stream.once('drain', () => {
        this.#blocked = false
        this.#stall?.stop()
        this.#flow?.resume()
      })
    }
    return false
  }

  #sendTrailers(): void {
    try {
      this.#stream.sendTrailers(this.#trailers ? fieldsOf(this.#trailers) : {})
    } catch (cause) {
      // Fields that node:http2 does not send: without them the reply would look whole.
      this.#whole = false
      this.fail(new ProxyError({ source: 'upstream', phase: 'reply-body', code: 'bad-reply', cause }))
    }
  }

  end(trailers?: HeaderList): void {
    if (this.#over || this.#ended) return
    if (this.#length !== null && this.#bytesSent !== this.#length) return this.#wrongLength()
    this.#trailers = trailers ?? null
    this.#ended = true
    this.#stream.end()
    this.#watch()
  }

  #wrongLength(): void {
    const error = wrongLength()
    this.fail(error)
    this.#flow?.cancel(error)
  }

  /** A broken reply ends in a reset, never in END_STREAM (RFC 9113, 8.1.1). */
  fail(error: ProxyError): void {
    if (this.#over) return
    this.#error = error
    this.#stream.close(NGHTTP2_INTERNAL_ERROR)
  }

  allowSlowBody(): void {
    this.#body?.unwatch()
  }

  cut(error: ProxyError): void {
    if (this.#over) return
    if (this.#reply !== null) return this.fail(error)
    this.#error = error
    this.#send(failureReply(error))
  }

  #watch(): void {
    const { stalls } = this.#serving
    if (stalls === null) return
    this.#stall ??= new Stall(
      stalls,
      () => this.#stream.writableLength,
      error => this.#cut(error),
    )
    this.#stall.start()
  }

  /** The client takes nothing: it will not take a reset frame either, so the stream ends here at once. */
  #cut(error: ProxyError): void {
    this.#error = error
    this.#stream.close(NGHTTP2_CANCEL)
    this.#stream.destroy()
  }

  #finished(): void {
    const stream = this.#stream
    this.#stall?.stop()
    // Node says 'finish' for a stream that the client has cut, too.
    this.#whole = this.#ended && stream.rstCode === NGHTTP2_NO_ERROR
    if (!this.#body || this.#body.ended || stream.destroyed) return
    // The answer is out; an upload that nobody wants is told to stop (RFC 9113, 8.1). Some clients lose an answer
    // that a reset follows too closely, and what is left may be little: first it is read off for a while.
    const stop = (): void => stream.close(NGHTTP2_NO_ERROR)
    this.#unread = setTimeout(stop, UNREAD_MS).unref()
    this.#body.discard(UNREAD_BYTES, stop)
  }

  #unsendable(reply: Reply, cause: unknown): void {
    discardBody(reply.body, gone('reply-head'))
    if (reply.error || this.#stream.headersSent) {
      this.fail(reply.error ?? gone('reply-head'))
      return
    }
    const error = new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'bad-reply', cause })
    this.#error = error
    this.#send(failureReply(error))
  }

  /** The stream is over, or its session. */
  closed(): void {
    if (this.#over) return
    this.#over = true
    this.#links.delete(this)
    this.#stall?.stop()
    if (this.#unread) clearTimeout(this.#unread)
    const status = this.#reply?.status ?? 499
    if (this.#reply && this.#whole) {
      this.#exchange.done(status, this.#bytesSent, this.#error)
      return
    }
    const error = this.#error ?? gone(this.#reply ? 'reply-body' : 'reply-head')
    this.#body?.gone(error)
    this.#exchange.abort(error)
    this.#flow?.cancel(error)
    if (error.source === 'client') this.#links.onCancelled?.()
    this.#exchange.done(this.#stream.headersSent ? status : error.status, this.#bytesSent, error)
  }
}
