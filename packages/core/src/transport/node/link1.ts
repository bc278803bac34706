/** One exchange of HTTP/1.x: the client's side of it, and the sink for the reply's body. */

import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { KeptBody } from '../../body/kept.ts'
import { latin1 } from '../../body/latin1.ts'
import { isSource } from '../../body/transform.ts'
import { ProxyError } from '../../errors.ts'
import type { HeaderList } from '../../headers/list.ts'
import type { ClientLink, Flow, OpenExchange, Reply, Sink, Source } from '../../pipeline/contract.ts'
import { failureReply } from '../../reply.ts'
import { announcedLength, assertInterim, discardBody, fitReply, gone, wrongLength } from '../fit-reply.ts'
import { type Answering, runExchange } from '../run-exchange.ts'
import type { Connection1, Link1 } from './connection1.ts'
import { replyFields, toldOfConnection } from './fields1.ts'
import { lingerOnClose } from './linger.ts'
import { piecesOf } from './pieces.ts'
import { sendPrepared } from './prepared1.ts'
import type { RequestBody } from './request-body.ts'
import type { Serving } from './serving.ts'
import { Stall } from './stall.ts'

/** A body that nobody read and that is at most this long is read off, so that the connection lives on. */
const DRAINED_BYTES = 65_536

/** Up to here, copying a body is cheaper than a second buffer in the system call. */
const ONE_WRITE_BYTES = 16_384

/** From here on a body is written in pieces. */
const PIECES_BYTES = 131_072

/** Made with the request, over when its answer is out or the client has gone. */
export class Http1Link implements ClientLink, Sink, Link1, Answering {
  readonly readsOnly = true
  readonly #serving: Serving
  readonly #connection: Connection1
  readonly #res: ServerResponse
  readonly #body: RequestBody | null
  /** No request can follow. */
  #last: boolean
  #exchange!: OpenExchange
  #reply: Reply | null = null
  #flow: Flow | null = null
  #bytesSent = 0
  /** What the head says of a body that is pushed. */
  #length: number | null = null
  #error: ProxyError | null = null
  // While the source starts, its first chunk and end are kept: a small reply is one write.
  #starting = false
  #first: Uint8Array | null = null
  #ended = false
  #blocked = false
  #stall: Stall | null = null
  #over = false
  /** The head says `Connection: close`. */
  #closing = false

  constructor(
    serving: Serving,
    connection: Connection1,
    res: ServerResponse,
    body: RequestBody | null,
    last: boolean,
  ) {
    this.#serving = serving
    this.#connection = connection
    this.#res = res
    this.#body = body
    this.#last = last
  }

  get draining(): boolean {
    return this.#serving.draining
  }

  get bytesReceived(): number {
    return this.#body?.bytesReceived ?? 0
  }

  get complete(): boolean {
    return this.#res.req.complete
  }

  inform(status: number, headers: HeaderList): void {
    assertInterim(status, headers)
    const res = this.#res
    // HTTP/1.0 has no interim responses (RFC 9110, 15.2). Behind another answer node:http would put the final head
    // in front of what waits: those are left out.
    if (this.#over || res.headersSent || res.socket === null || res.req.httpVersionMinor === 0) return
    if (status === 100 && headers.size === 0) res.writeContinue()
    else writeInterim(res, status, headers)
  }

  begin(exchange: OpenExchange): void {
    this.#exchange = exchange
    const res = this.#res
    // The host of a (req, res) function may have answered already: no event would come any more.
    if (res.writableEnded || res.destroyed || res.closed) return this.closed()
    res.on('close', () => this.closed())
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
    const res = this.#res
    if (this.#over || res.destroyed || res.closed || res.writableEnded) {
      // Nobody is there to read it; its source must know.
      return discardBody(given.body, gone('reply-body'))
    }
    if (given.prepared !== undefined && this.#sendPrepared(given)) return this.#watchEnd()
    const reply = fitReply(given, res.req.method ?? '')
    if (reply !== given) this.#error ??= reply.error ?? null
    this.#reply = reply
    this.#body?.unwatch()
    const { raw } = reply.headers
    // Node writes the field by itself, unless it is given one: that of a 426.
    const named = reply.status === 426 && !res.shouldKeepAlive
    const told = toldOfConnection(raw)
    if (this.#isLast() || named || told === 'close') {
      this.#closing = true
      lingerOnClose(res.req.socket)
    }
    try {
      res.writeHead(reply.status, replyFields(reply.status, raw, told, this.#closing))
    } catch (cause) {
      return this.#unsendable(reply, cause)
    }
    if (reply.body === null) res.end()
    else if (reply.body instanceof Uint8Array) this.#sendBytes(reply.body)
    else if (reply.body instanceof KeptBody) this.#sendKept(reply.body)
    else if (isSource(reply.body)) this.#sendSource(reply.body)
    else res.destroy()
    if (res.writableEnded) this.#watchEnd()
  }

  /** A kept answer in one write. False: it goes the plain way. */
  #sendPrepared(reply: Reply): boolean {
    const { prepared, body, status } = reply
    const res = this.#res
    if (!(body instanceof KeptBody) || body.length > ONE_WRITE_BYTES || body.length === 0) return false
    if (status !== 200 || res.req.method !== 'GET' || this.#body !== null || this.#isLast()) return false
    if (!sendPrepared(res, reply, prepared!, body.text)) return false
    this.#reply = reply
    this.#bytesSent = body.length
    return true
  }

  #sendKept(body: KeptBody): void {
    if (body.length > ONE_WRITE_BYTES || this.#res.req.method === 'HEAD') return this.#sendBytes(body.bytes)
    this.#bytesSent = body.length
    this.#endWithText(body.text)
  }

  #sendBytes(bytes: Uint8Array): void {
    const isHead = this.#res.req.method === 'HEAD'
    if (bytes.length > PIECES_BYTES && !isHead) return this.#sendSource(piecesOf(bytes))
    if (!isHead) this.#bytesSent = bytes.length
    this.#endWith(bytes)
  }

  /**
   * Head and a small body as one latin1 string, flushed before `end()`: one plain write. As string and buffer, or with
   * the empty string that `end()` appends to what is not flushed yet, they would be a writev.
   */
  #endWith(bytes: Uint8Array): void {
    if (bytes.length > ONE_WRITE_BYTES) this.#res.end(bytes)
    else this.#endWithText(latin1(bytes))
  }

  #endWithText(text: string): void {
    const res = this.#res
    const { socket } = res
    if (socket === null || socket.writableCorked > 0 || res.chunkedEncoding) res.end(text, 'latin1')
    else {
      socket.cork()
      res.write(text, 'latin1')
      socket.uncork()
      res.end()
    }
  }

  #sendSource(source: Source): void {
    const res = this.#res
    if (res.req.method === 'HEAD') {
      discardBody(source, gone('reply-body'))
      res.end()
      return
    }
    this.#length = announcedLength(this.#reply!.headers)
    this.#starting = true
    this.#flow = source.start(this)
    this.#starting = false
    if (this.#error) return
    const first = this.#first
    this.#first = null
    if (this.#ended) {
      if (first) this.#endWith(first)
      else res.end()
    } else if (first) {
      if (!res.write(first)) this.#block()
    } else {
      // Not flushHeaders(): that would write bytes above 0x7f as UTF-8.
      res.write('', 'latin1')
    }
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over || this.#ended || this.#res.destroyed) return false
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
    if (this.#starting) this.#writeFirst()
    if (this.#res.write(bytes)) return true
    this.#block()
    return false
  }

  end(trailers?: HeaderList): void {
    if (this.#over || this.#ended || this.#res.destroyed) return
    if (this.#length !== null && this.#bytesSent !== this.#length) return this.#wrongLength()
    if (trailers && this.#res.chunkedEncoding) {
      if (this.#starting) this.#writeFirst()
      try {
        this.#res.addTrailers(pairsOf(trailers))
      } catch (cause) {
        return this.fail(
          new ProxyError({ source: 'upstream', phase: 'reply-body', code: 'bad-reply', cause }),
        )
      }
    }
    this.#ended = true
    if (this.#starting) return
    this.#res.end()
    this.#watchEnd()
  }

  #wrongLength(): void {
    const error = wrongLength()
    this.fail(error)
    this.#flow?.cancel(error)
  }

  /** The reply broke: the client must see that it is not whole (RFC 9112, 8). */
  fail(error: ProxyError): void {
    if (this.#over || this.#res.destroyed) return
    this.#error = error
    const { socket } = this.#res
    if (socket && !('encrypted' in socket)) (socket as Socket).resetAndDestroy()
    else this.#res.destroy()
  }

  #writeFirst(): void {
    if (this.#first === null) return
    const first = this.#first
    this.#first = null
    if (!this.#res.write(first)) this.#block()
  }

  #block(): void {
    if (this.#blocked) return
    this.#blocked = true
    if (!this.#starting) this.#flow?.pause()
    this.#watch()
    this.#res.once('drain', () => {
      this.#blocked = false
      this.#stall?.stop()
      this.#flow?.resume()
    })
  }

  /** The last bytes may wait for the client, too. */
  #watchEnd(): void {
    if (this.#res.writableLength > 0) this.#watch()
  }

  #watch(): void {
    const { stalls } = this.#serving
    if (stalls === null) return
    this.#stall ??= new Stall(
      stalls,
      () => (this.#res.socket === null ? null : this.#res.writableLength),
      error => this.fail(error),
    )
    this.#stall.start()
  }

  /** The connection has to end with this answer. */
  #isLast(): boolean {
    const { draining } = this.#serving
    if (this.#last || (draining && this.#connection.isNewest(this))) return true
    const body = this.#body
    if (body === null || body.ended) return false
    if (body.broken) return true
    // An upload goes on behind an answer that does not want it; one that was not asked for may or may not come.
    return draining || body.unasked || body.length === null || body.length > DRAINED_BYTES
  }

  #unsendable(reply: Reply, cause: unknown): void {
    discardBody(reply.body, gone('reply-head'))
    if (reply.error || this.#res.headersSent) {
      this.fail(reply.error ?? gone('reply-head'))
      return
    }
    const error = new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'bad-reply', cause })
    this.#error = error
    this.#send(failureReply(error))
  }

  allowSlowBody(): void {
    this.#body?.unwatch()
  }

  cut(error: ProxyError): void {
    if (this.#over) return
    if (this.#reply !== null) return this.fail(error)
    this.#error = error
    this.#last = true
    this.#send(failureReply(error))
  }

  breakBody(error: ProxyError): void {
    this.#last = true
    this.#body?.gone(error)
  }

  closed(): void {
    if (this.#over) return
    this.#over = true
    this.#stall?.stop()
    this.#finish()
    this.#connection.remove(this)
  }

  #finish(): void {
    const res = this.#res
    if (this.#reply && res.writableFinished) {
      this.#exchange.done(this.#reply.status, this.#bytesSent, this.#error)
      return
    }
    const error = this.#error ?? gone(this.#reply ? 'reply-body' : 'reply-head')
    this.#body?.gone(error)
    this.#exchange.abort(error)
    this.#flow?.cancel(error)
    this.#exchange.done(
      this.#reply && res.headersSent ? this.#reply.status : error.status,
      this.#bytesSent,
      error,
    )
  }
}

function pairsOf(trailers: HeaderList): [string, string][] {
  return [...trailers]
}

/** node:http writes no interim response with arbitrary fields but 103 with `link`; this one writes any that was checked. */
function writeInterim(res: ServerResponse, status: number, headers: HeaderList): void {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Interim'}\r\n`
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`
  ;(res as unknown as { _writeRaw(data: string, encoding: string): void })._writeRaw(`${head}\r\n`, 'latin1')
}
