/** Ends a server: nothing new is taken, what runs is finished within a limit, then everything is closed. */
import { Server as HttpServer } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import type { Server, Socket } from 'node:net'
import { ProxyError } from '../../errors.ts'
import type { Flow } from '../../pipeline/contract.ts'
import { FAREWELL } from '../../upgrade/tunnel.ts'
import { isBusy } from './connection1.ts'
import type { Handshakes } from './handshakes.ts'
import { hasStreams } from './http2.ts'
import { lingerOnClose } from './linger.ts'

const HIGHEST_STREAM = 2 ** 31 - 1
/** Between the warning GOAWAY and the last one: about a round trip, so that the last one can tell what was not processed. */
const GOAWAY_PAUSE = 100
/**
 * Looks at an idle connection, one each `GOAWAY_PAUSE`, before it is closed: a request that is on its way has about a
 * second to arrive and be answered with `Connection: close`.
 */
const IDLE_LOOKS = 10
/** How long the last connections may take to say that they are closed, in ms. */
const CLOSING = 1000

/** Keeps the connections of a server in view. */
export class Connections {
  /** As they were accepted. */
  readonly #sockets = new Set<Socket>()
  /** Those that speak HTTP/1.x, or may still choose to. */
  readonly #http1 = new Set<Socket>()
  /** Those that speak TLS or HTTP/2, by their two ends: what is built on a socket does not give it away. */
  readonly #byEnds = new Map<string, Socket>()
  readonly #handshakes: Handshakes
  /** With the two ends of each. */
  readonly #sessions = new Map<ServerHttp2Session, string | null>()
  #onGone: (() => void) | null = null

  constructor(handshakes: Handshakes) {
    this.#handshakes = handshakes
  }

  /** `idle`: ms of silence after which an HTTP/2 session is asked to end, and after as many again cut. */
  watch(server: Server, idle: number): void {
    const plain = server instanceof HttpServer
    const secure = 'setSecureContext' in server
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#left(this.#sockets, socket))
      if (plain) this.#keepHttp1(socket)
      else this.#keepByEnds(socket, secure)
    })
    server.on('secureConnection', (socket: Socket & { alpnProtocol?: string | false }) => {
      this.#handshakes.end(endsOf(socket))
      if (socket.alpnProtocol !== 'h2') this.#keepHttp1(socket)
    })
    server.on('session', (session: ServerHttp2Session) => {
      this.#sessions.set(session, endsOf(session.socket))
      session.once('close', () => this.#left(this.#sessions, session))
      // After a broken frame Node says GOAWAY, reads no more and leaves the connection open: only time ends it.
      session.setTimeout(idle, () => {
        if (session.closed) session.destroy()
        else endSession(session)
      })
    })
  }

  #keepHttp1(socket: Socket): void {
    this.#http1.add(socket)
    socket.once('close', () => this.#left(this.#http1, socket))
  }

  #left<T>(kept: { delete(one: T): boolean }, one: T): void {
    kept.delete(one)
    if (this.#empty) this.#onGone?.()
  }

  get #empty(): boolean {
    return this.#sockets.size + this.#http1.size + this.#sessions.size === 0
  }

  /**
   * Resolves when 'close' of each connection was emitted, which ends its exchanges. A server says that it is closed when
   * its last connection is being destroyed: that is earlier.
   */
  async gone(): Promise<void> {
    if (this.#empty) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>(resolve => {
      this.#onGone = resolve
      timer = setTimeout(resolve, CLOSING)
    })
    clearTimeout(timer)
  }

  #keepByEnds(socket: Socket, secure: boolean): void {
    const ends = endsOf(socket)
    if (ends === null) return
    this.#byEnds.set(ends, socket)
    if (secure && !socket.destroyed) this.#handshakes.begin(ends, socket)
    socket.once('close', () => {
      if (this.#byEnds.get(ends) !== socket) return
      this.#byEnds.delete(ends)
      this.#handshakes.end(ends)
    })
  }

  sayGoodbye(): void {
    for (const session of this.#sessions.keys()) endSession(session)
  }

  /** Closes what has been idle at each of the last looks; `looks` counts them. */
  sweep(looks: Map<Socket | ServerHttp2Session, number>): void {
    const idle = (owner: Socket | ServerHttp2Session, busy: boolean): boolean => {
      const seen = busy ? 0 : (looks.get(owner) ?? 0) + 1
      looks.set(owner, seen)
      return seen >= IDLE_LOOKS
    }
    for (const socket of this.#http1) {
      if (!idle(socket, isBusy(socket)) || socket.writableEnded) continue
      // A FIN, and no reset for what may cross it.
      lingerOnClose(socket)
      socket.destroySoon()
    }
    for (const [session, ends] of this.#sessions) {
      if (!idle(session, hasStreams(session))) continue
      // A session that was closed only ends its side; one that is destroyed already waits for a peer that is silent.
      if (session.destroyed) this.#byEnds.get(ends ?? '')?.destroy()
      else session.destroy()
    }
    for (const socket of this.#handshakes) if (idle(socket, false)) socket.destroy()
  }

  closeAll(): void {
    for (const session of this.#sessions.keys()) session.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }
}

/**
 * GOAWAY in two steps (RFC 9113, 6.8). nghttp2 takes no stream once it has sent one; those that were on their way are named as not
 * processed by the last. Node 20 can corrupt its heap when a busy session is closed at once.
 */
function endSession(session: ServerHttp2Session): void {
  if (session.closed || session.destroyed) return
  session.goaway(0, HIGHEST_STREAM)
  setTimeout(() => {
    if (!session.destroyed) session.close()
  }, GOAWAY_PAUSE).unref()
}

/** Closes `server`; resolves when its last connection is gone and each `onDone` was told, at the latest shortly after `limit` ms. */
export function drainServer(
  server: Server,
  connections: Connections,
  limit: number,
  tunnels: ReadonlySet<Flow>,
): Promise<void> {
  return new Promise(resolve => {
    let last = setTimeout(() => {
      if (tunnels.size === 0 || limit === 0) return connections.closeAll()
      // WebSockets are told, and get a moment to answer.
      last = setTimeout(() => connections.closeAll(), FAREWELL)
      for (const tunnel of tunnels) {
        tunnel.cancel(new ProxyError({ source: 'proxy', phase: 'tunnel', code: 'draining' }))
      }
    }, limit)
    const looks = new Map<Socket | ServerHttp2Session, number>()
    const sweep = setInterval(() => connections.sweep(looks), GOAWAY_PAUSE)
    withoutReset(server, () =>
      server.close(() => {
        clearTimeout(last)
        clearInterval(sweep)
        resolve(connections.gone())
      }),
    )
    connections.sayGoodbye()
  })
}

/** node:http's `close()` resets idle connections through this method, also those whose next request is on its way. */
function withoutReset(server: Server, close: () => void): void {
  const hook = server as Server & { closeIdleConnections?(): void }
  const own = Object.getOwnPropertyDescriptor(hook, 'closeIdleConnections')
  hook.closeIdleConnections = () => {}
  try {
    close()
  } finally {
    if (own) Object.defineProperty(hook, 'closeIdleConnections', own)
    else delete hook.closeIdleConnections
  }
}

/** `null` for Unix sockets, which are all alike: those that stay silent last until the limit. */
function endsOf(socket: Socket): string | null {
  if (socket.remotePort === undefined) return null
  return `${socket.remoteAddress}|${socket.remotePort}|${socket.localPort}`
}
