/** Sockets to targets. */
import { connect as connectTcp, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import { isLocalhost, lookupLocalhost } from './dns/localhost.ts'
import type { Http1Options } from './http1-options.ts'

/** What some sockets need besides. */
export interface SocketExtras {
  /** One direction may end before the other. */
  readonly allowHalfOpen?: boolean
  /** Made of the target's TLS options before. */
  readonly secureContext?: SecureContext
  /** Of an earlier connection to the same target. */
  readonly session?: Buffer
  /** Reads into buffers of the caller's, instead of 'data' events; not for TLS. */
  readonly onread?: OnReadOpts
}

/** TCP, TLS or a Unix socket to a target, with the name that it is known by and its certificate verified. */
export function openSocket(
  options: Http1Options,
  protocols: string[] | null,
  extra: SocketExtras = {},
): Socket {
  const { protocol, hostname, port } = new URL(options.origin)
  const { address, socketPath, serverName, tls } = options
  if (socketPath !== null) return connectTcp({ path: socketPath, ...extra })
  const secure = protocol === 'https:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const where = {
    host: address ?? host,
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    keepAlive: true,
    noDelay: true,
    ...extra,
    ...(isLocalhost(host) ? { lookup: lookupLocalhost } : {}),
  }
  if (!secure) return connectTcp(where)
  const { servername: _, ...given } = tls
  return connectTls({
    ...where,
    // Not even by Node's environment variable.
    rejectUnauthorized: true,
    ...(given as object),
    ...(protocols ? { ALPNProtocols: protocols } : {}),
    // No SNI for addresses (RFC 6066, 3); the certificate is then checked against the address.
    servername: serverName ?? '',
  })
}
