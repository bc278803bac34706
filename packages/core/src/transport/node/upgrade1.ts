/** Upgrades of HTTP/1.1: a request that leaves node:http with its socket, and becomes a tunnel or an answer. */
import { type IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ProxyError } from '../../errors.ts'
import { judgeHead } from '../../headers/head.ts'
import { HeaderList, isFieldName, isFieldValue } from '../../headers/list.ts'
import type { ClientLink, OpenExchange, Reply, Tunnel } from '../../pipeline/contract.ts'
import { failureReply } from '../../reply.ts'
import { mayUpgrade } from '../../upgrade/candidate.ts'
import { DuplexEnd } from '../../upgrade/duplex.ts'
import { switchingFields } from '../../upgrade/websocket.ts'
import { assertInterim, discardBody, gone } from '../fit-reply.ts'
import { type Connection1, connectionOf, type Link1 } from './connection1.ts'
import { lingerOnClose } from './linger.ts'
import { Http1Link } from './link1.ts'
import type { Serving } from './serving.ts'

/** Bytes that a client may send before its upgrade is answered; more wait in the socket. */
const EARLY_BYTES = 65_536

/** Answers one `upgrade` event. `first` is what came behind the head. */
export function serveUpgrade(serving: Serving, req: IncomingMessage, socket: Socket, first: Buffer): void {
  socket.on('error', () => {})
  // Keep-alive of requests before this one.
  socket.setTimeout(0)
  const connection = connectionOf(socket)
  if (connection.refused || socket.destroyed) {
    socket.destroy()
    return
  }
  // Nothing on this connection is a request any more.
  connection.refused = true
  const begin = (): void => new UpgradeLink(serving, connection, req, socket, first).begin()
  // Behind requests that were pipelined, it waits for their answers.
  if (connection.busy) connection.farewell = begin
  else begin()
}

class UpgradeLink implements ClientLink, Link1 {
  readonly complete = true
  readonly #serving: Serving
  readonly #connection: Connection1
  readonly #req: IncomingMessage
  readonly #socket: Socket
  readonly #hold: (bytes: Buffer) => void
  readonly #leave: () => void
  #early: Buffer[]
  #earlyBytes = 0
  #exchange!: OpenExchange
  #near: DuplexEnd | null = null
  /** Has the exchange, once it is no tunnel. */
  #answering: Http1Link | null = null
  #over = false

  constructor(
    serving: Serving,
    connection: Connection1,
    req: IncomingMessage,
    socket: Socket,
    first: Buffer,
  ) {
    this.#serving = serving
    this.#connection = connection
    this.#req = req
    this.#socket = socket
    this.#early = first.length > 0 ? [first] : []
    this.#hold = bytes => {
      this.#early.push(bytes)
      this.#earlyBytes += bytes.length
      if (this.#earlyBytes > EARLY_BYTES) socket.pause()
    }
    this.#leave = () => socket.destroy()
  }

  get draining(): boolean {
    return this.#serving.draining
  }

  get bytesReceived(): number {
    return this.#near?.received ?? 0
  }

  begin(): void {
    const { app } = this.#serving
    const req = this.#req
    const socket = this.#socket
    const headers = new HeaderList(req.rawHeaders)
    const judged = judgeHead(
      {
        method: req.method!,
        target: req.url ?? '/',
        version: '1.1',
        headers,
        peer: this.#connection.peer,
        upgradable: true,
      },
      app.trusts,
    )
    // A host's own listener may bring what keepPlain() holds back: its body could not be read any more.
    const fault = judged.fault ?? (mayUpgrade(req) ? noNewTunnels(this.#serving) : noTunnel())
    this.#connection.add(this)
    this.#exchange = app.open(judged.head, null, this, fault)
    if (socket.destroyed) return this.closed()
    // A client that leaves is only noticed by reading.
    socket.on('data', this.#hold)
    socket.on('end', this.#leave)
    const fail = (cause: unknown): void => this.#answer(() => thrown(cause))
    try {
      const reply = this.#exchange.run()
      if (reply instanceof Promise) reply.then(made => this.#send(made)).catch(fail)
      else this.#send(reply)
    } catch (cause) {
      fail(cause)
    }
  }

  inform(status: number, headers: HeaderList): void {
    assertInterim(status, headers)
    if (this.#over || this.#near) return
    this.#writeHead(status, headers.raw)
  }

  breakBody(): void {}

  cut(error: ProxyError): void {
    if (this.#answering !== null) this.#answering.cut(error)
    else if (this.#near === null) this.#answer(() => failureReply(error))
    else this.#near.feeder?.cancel(error)
  }

  closed(): void {
    if (this.#over) return
    this.#over = true
    const near = this.#near
    if (near === null) {
      const error = gone('reply-head')
      this.#exchange.abort(error)
      this.#exchange.done(error.status, 0, error)
    } else {
      this.#serving.tunnels.delete(near.feeder!)
      this.#exchange.done(101, near.sent, near.error)
    }
    this.#connection.remove(this)
  }

  #send(reply: Reply): void {
    if (this.#over) return discardBody(reply.body, gone('reply-body'))
    const tunnel = tunnelOf(reply)
    if (tunnel) this.#join(reply, tunnel)
    else this.#answer(() => reply)
  }

  #join(reply: Reply, tunnel: Tunnel): void {
    const key = this.#req.headers['sec-websocket-key']
    const fields = switchingFields(reply.headers, tunnel.protocol, key)
    if (!areLegal(fields)) {
      const error = new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'bad-reply' })
      discardBody(tunnel, error)
      return this.#answer(() => failureReply(error))
    }
    const socket = this.#release()
    const near = new DuplexEnd(socket, 'client')
    this.#near = near
    socket.setKeepAlive(true, KEEP_ALIVE)
    // As node:http has it for plain connections: over TLS the client's end would end ours, with the rest unsent.
    socket.allowHalfOpen = true
    this.#writeHead(101, fields)
    // 'close' of the connection ends the exchange: it comes after that of the tunnel.
    near.feeder = tunnel.splice(near, near)
    this.#serving.tunnels.add(near.feeder)
  }

  /** Any other answer: an exchange of plain HTTP, the last one of its connection. */
  #answer(reply: () => Reply): void {
    if (this.#over) return
    const early = this.#early.length > 0
    const socket = this.#release()
    this.#over = true
    this.#connection.remove(this)
    const res = new ServerResponse(this.#req)
    res.shouldKeepAlive = false
    res.assignSocket(socket)
    res.on('finish', () => {
      res.detachSocket(socket)
      process.nextTick(() => res.emit('close'))
      if (early) lingerOnClose(socket)
      socket.destroySoon()
    })
    socket.resume()
    const link = new Http1Link(this.#serving, this.#connection, res, null, true)
    this.#answering = link
    this.#connection.add(link)
    link.begin(answered(this.#exchange, reply))
  }

  /** The socket as it was handed over, with what has come since in front. */
  #release(): Socket {
    const socket = this.#socket
    socket.pause()
    socket.off('data', this.#hold)
    socket.off('end', this.#leave)
    const early = this.#early
    this.#early = []
    if (early.length > 0) socket.unshift(Buffer.concat(early))
    return socket
  }

  #writeHead(status: number, fields: readonly string[]): void {
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Interim'}\r\n`
    for (let i = 0; i < fields.length; i += 2) head += `${fields[i]}: ${fields[i + 1]}\r\n`
    this.#socket.write(`${head}\r\n`, 'latin1')
  }
}

/** Silence after which TCP itself asks whether a tunnel's peer is there, in ms. */
const KEEP_ALIVE = 30_000

/** The tunnel of a reply, which may be no reply at all: the link of the answer judges that. */
export function tunnelOf(reply: Reply): Tunnel | null {
  const body = (reply as Partial<Reply> | null | undefined)?.body
  return typeof body === 'object' && body !== null && 'splice' in body ? body : null
}

/** For an exchange that has thrown. */
export function thrown(cause: unknown): never {
  throw cause
}

/** An exchange whose reply is known, or whose fault. */
export function answered(exchange: OpenExchange, reply: () => Reply): OpenExchange {
  return {
    run: reply,
    abort: error => exchange.abort(error),
    done: (status, bytesSent, error) => exchange.done(status, bytesSent, error),
    outcome: exchange.outcome,
  }
}

/** A server that ends opens no tunnel: it would live for the rest of the drain alone. */
export function noNewTunnels(serving: Serving): ProxyError | null {
  return serving.draining ? new ProxyError({ source: 'proxy', phase: 'head', code: 'draining' }) : null
}

function noTunnel(): ProxyError {
  return new ProxyError({ source: 'client', phase: 'head', code: 'bad-request' })
}

function areLegal(fields: readonly string[]): boolean {
  for (let i = 0; i < fields.length; i += 2) {
    if (!isFieldName(fields[i]!) || !isFieldValue(fields[i + 1]!)) return false
  }
  return true
}

type Incoming = IncomingMessage & { upgrade?: boolean }
type Parser = { onIncoming?: ((req: Incoming, keepAlive: boolean) => unknown) | null }

/**
 * Lets only those requests leave HTTP that may become tunnels. Without this, a listener for `upgrade` would take every
 * request that says `Upgrade` off its connection, also `h2c`, and one with a body could not be answered any more.
 */
export function keepPlain(socket: Socket & { parser?: Parser | null }): void {
  const { parser } = socket
  const take = parser?.onIncoming
  if (!parser || typeof take !== 'function') return
  parser.onIncoming = function takeIncoming(req, keepAlive) {
    if (!req.upgrade || req.method === 'CONNECT' || mayUpgrade(req)) return take.call(this, req, keepAlive)
    req.upgrade = false
    // The parser drops what came behind it in the same read: the answer says that the connection ends.
    return take.call(this, req, false)
  }
}
