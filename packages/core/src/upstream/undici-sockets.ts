/** Connections for undici: where to, under which name, opened in advance or when they are needed. */
import { buildConnector } from 'undici'
import { readOnAfterBrokenWrite } from './broken-write.ts'
import { isLocalhost, lookupLocalhost } from './dns/localhost.ts'
import type { Http1Options } from './http1-options.ts'
import type { TlsOptions } from './options.ts'
import { WarmConnections } from './warm.ts'

/** Opens connections to the target. */
export function connectTo(options: Http1Options): buildConnector.connector {
  const { address, socketPath, tls } = options
  const connect = buildConnector({
    ...(tls as Omit<TlsOptions, 'servername' | 'ca'>),
    timeout: options.connectTimeout,
    ...(socketPath === null ? {} : { socketPath }),
    ...(isLocalhost(new URL(options.origin).hostname) ? { lookup: lookupLocalhost } : {}),
  })
  // No SNI for addresses (RFC 6066, 3); the certificate is then checked against the address.
  const fixed = { servername: options.serverName ?? '', ...(address === null ? {} : { hostname: address }) }
  return (target, callback) => {
    connect({ ...target, ...fixed }, (...result) => {
      if (result[1]) readOnAfterBrokenWrite(result[1])
      callback(...result)
    })
  }
}

/** Connections that are open before anybody wants them, and a connector that hands them out first. */
export function warmUp(
  options: Http1Options,
  connect: buildConnector.connector,
): { warm: WarmConnections; connector: buildConnector.connector } {
  const warm = new WarmConnections(connect, options.keepAlive)
  const { host, hostname, protocol, port } = new URL(options.origin)
  warm.open({ host, hostname: hostname.replace(/^\[|\]$/g, ''), protocol, port }, options.warm)
  return {
    warm,
    connector(target, callback) {
      const socket = warm.take()
      if (socket === null) connect(target, callback)
      else queueMicrotask(() => callback(null, socket))
    },
  }
}
