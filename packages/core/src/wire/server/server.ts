/** What the wire's connections on one server share. */
import { maxHeaderSize } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { Serving } from '../../transport/node/serving.ts'
import { keepPlain } from '../../transport/node/upgrade1.ts'
import { type Limits, WireClock } from './clock.ts'
import { WireConnection } from './connection.ts'

/** Serves a connection. */
export type Listener = (this: unknown, socket: Socket) => void

type Http1Server = Server & {
  maxHeaderSize?: number
  headersTimeout?: number
  requestTimeout?: number
  keepAliveTimeout?: number
  timeout?: number
  maxRequestsPerSocket?: number | null
  closeIdleConnections?(): void
  closeAllConnections?(): void
}

/** Limits are the server's own, read when they are needed. */
export class WireServer implements Limits {
  readonly serving: Serving
  /** Its connections are TLS. */
  readonly secure: boolean
  readonly sendTimeout: number
  readonly #server: Http1Server
  readonly #connections = new Set<WireConnection>()
  readonly #clock: WireClock
  /** Node's own listener. */
  readonly #inner: Listener
  /** The app answers upgrades. */
  readonly #upgrades: boolean
  #keepAlive = ''
  #keepAliveOf = -1

  constructor(server: Server, serving: Serving, secure: boolean, sendTimeout: number, inner: Listener) {
    this.#server = server
    this.serving = serving
    this.secure = secure
    this.sendTimeout = sendTimeout
    this.#inner = inner
    this.#upgrades = server.listenerCount('upgrade') === 0
    this.#clock = new WireClock(this, this.#connections)
    this.#endWithServer(server)
  }

  get headersTimeout(): number {
    return this.#server.headersTimeout ?? 60_000
  }

  get requestTimeout(): number {
    return this.#server.requestTimeout ?? 300_000
  }

  get keepAliveTimeout(): number {
    return this.#server.keepAliveTimeout ?? 5000
  }

  get maxHeaderSize(): number {
    return this.#server.maxHeaderSize ?? maxHeaderSize
  }

  /** Lines for answers behind which the connection stays, with CRLF in front. */
  get keepAlive(): string {
    const time = this.keepAliveTimeout
    if (time !== this.#keepAliveOf) {
      this.#keepAliveOf = time
      const hint = time > 0 ? `\r\nKeep-Alive: timeout=${Math.floor(time / 1000)}` : ''
      this.#keepAlive = `\r\nConnection: keep-alive${hint}`
    }
    return this.#keepAlive
  }

  /** True when a connection has had as many requests as it may. */
  isLast(count: number): boolean {
    const most = this.#server.maxRequestsPerSocket ?? 0
    return most > 0 && count >= most
  }

  take(socket: Socket): void {
    const { timeout = 0 } = this.#server
    // As node:http has it: silence in both directions ends the connection.
    if (timeout > 0) socket.setTimeout(timeout, () => socket.destroy())
    this.#connections.add(new WireConnection(this, socket))
    this.#clock.start()
  }

  forget(connection: WireConnection): void {
    this.#connections.delete(connection)
  }

  /** Node's own server takes the connection over. */
  adopt(socket: Socket): void {
    socket.setTimeout(0)
    socket.removeAllListeners('timeout')
    this.#inner.call(this.#server, socket)
    if (this.#upgrades) keepPlain(socket)
  }

  /** `closeIdleConnections()` and `closeAllConnections()` of node:http, which `close()` calls too, know Node's parsers only. */
  #endWithServer(server: Http1Server): void {
    const { closeIdleConnections, closeAllConnections } = server
    server.closeIdleConnections = () => {
      closeIdleConnections?.call(server)
      for (const connection of this.#connections) if (connection.waiting === 'next') connection.close()
    }
    if (closeAllConnections === undefined) return
    server.closeAllConnections = () => {
      closeAllConnections.call(server)
      for (const connection of this.#connections) connection.destroy()
    }
  }
}
