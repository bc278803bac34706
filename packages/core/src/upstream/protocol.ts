/** Which connector speaks to a target, and the options of those beyond HTTP/1.1. */
import { milliseconds, readOptions, type Table, whole } from '../config/check.ts'
import type { ConfigFault } from '../errors.ts'
import { Http1Opener } from '../upgrade/http1-upstream.ts'
import { TunnelClock } from '../upgrade/tunnel.ts'
import { wireConnector } from '../wire/client/pool.ts'
import { autoConnector } from './auto.ts'
import type { Connector } from './connector.ts'
import { openSocket } from './dial.ts'
import { http2Connector } from './h2/connector.ts'
import type { Http1Options } from './http1-options.ts'
import type { Http2UpstreamOptions, UpstreamOptions } from './options.ts'
import { undiciConnector } from './undici.ts'

/** How targets are spoken to. */
export type UpstreamProtocol = 'h1' | 'h2' | 'h2c' | 'auto'

/** What speaks HTTP/1.1 to targets. */
export type Http1Client = 'wire' | 'undici'

/** Settings of one target for any protocol. Milliseconds. */
export interface ConnectorOptions extends Http1Options {
  readonly protocol: UpstreamProtocol
  readonly http1: Http1Client
  readonly http2: Http2Settings
  /** Silence allowed on a tunnel; 0 for any. */
  readonly tunnelIdle: number
  /** Tunnels at a time on connections of their own. */
  readonly tunnels: number
}

/** Bounds of HTTP/2 sessions, complete. */
export interface Http2Settings {
  readonly streams: number
  readonly sessionIdle: number
  readonly pingAfter: number
  readonly pingTimeout: number
}

/** The connector for a target. */
export function connectorFor(options: ConnectorOptions): Connector {
  const { protocol, http2 } = options
  if (protocol === 'h2' || protocol === 'h2c') return http2Connector({ ...options, ...http2, protocol })
  if (protocol === 'auto' && options.origin.startsWith('https:')) {
    return autoConnector(options, () => http1Connector(options))
  }
  return http1Connector(options)
}

/** HTTP/1.1: a pool for requests, connections of their own for tunnels. */
function http1Connector(options: ConnectorOptions): Connector {
  const requests = options.http1 === 'undici' ? undiciConnector(options) : wireConnector(options)
  const secure = options.origin.startsWith('https:')
  const opener = new Http1Opener({
    connect: () => ({
      // A tunnel may end one way first.
      socket: openSocket(options, secure ? ['http/1.1'] : null, { allowHalfOpen: true }),
      ready: secure ? 'secureConnect' : 'connect',
    }),
    connectTimeout: options.connectTimeout,
    headTimeout: options.headTimeout,
    tunnels: options.tunnels,
    clock: new TunnelClock(options.tunnelIdle),
  })
  return {
    ...(requests.expects === true ? { expects: true } : {}),
    send: (request, receiver) => requests.send(request, receiver),
    connections: () => requests.connections!(),
    open: (request, receiver) => opener.open(request, receiver),
    close: () => Promise.all([requests.close(), opener.close()]).then(() => {}),
    destroy() {
      opener.destroy()
      return requests.destroy()
    },
  }
}

/** Checks `protocol` against the targets. */
export function checkProtocol(
  { protocol = 'h1', targets = [] }: Partial<UpstreamOptions>,
  place: string,
  faults: ConfigFault[],
): UpstreamProtocol {
  if (protocol !== 'h2' && protocol !== 'h2c') return protocol
  const secure = protocol === 'h2'
  const fits = (target: unknown): boolean => {
    const url = typeof target === 'string' ? target : (target as { url?: unknown } | null)?.url
    return typeof url !== 'string' || /^https:/i.test(url) === secure
  }
  if (!targets.every(fits)) {
    const problem = `a target's scheme does not fit '${protocol}'`
    const fix = "'h2' is for https: targets, 'h2c' for http: and unix: targets."
    faults.push({ place: `${place}.protocol`, problem, fix })
  }
  return protocol
}

const RULES: Table<Http2UpstreamOptions> = {
  streams: whole(1, 10_000),
  idle: milliseconds(1),
  pingAfter: milliseconds(0),
  pingTimeout: milliseconds(1),
}

/** Checks and completes the bounds of HTTP/2. */
export function http2Settings(
  options: Partial<UpstreamOptions>,
  place: string,
  faults: ConfigFault[],
): Http2Settings {
  const given = readOptions<Http2UpstreamOptions>(`${place}.http2`, options.http2, RULES, faults)
  const { streams = 100, idle = 60_000, pingAfter = 0, pingTimeout = 5000 } = given
  return { streams, sessionIdle: idle, pingAfter, pingTimeout }
}
