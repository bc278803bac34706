/** Which connector speaks to a target, and the options of those beyond HTTP/1.1. */
import { assertMilliseconds, assertWhole } from '../config/check.ts'
import type { ConfigFault } from '../errors.ts'
import { Http1Opener } from '../upgrade/http1-upstream.ts'
import { TunnelClock } from '../upgrade/tunnel.ts'
import { autoConnector } from './auto.ts'
import type { Connector } from './connector.ts'
import { http2Connector } from './h2/connector.ts'
import { openSocket } from './h2/dial.ts'
import type { UpstreamOptions } from './options.ts'
import { type UndiciOptions, undiciConnector } from './undici.ts'

/** How targets are spoken to. */
export type UpstreamProtocol = 'h1' | 'h2' | 'h2c' | 'auto'

/** Settings of one target for any protocol. Milliseconds. */
export interface ConnectorOptions extends UndiciOptions {
  readonly http2: Http2Settings
}

/** Bounds of HTTP/2 sessions, complete. */
export interface Http2Settings {
  readonly streams: number
  readonly sessionIdle: number
  readonly pingAfter: number
  readonly pingTimeout: number
}

/** The connector for a target. */
export function connectorFor(protocol: UpstreamProtocol, options: ConnectorOptions): Connector {
  const secure = options.origin.startsWith('https:')
  if (protocol === 'h2' || protocol === 'h2c')
    return http2Connector({ ...options, ...options.http2, protocol })
  if (protocol === 'auto' && secure) return autoConnector(options, () => http1Connector(options))
  return http1Connector(options)
}

/** HTTP/1.1: undici for requests, connections of their own for tunnels. */
function http1Connector(options: ConnectorOptions): Connector {
  const requests = undiciConnector(options)
  const secure = options.origin.startsWith('https:')
  const opener = new Http1Opener({
    connect: () => ({
      // A tunnel may end one way first.
      socket: openSocket(options, secure ? ['http/1.1'] : null, true),
      ready: secure ? 'secureConnect' : 'connect',
    }),
    connectTimeout: options.connectTimeout,
    headTimeout: options.headTimeout,
    tunnels: options.tunnels,
    clock: new TunnelClock(options.tunnelIdle),
  })
  return {
    send: (request, receiver) => requests.send(request, receiver),
    open: (request, receiver) => opener.open(request, receiver),
    connections: () => requests.connections!(),
    close: () => requests.close(),
    destroy() {
      opener.destroy()
      return requests.destroy()
    },
  }
}

/** Checks `protocol` against the targets. */
export function checkProtocol(
  options: UpstreamOptions,
  place: string,
  faults: ConfigFault[],
): UpstreamProtocol {
  const { protocol = 'h1', targets } = options
  const scheme = protocol === 'h2' ? 'https:' : protocol === 'h2c' ? 'http:' : null
  if (!['h1', 'h2', 'h2c', 'auto'].includes(protocol)) {
    const fix = "Write 'h1', 'h2', 'h2c' or 'auto'."
    faults.push({ place: `${place}.protocol`, problem: `'${String(protocol)}' is unknown`, fix })
  } else if (scheme && Array.isArray(targets) && !targets.every(target => fits(target, scheme))) {
    const problem = `a target's scheme does not fit '${protocol}'`
    const fix = "'h2' is for https: targets, 'h2c' for http: and unix: targets."
    faults.push({ place: `${place}.protocol`, problem, fix })
  }
  return protocol
}

function fits(target: UpstreamOptions['targets'][number], scheme: string): boolean {
  const url = String(typeof target === 'string' ? target : target?.url)
  return url.startsWith(scheme) || (scheme === 'http:' && url.startsWith('unix:'))
}

/** Checks and completes the bounds of HTTP/2. */
export function http2Settings(options: UpstreamOptions, place: string, faults: ConfigFault[]): Http2Settings {
  const { http2 = {} } = options
  const at = `${place}.http2`
  for (const name of Object.keys(http2)) {
    if (!['streams', 'idle', 'pingAfter', 'pingTimeout'].includes(name)) {
      const fix = "Write 'streams', 'idle', 'pingAfter' or 'pingTimeout'."
      faults.push({ place: `${at}.${name}`, problem: 'there is no such option', fix })
    }
  }
  return {
    streams: assertWhole(`${at}.streams`, http2.streams ?? 100, 1, 10_000, faults),
    sessionIdle: assertMilliseconds(`${at}.idle`, http2.idle ?? 60_000, 1, faults),
    pingAfter: assertMilliseconds(`${at}.pingAfter`, http2.pingAfter ?? 0, 0, faults),
    pingTimeout: assertMilliseconds(`${at}.pingTimeout`, http2.pingTimeout ?? 5000, 1, faults),
  }
}

/** Checks and completes the bounds of tunnels. */
export function tunnelSettings(
  options: UpstreamOptions,
  place: string,
  faults: ConfigFault[],
): { tunnels: number; tunnelIdle: number } {
  const idle = options.timeouts?.tunnel ?? 3_600_000
  return {
    tunnels: assertWhole(`${place}.tunnels`, options.tunnels ?? 16_384, 0, 1_000_000, faults),
    tunnelIdle: assertMilliseconds(`${place}.timeouts.tunnel`, idle, 0, faults),
  }
}
