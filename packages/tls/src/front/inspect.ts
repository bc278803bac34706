/** The look at the first bytes for servers that the host owns: JA4, gates and the PROXY protocol without `listen()`. */
import type { Server, Socket } from 'node:net'
import { ConfigError, type ConfigFault, INNER_LISTENERS } from '@postern/core'
import { assertKnown } from '../config.ts'
import { markLooked } from '../server/raw.ts'
import type { Opening } from './peek.ts'
import { Reception, type ReceptionCounts, type ReceptionOptions, readReception, reset } from './reception.ts'

const NAMES = ['gate', 'proxyProtocol', 'helloTimeout']

/**
 * Looks at each connection of a server before the server does: a server of TLS gets only connections that begin with a proper
 * ClientHello, which `tlsOf(cx).hello` then tells; one of plain HTTP only those that do not. Call it once, right after the
 * server was made: listeners of `'connection'` that are added later see connections that have not been looked at.
 * @example
 * const server = createSecureServer({ ...tls.serverOptions(), allowHTTP1: true })
 * inspect(server, { gate: fingerprints({ perSecond: 50 }) })
 * attach(server, app)
 * tls.protect(server)
 * @throws ConfigError with every fault of the options.
 */
export function inspect(server: Server, options: ReceptionOptions = {}): Readonly<ReceptionCounts> {
  const faults: ConfigFault[] = []
  assertKnown('inspect', options, NAMES, faults)
  const settings = readReception('inspect', options, faults)
  if (faults.length > 0) throw new ConfigError(faults)

  const speaksTls = typeof (server as { setSecureContext?: unknown }).setSecureContext === 'function'
  const counts: ReceptionCounts = { accepted: 0, denied: 0, malformed: 0, timedOut: 0 }
  const inner = server.listeners('connection') as ((socket: Socket) => void)[]
  const reception = new Reception(settings, counts, (socket: Socket, opening: Opening, bytes: Buffer) => {
    if ((opening.kind === 'tls') !== speaksTls) {
      counts.malformed++
      return reset(socket)
    }
    socket.unshift(bytes)
    for (const listener of inner) listener.call(server, socket)
  })
  server.removeAllListeners('connection')
  const look = (socket: Socket): void => reception.take(socket)
  server.on('connection', Object.assign(look, { [INNER_LISTENERS]: inner }))
  if (speaksTls) markLooked(server)
  return counts
}
