/** Extended CONNECT (RFC 8441): a stream of HTTP/2 that becomes a tunnel or an answer. */
import { constants, type ServerHttp2Stream } from 'node:http2'
import { ProxyError } from '../../errors.ts'
import type { HeaderList } from '../../headers/list.ts'
import type { ClientLink, OpenExchange, Reply, Tunnel } from '../../pipeline/contract.ts'
import { failureReply } from '../../reply.ts'
import { DuplexEnd } from '../../upgrade/duplex.ts'
import { assertInterim, discardBody, gone } from '../fit-reply.ts'
import { fieldsOf } from './fields2.ts'
import { Http2Link } from './link2.ts'
import { RequestBody } from './request-body.ts'
import type { Serving } from './serving.ts'
import type { StreamSet } from './stream-set.ts'
import { answered, thrown, tunnelOf } from './upgrade1.ts'

/** Made with the stream, over with the tunnel or when the answer has another link. */
export class ConnectLink implements ClientLink {
  readonly #serving: Serving
  readonly #stream: ServerHttp2Stream
  readonly #links: StreamSet
  #exchange!: OpenExchange
  #near: DuplexEnd | null = null
  /** Has the exchange, once it is no tunnel. */
  #answering: Http2Link | null = null
  #over = false

  constructor(serving: Serving, stream: ServerHttp2Stream, links: StreamSet) {
    this.#serving = serving
    this.#stream = stream
    this.#links = links
  }

  get draining(): boolean {
    return this.#serving.draining
  }

  get bytesReceived(): number {
    return this.#near?.received ?? 0
  }

  begin(exchange: OpenExchange): void {
    this.#exchange = exchange
    this.#links.add(this)
    this.#stream.on('error', () => {})
    this.#stream.on('close', () => this.closed())
    const fail = (cause: unknown): void => this.#answer(() => thrown(cause))
    try {
      const reply = exchange.run()
      if (reply instanceof Promise) reply.then(made => this.#send(made)).catch(fail)
      else this.#send(reply)
    } catch (cause) {
      fail(cause)
    }
  }

  inform(status: number, headers: HeaderList): void {
    assertInterim(status, headers)
    const stream = this.#stream
    if (this.#over || stream.headersSent || stream.destroyed || stream.closed) return
    stream.additionalHeaders({ ...fieldsOf(headers), ':status': status })
  }

  closed(): void {
    if (this.#over) return
    this.#over = true
    this.#links.delete(this)
    const near = this.#near
    if (near) {
      this.#serving.tunnels.delete(near.feeder!)
      this.#exchange.done(200, near.sent, near.error)
      return
    }
    const error = gone('reply-head')
    this.#exchange.abort(error)
    this.#links.onCancelled?.()
    this.#exchange.done(error.status, 0, error)
  }

  cut(error: ProxyError): void {
    if (this.#answering !== null) this.#answering.cut(error)
    else if (this.#near === null) this.#answer(() => failureReply(error))
    else this.#near.feeder?.cancel(error)
  }

  #send(reply: Reply): void {
    const stream = this.#stream
    if (this.#over || stream.destroyed || stream.closed) return discardBody(reply.body, gone('reply-body'))
    const tunnel = tunnelOf(reply)
    if (tunnel) this.#join(reply, tunnel)
    // Any 2xx would say that the tunnel is open (RFC 9110, 9.3.6).
    else if (reply?.status >= 200 && reply.status < 300) {
      discardBody(reply.body, gone('reply-body'))
      const error = new ProxyError({ source: 'client', phase: 'head', code: 'not-implemented' })
      this.#answer(() => failureReply(error))
    } else this.#answer(() => reply)
  }

  #join(reply: Reply, tunnel: Tunnel): void {
    const stream = this.#stream
    const { headers } = reply
    // The proof of a key that was never sent.
    headers.delete('sec-websocket-accept')
    try {
      // Node ends a stream before it resets it: only one that waits for trailers does not look whole then.
      stream.respond({ ...fieldsOf(headers), ':status': 200 }, { endStream: false, waitForTrailers: true })
    } catch (cause) {
      const error = new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'bad-reply', cause })
      discardBody(tunnel, error)
      if (stream.headersSent) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
      else this.#answer(() => failureReply(error))
      return
    }
    const near = new DuplexEnd(stream, 'client')
    this.#near = near
    near.feeder = tunnel.splice(near, near)
    this.#serving.tunnels.add(near.feeder)
  }

  #answer(reply: () => Reply): void {
    if (this.#over) return
    this.#over = true
    this.#links.delete(this)
    const stream = this.#stream
    // What the client sends into a tunnel that is none is read off for a while, like an upload that nobody wants.
    const body = stream.readableEnded ? null : new RequestBody(stream, null)
    this.#answering = new Http2Link(this.#serving, stream, 'GET', body, this.#links)
    this.#answering.begin(answered(this.#exchange, reply))
  }
}
