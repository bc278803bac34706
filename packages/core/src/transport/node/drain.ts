/** Ends a server: nothing new is taken, what runs is finished within a limit, then everything is closed. */
import type { ServerHttp2Session } from 'node:http2'
import type { Server, Socket } from 'node:net'

const HIGHEST_STREAM = 2 ** 31 - 1
/** Between the warning GOAWAY and the last one: about a round trip, so that streams on their way still arrive. */
const GOAWAY_PAUSE = 100

/** Keeps the connections of a server in view. */
export class Connections {
  readonly #sockets = new Set<Socket>()
  readonly #sessions = new Set<ServerHttp2Session>()

  /** `idle`: ms of silence after which an HTTP/2 session is asked to end, and after as many again cut. */
  watch(server: Server, idle: number): void {
    const keep = (socket: Socket): void => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    }
    server.on('connection', keep)
    server.on('session', (session: ServerHttp2Session) => {
      this.#sessions.add(session)
      session.once('close', () => this.#sessions.delete(session))
      // After a broken frame Node says GOAWAY, reads no more and leaves the connection open: only time ends it.
      session.setTimeout(idle, () => {
        if (session.closed) session.destroy()
        else session.close()
      })
    })
  }

  /** GOAWAY in two steps (RFC 9113, 6.8): closing a busy session at once would refuse streams on their way. */
  sayGoodbye(): void {
    for (const session of this.#sessions) {
      if (session.closed || session.destroyed) continue
      session.goaway(0, HIGHEST_STREAM)
      setTimeout(() => {
        if (!session.destroyed) session.close()
      }, GOAWAY_PAUSE).unref()
    }
  }

  closeAll(): void {
    for (const session of this.#sessions) session.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** Closes `server`; resolves when its last connection is gone, at the latest shortly after `limit` ms. */
export function drainServer(server: Server, connections: Connections, limit: number): Promise<void> {
  return new Promise(resolve => {
    const last = setTimeout(() => connections.closeAll(), limit)
    const idle = server as Server & { closeIdleConnections?(): void }
    // Connections become idle one by one, each after its last answer.
    const sweep = setInterval(() => idle.closeIdleConnections?.(), GOAWAY_PAUSE)
    server.close(() => {
      clearTimeout(last)
      clearInterval(sweep)
      resolve()
    })
    connections.sayGoodbye()
  })
}
