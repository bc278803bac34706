/** The cap on connections in front of everything that a server does with them. */
import type { Server, Socket } from 'node:net'
import type { ConnectionCap } from '../clients/connection-cap.ts'

/**
 * What stands on 'connection' already (the parser of node:http, TLS) hears only of connections that are admitted. Those that
 * are added later hear of the others too, which are destroyed.
 */
export function capConnections(server: Server, cap: ConnectionCap): void {
  const takers = server.rawListeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    if (!cap.admit(socket)) return
    for (const take of takers) Reflect.apply(take, server, [socket])
  })
}
