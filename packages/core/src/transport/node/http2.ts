/** HTTP/2 over node:http2's stream API (RFC 9113). */
import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { isSource } from '../../body/transform.ts'
import { ProxyError } from '../../errors.ts'
import { judgeHead, makePeer } from '../../headers/head.ts'
import { HeaderList } from '../../headers/list.ts'
import { CONNECTION, HOP_BY_HOP, kindOf, TRANSFER_ENCODING, UPGRADE } from '../../headers/names.ts'
import type { ClientLink, Flow, OpenExchange, Peer, Reply, Sink } from '../../pipeline/contract.ts'
import { bugReply, failureReply } from '../../reply.ts'
import type { Serving } from './http1.ts'
import { RequestBody } from './request-body.ts'

const PEER = Symbol('peer')
const { NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } = constants

/** Answers one stream of an HTTP/2 session with an app. */
export function serveHttp2(
  serving: Serving,
  stream: ServerHttp2Stream,
  pseudo: IncomingHttpHeaders,
  raw: readonly string[],
): void {
  const { session } = stream
  if (!session || stream.destroyed) return
  const socket = session.socket as unknown as Parameters<typeof makePeer>[0] & { [PEER]?: Peer }
  const owner = session as unknown as { [PEER]?: Peer }
  const peer = (owner[PEER] ??= makePeer(socket))
  const headers = new HeaderList(raw.slice(2 * pseudoCount(raw)))
  const { head, fault } = judgeHead(
    {
      method: pseudo[':method'] ?? '',
      target: pseudo[':path'] ?? (pseudo[':method'] === 'CONNECT' ? '*' : ''),
      version: '2.0',
      headers,
      peer,
      authority: pseudo[':authority'],
      protocol: pseudo[':protocol'] as string | undefined,
    },
    serving.app.trusts,
  )
  const body =
    stream.readableEnded || stream.endAfterHeaders ? null : new RequestBody(stream, lengthOf(headers))
  // Where the body looks for them when it has ended, as with node:http.
  if (body) stream.once('trailers', (...[, , raw]: unknown[]) => Object.assign(stream, { rawTrailers: raw }))
  const link = new Http2Link(serving, stream, head.method, body)
  link.begin(serving.app.open(head, body, link, fault))
}

class Http2Link implements ClientLink, Sink {
  readonly #serving: Serving
  readonly #stream: ServerHttp2Stream
  readonly #method: string
  readonly #body: RequestBody | null
  #exchange!: OpenExchange
  #reply: Reply | null = null
  #flow: Flow | null = null
  #bytesSent = 0
  #error: ProxyError | null = null
  #trailers: HeaderList | null = null
  #blocked = false
  #finished = false
  /** All of the reply has been handed to the stream. */
  #ended = false

  constructor(serving: Serving, stream: ServerHttp2Stream, method: string, body: RequestBody | null) {
    this.#serving = serving
    this.#stream = stream
    this.#method = method
    this.#body = body
  }

  get draining(): boolean {
    return this.#serving.draining
  }

  get bytesReceived(): number {
    return this.#body?.bytesReceived ?? 0
  }

  inform(status: number, headers: HeaderList): void {
    const stream = this.#stream
    if (stream.headersSent || stream.destroyed || status === 101) return
    stream.additionalHeaders({ ...fieldsOf(headers), ':status': status })
  }

  begin(exchange: OpenExchange): void {
    this.#exchange = exchange
    const stream = this.#stream
    // Node reports a reset as an error event too; 'close' tells all that is needed.
    stream.on('error', () => {})
    stream.on('finish', () => {
      this.#finished = true
      // The answer is out; an upload that nobody wants is told to stop (RFC 9113, 8.1).
      if (this.#body && !this.#body.ended) stream.close(NGHTTP2_NO_ERROR)
    })
    stream.on('close', () => this.#closed())
    const reply = exchange.run()
    if (reply instanceof Promise) {
      reply.then(
        made => this.#send(made),
        cause => this.#send(bugReply(cause)),
      )
    } else this.#send(reply)
  }

  #send(reply: Reply): void {
    const stream = this.#stream
    this.#reply = reply
    const { body } = reply
    if (stream.destroyed || stream.closed) {
      if (isSource(body)) body.start(NOWHERE).cancel(gone('reply-body'))
      return
    }
    const empty = body === null || this.#method === 'HEAD'
    try {
      stream.respond(
        { ...fieldsOf(reply.headers), ':status': reply.status },
        { endStream: empty, waitForTrailers: !empty },
      )
    } catch (cause) {
      return this.#unsendable(reply, cause)
    }
    this.#ended = empty || body instanceof Uint8Array
    if (empty) {
      if (isSource(body)) body.start(NOWHERE).cancel(gone('reply-body'))
      return
    }
    // The compatibility API's response, which the host may have made, would send its own.
    stream.removeAllListeners('wantTrailers')
    stream.on('wantTrailers', () => this.#sendTrailers())
    if (body instanceof Uint8Array) {
      this.#bytesSent = body.length
      stream.end(body)
    } else if (isSource(body)) {
      this.#flow = body.start(this)
      if (this.#blocked) this.#flow.pause()
    } else stream.close(NGHTTP2_INTERNAL_ERROR)
  }

  write(bytes: Uint8Array): boolean {
    this.#bytesSent += bytes.length
    if (this.#stream.write(bytes)) return true
    if (!this.#blocked) {
      this.#blocked = true
      this.#flow?.pause()
      this.#stream.once('drain', () => {
        this.#blocked = false
        this.#flow?.resume()
      })
    }
    return false
  }

  #sendTrailers(): void {
    try {
      this.#stream.sendTrailers(this.#trailers ? fieldsOf(this.#trailers) : {})
    } catch {
      // Fields that node:http2 does not send: without them the reply would look whole.
      this.#stream.close(NGHTTP2_INTERNAL_ERROR)
    }
  }

  end(trailers?: HeaderList): void {
    this.#trailers = trailers ?? null
    this.#ended = true
    this.#stream.end()
  }

  /** A broken reply ends in a reset, never in END_STREAM (RFC 9113, 8.1.1). */
  fail(error: ProxyError): void {
    this.#error = error
    this.#stream.close(NGHTTP2_INTERNAL_ERROR)
  }

  #unsendable(reply: Reply, cause: unknown): void {
    if (isSource(reply.body)) reply.body.start(NOWHERE).cancel(gone('reply-head'))
    if (reply.error || this.#stream.headersSent) {
      this.fail(reply.error ?? gone('reply-head'))
      return
    }
    const error = new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'bad-reply', cause })
    this.#error = error
    this.#send(failureReply(error))
  }

  #closed(): void {
    const { rstCode, headersSent } = this.#stream
    const status = this.#reply?.status ?? 499
    // Node says 'finish' for a stream that the client has cut, too.
    const whole = this.#ended && this.#finished && rstCode === NGHTTP2_NO_ERROR
    if (this.#reply && !this.#error && whole) {
      this.#exchange.done(status, this.#bytesSent, null)
      return
    }
    const error = this.#error ?? gone(this.#reply ? 'reply-body' : 'reply-head')
    this.#body?.gone(error)
    this.#exchange.abort(error)
    this.#flow?.cancel(error)
    this.#exchange.done(headersSent ? status : error.status, this.#bytesSent, error)
  }
}

const NOWHERE: Sink = { write: () => true, end() {}, fail() {} }

function gone(phase: 'reply-head' | 'reply-body'): ProxyError {
  return new ProxyError({ source: 'client', phase, code: 'client-closed' })
}

function pseudoCount(raw: readonly string[]): number {
  let count = 0
  while (raw[2 * count]?.startsWith(':')) count++
  return count
}

/** Fields as node:http2 wants them: lower case, duplicates as arrays, none that belongs to a connection (8.2.2). */
function fieldsOf(headers: HeaderList): OutgoingHttpHeaders {
  const fields: Record<string, string | string[]> = Object.create(null)
  const { raw } = headers
  for (let i = 0; i < raw.length; i += 2) {
    const kind = kindOf(raw[i]!)
    if (kind === CONNECTION || kind === HOP_BY_HOP || kind === TRANSFER_ENCODING || kind === UPGRADE) continue
    const name = raw[i]!.toLowerCase()
    const value = raw[i + 1]!
    const before = fields[name]
    if (before === undefined) fields[name] = value
    else if (typeof before === 'string') fields[name] = [before, value]
    else before.push(value)
  }
  return fields
}

function lengthOf(headers: HeaderList): number | null {
  const length = headers.get('content-length')
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : null
}
