/** Which connector speaks to a target, and the options of those beyond HTTP/1.1. */
import { assertMilliseconds, assertWhole } from '../config/check.ts'
import type { ConfigFault } from '../errors.ts'
import { Http1Opener } from '../upgrade/http1-upstream.ts'
import { TunnelClock } from '../upgrade/tunnel.ts'
import { autoConnector } from './auto.ts'
import { onlyKnown } from './check-options.ts'
import type { Connector } from './connector.ts'
import { http2Connector } from './h2/connector.ts'
import { openSocket } from './h2/dial.ts'
import type { UpstreamOptions } from './options.ts'
import { type UndiciOptions, undiciConnector } from './undici.ts'

/** How targets are spoken to. */
export type UpstreamProtocol = 'h1' | 'h2' | 'h2c' | 'auto'

/** Settings of one target for any protocol. Milliseconds. */
export interface ConnectorOptions extends UndiciOptions {
  readonly protocol: UpstreamProtocol
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
    ...requests,
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
  options: UpstreamOptions,
  place: string,
  faults: ConfigFault[],
): UpstreamProtocol {
  const { protocol = 'h1', targets } = options
  if (!['h1', 'h2', 'h2c', 'auto'].includes(protocol)) {
    const fix = "Write 'h1', 'h2', 'h2c' or 'auto'."
    faults.push({ place: `${place}.protocol`, problem: `'${String(protocol)}' is unknown`, fix })
  } else if ((protocol === 'h2' || protocol === 'h2c') && Array.isArray(targets)) {
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
  }
  return protocol
}

/** Checks and completes the bounds of HTTP/2. */
export function http2Settings(options: UpstreamOptions, place: string, faults: ConfigFault[]): Http2Settings {
  const { http2 = {} } = options
  const at = `${place}.http2`
  onlyKnown(at, http2, ['streams', 'idle', 'pingAfter', 'pingTimeout'], faults)
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
