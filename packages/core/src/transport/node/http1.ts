/** HTTP/1.x over node:http: one request in, one reply out. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { latin1 } from '../../body/latin1.ts'
import { isSource } from '../../body/transform.ts'
import { ProxyError } from '../../errors.ts'
import { judgeHead, makePeer } from '../../headers/head.ts'
import { HeaderList } from '../../headers/list.ts'
import type {
  App,
  ClientLink,
  Flow,
  OpenExchange,
  Peer,
  Reply,
  Sink,
  Source,
} from '../../pipeline/contract.ts'
import { bugReply, failureReply } from '../../reply.ts'
import { lingerOnClose } from './linger.ts'
import { RequestBody } from './request-body.ts'

/** What a served connection shares with its server. */
export interface Serving {
  readonly app: App
  readonly draining: boolean
}

const PEER = Symbol('peer')
/** Set once a head was refused: what follows it on the connection is not read as a request. */
const REFUSED = Symbol('refused')

/** A body that nobody read and that is at most this long is read off, so that the connection lives on. */
const DRAINED_BYTES = 65_536

/** Up to here, copying a body is cheaper than a second buffer in the system call. */
const ONE_WRITE_BYTES = 16_384

/** Answers one request of a node:http server with an app. `given` replaces a body that was read before. */
export function serveHttp1(
  serving: Serving,
  req: IncomingMessage,
  res: ServerResponse,
  expectsContinue = false,
  target: string = req.url ?? '/',
  given: Source | null = null,
): void {
  const socket = req.socket as Socket & { [PEER]?: Peer; [REFUSED]?: boolean }
  if (socket[REFUSED]) return
  const peer = (socket[PEER] ??= makePeer(socket))
  const headers = new HeaderList(req.rawHeaders)
  const { head, fault, hasBody } = judgeHead(
    {
      method: req.method ?? 'GET',
      target,
      version: req.httpVersionMinor === 0 ? '1.0' : '1.1',
      headers,
      peer,
    },
    serving.app.trusts,
  )
  let body: RequestBody | null = null
  if (hasBody && given === null) {
    body = new RequestBody(req, lengthOf(headers), expectsContinue ? () => res.writeContinue() : null)
  }
  if (fault) socket[REFUSED] = true
  const link = new Http1Link(serving, res, body, fault !== null)
  link.begin(serving.app.open(head, given ?? body, link, fault))
}

/** One exchange on a connection; also the sink for the reply's body. */
class Http1Link implements ClientLink, Sink {
  readonly #serving: Serving
  readonly #res: ServerResponse
  readonly #body: RequestBody | null
  /** The connection ends with this reply. */
  readonly #last: boolean
  #exchange!: OpenExchange
  #reply: Reply | null = null
  #flow: Flow | null = null
  #bytesSent = 0
  #error: ProxyError | null = null
  // While the source starts, its first chunk and end are kept: a small reply is one write.
  #starting = false
  #first: Uint8Array | null = null
  #ended = false
  #blocked = false

  constructor(serving: Serving, res: ServerResponse, body: RequestBody | null, last: boolean) {
    this.#serving = serving
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

  inform(status: number, headers: HeaderList): void {
    const res = this.#res
    // HTTP/1.0 has no interim responses (RFC 9110, 15.2).
    if (res.headersSent || res.destroyed || res.req.httpVersionMinor === 0) return
    if (status === 102) res.writeProcessing()
    else if (status === 103) writeInterim(res, status, headers)
  }

  begin(exchange: OpenExchange): void {
    this.#exchange = exchange
    this.#res.on('close', () => this.#closed())
    const reply = exchange.run()
    if (reply instanceof Promise) {
      reply.then(
        made => this.#send(made),
        cause => this.#send(bugReply(cause)),
      )
    } else this.#send(reply)
  }

  #send(reply: Reply): void {
    const res = this.#res
    this.#reply = reply
    if (res.destroyed || res.closed) {
      // Nobody is there to read it; its source must know.
      if (isSource(reply.body)) reply.body.start(NOWHERE).cancel(gone('reply-body'))
      return
    }
    const body = this.#body
    if (body && !body.ended) this.#leaveUnread(body, reply)
    else if (this.#last || this.#serving.draining) reply.headers.set('Connection', 'close')
    try {
      res.writeHead(reply.status, reply.headers.raw)
    } catch (cause) {
      return this.#unsendable(reply, cause)
    }
    if (reply.body === null) res.end()
    else if (reply.body instanceof Uint8Array) this.#sendBytes(reply.body)
    else if (isSource(reply.body)) this.#sendSource(reply.body)
    else res.destroy()
  }

  #sendBytes(bytes: Uint8Array): void {
    if (this.#res.req.method !== 'HEAD') this.#bytesSent = bytes.length
    this.#endWith(bytes)
  }

  /**
   * Head and a small body as one latin1 string, flushed before `end()`: one plain write. As string and buffer, or with
   * the empty string that `end()` appends to what is not flushed yet, they would be a writev.
   */
  #endWith(bytes: Uint8Array): void {
    const res = this.#res
    const { socket } = res
    if (bytes.length > ONE_WRITE_BYTES) res.end(bytes)
    else if (socket === null || socket.writableCorked > 0 || res.chunkedEncoding)
      res.end(latin1(bytes), 'latin1')
    else {
      socket.cork()
      res.write(latin1(bytes), 'latin1')
      socket.uncork()
      res.end()
    }
  }

  #sendSource(source: Source): void {
    const res = this.#res
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
    this.#bytesSent += bytes.length
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
    if (trailers && this.#res.chunkedEncoding) {
      if (this.#starting) this.#writeFirst()
      this.#res.addTrailers(pairsOf(trailers))
    }
    if (this.#starting) this.#ended = true
    else this.#res.end()
  }

  /** The reply broke: the client must see that it is not whole (RFC 9112, 8). */
  fail(error: ProxyError): void {
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
    this.#res.once('drain', () => {
      this.#blocked = false
      this.#flow?.resume()
    })
  }

  /** The upload goes on behind an answer that does not want it. */
  #leaveUnread(body: RequestBody, reply: Reply): void {
    const short = body.length !== null && body.length <= DRAINED_BYTES
    if (short && !this.#last && !this.#serving.draining) return
    reply.headers.set('Connection', 'close')
    const { socket } = this.#res
    if (socket) lingerOnClose(socket)
  }

  #unsendable(reply: Reply, cause: unknown): void {
    if (isSource(reply.body)) reply.body.start(NOWHERE).cancel(gone('reply-head'))
    if (reply.error || this.#res.headersSent) {
      this.fail(reply.error ?? gone('reply-head'))
      return
    }
    const error = new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'bad-reply', cause })
    this.#error = error
    this.#send(failureReply(error))
  }

  #closed(): void {
    const res = this.#res
    if (res.writableFinished) {
      this.#exchange.done(this.#reply!.status, this.#bytesSent, this.#error)
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

const NOWHERE: Sink = { write: () => true, end() {}, fail() {} }

function gone(phase: 'reply-head' | 'reply-body'): ProxyError {
  return new ProxyError({ source: 'client', phase, code: 'client-closed' })
}

function lengthOf(headers: HeaderList): number | null {
  const length = headers.get('content-length')
  return length === undefined || headers.has('transfer-encoding') ? null : Number(length)
}

function pairsOf(trailers: HeaderList): [string, string][] {
  return [...trailers]
}

/** Node writes no interim response with arbitrary fields but 103 with `link`; this one writes any. */
function writeInterim(res: ServerResponse, status: number, headers: HeaderList): void {
  let head = `HTTP/1.1 ${status} ${status === 103 ? 'Early Hints' : 'Interim'}\r\n`
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`
  ;(res as unknown as { _writeRaw(data: string, encoding: string): void })._writeRaw(`${head}\r\n`, 'latin1')
}
