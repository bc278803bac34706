/**
 * Everything that a TLS server needs beside its options: it closes handshakes that take too long, judges client
 * certificates before anybody serves the connection, and follows the store's certificates and ticket keys.
 */
import type { Server as TcpServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { INNER_LISTENERS } from '@postern/core'
import type { ClientPolicy } from '../identity/policy.ts'
import type { ClientJudge } from '../identity/verify.ts'
import { ConnectionFacts, type ServesHost, setFacts } from './facts.ts'
import { plainName, type RawFacts, rawFactsOf, tellAddresses } from './raw.ts'

/** Counts since the store was made. */
export interface TlsCounts {
  /** Handshakes that ended well, resumed ones included. */
  handshakes: number
  /** Of those, how many a ticket made short. */
  resumed: number
  /** Of those, how many showed a client certificate that was accepted. */
  identified: number
  /** Connections closed because of their client certificate, or its absence. */
  refused: number
  /** Handshakes that failed. */
  failed: number
  /** Handshakes that took longer than `handshakeTimeout`. */
  timedOut: number
}

/** What the store lends to its servers. */
export interface ProtectContext {
  readonly policyOf: (name: string) => ClientPolicy | null
  readonly judge: ClientJudge
  readonly counts: TlsCounts
  readonly serves: ServesHost
  readonly clock: () => number
}

/** Installs the listeners. They stay for the life of the server. */
export function watchHandshakes(server: TcpServer, context: ProtectContext): void {
  const { counts } = context
  // Node only tells of a handshake that timed out; the socket would stay open for ever.
  server.on('tlsClientError', (error: Error & { code?: string }, socket: TLSSocket) => {
    if (error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT') counts.timedOut++
    else counts.failed++
    socket.destroy()
  })
  // Whoever serves connections is called only for those that pass. Listeners that are added later find a closed socket.
  const inner = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[]
  server.removeAllListeners('secureConnection')
  const judge = (socket: TLSSocket): void => {
    if (!admit(socket, context)) {
      socket.destroy()
      return
    }
    for (const listener of inner) listener.call(server, socket)
  }
  server.on('secureConnection', Object.assign(judge, { [INNER_LISTENERS]: inner }))
}

function admit(socket: TLSSocket, { policyOf, judge, counts, serves, clock }: ProtectContext): boolean {
  const raw = rawFactsOf(socket)
  const name = serverNameOf(socket, raw)
  if (raw?.addresses) tellAddresses(socket, raw.addresses)
  // A validation of ACME: the handshake was all of it (RFC 8737, 3).
  if (socket.alpnProtocol === 'acme-tls/1') return false
  const { client, fault } = judge.judge(socket, policyOf(name), clock())
  if (fault !== null) {
    counts.refused++
    return false
  }
  const facts = new ConnectionFacts(socket, name, client, raw?.hello ?? null, serves)
  counts.handshakes++
  if (facts.resumed) counts.resumed++
  if (client !== null) counts.identified++
  setFacts(socket, facts)
  return true
}

/**
 * The name that this handshake asked for. OpenSSL ties it to the session in TLS 1.2 and Node does not, so a resumed connection has
 * none there; its own ClientHello does, and the client's Finished message covers that (RFC 5246, 7.4.9). Whether the session's
 * certificate is enough for the name is for the judge to say, as in TLS 1.3.
 */
function serverNameOf(
  socket: TLSSocket & { servername?: string | false | null },
  raw: RawFacts | null,
): string {
  if (!socket.servername && raw?.hello && socket.isSessionReused() && socket.getProtocol() === 'TLSv1.2') {
    // Where core looks for it too.
    socket.servername = raw.hello.serverName ?? false
  }
  return plainName(socket.servername)
}
