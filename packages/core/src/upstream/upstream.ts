/** A named group of interchangeable servers. */
import { isIP } from 'node:net'
import { assertMilliseconds, assertWhole } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Connector } from './connector.ts'
import {
  checkProtocol,
  connectorFor,
  http2Settings,
  tunnelSettings,
  type UpstreamProtocol,
} from './protocol.ts'

/** Options of {@link upstream}. */
export interface UpstreamOptions {
  /** Name in logs and metrics. */
  name: string
  /** Origins, each `http://host[:port]` or `https://host[:port]`, with a base path where the server has one. */
  targets: readonly string[]
  /**
   * How targets are spoken to. `'h1'` (default): HTTP/1.1. `'h2'`: HTTP/2 over TLS, for `https:` targets; `'h2c'`: HTTP/2
   * without TLS by prior knowledge, for `http:` targets. `'auto'`: for `https:`, what the target chooses in the handshake
   * (ALPN, RFC 7301), HTTP/1.1 for `http:`.
   */
  protocol?: UpstreamProtocol
  /** Connections kept to each target at most; sessions with HTTP/2. Default 128. */
  connections?: number
  /** Bounds of HTTP/2 sessions, where those are used. */
  http2?: {
    /** Requests at a time on one session; the target's own limit holds too. Default 100. */
    streams?: number
    /** How long a session without requests is kept, in ms. Default 60 000. */
    idle?: number
    /**
     * Silence on a session with open requests, in ms, after which a PING asks whether it lives; 0 (default) asks only when
     * a request has timed out. gRPC servers take more than a PING in five minutes for abuse.
     */
    pingAfter?: number
    /** How long the answer to a PING may take, in ms; then the session is closed and its requests fail. Default 5000. */
    pingTimeout?: number
  }
  /** Tunnels (WebSocket and other upgrades) to each target at most, on HTTP/1.1; more are answered 503. Default 16 384. */
  tunnels?: number
  /** Requests that may wait for a connection to a target, beyond those; more are answered 503. Default 1024. */
  queue?: number
  /** How long an idle connection is kept, in ms. Default 4000: below the 5 s after which Node servers close. */
  keepAlive?: number
  timeouts?: {
    /** TCP and TLS handshake, in ms. Default 5000; 504. */
    connect?: number
    /** From the request's end to the head of the reply, in ms. Default 20 000; 504. */
    head?: number
    /** Silence inside a body, in ms. Default 30 000; 504, or a cut reply. */
    idle?: number
    /** The whole exchange, in ms; 0 for none. Default 30 000; 504. Does not count for streams (see docs/rationale.md). */
    total?: number
    /** Silence on a tunnel in both directions, in ms; 0 for any. It ends after one to two times as long. Default 3 600 000. */
    tunnel?: number
  }
  tls?: {
    /** Certificates that may sign the targets' own, instead of the system's. Verification can't be turned off. */
    ca?: string | Buffer | readonly (string | Buffer)[]
  }
}

/** One server. */
export interface Target {
  /** Origin, for logs. */
  readonly origin: string
  /** Value of `Host` when the client's is not kept. */
  readonly authority: string
  /** Path in front of every target sent; `''` without one. */
  readonly basePath: string
  readonly connector: Connector
}

/** A group of targets. Made by {@link upstream}. */
export interface Upstream {
  readonly name: string
  readonly targets: readonly Target[]
  /** Milliseconds for the whole exchange; 0 for none. */
  readonly totalTimeout: number
  /** The next target, in turn. */
  pick(): Target
  /** Waits for what runs, then closes all connections. */
  close(): Promise<void>
  /** Closes all connections at once. */
  destroy(): Promise<void>
}

/**
 * Makes a group of targets; requests go to them in turn. HTTP/1.1, with verified certificates for `https:`.
 * @example const api = upstream({ name: 'api', targets: ['http://127.0.0.1:3000'] })
 * @throws ConfigError with every fault.
 */
export function upstream(options: UpstreamOptions): Upstream {
  const faults: ConfigFault[] = []
  const place = `upstream ${options.name}`
  if (typeof options.name !== 'string' || options.name === '') {
    faults.push({ place: 'upstream.name', problem: 'it is empty', fix: 'Give the group a name.' })
  }
  if (!Array.isArray(options.targets) || options.targets.length === 0) {
    faults.push({ place, problem: 'there are no targets', fix: "Write targets: ['http://127.0.0.1:3000']." })
  }
  const { timeouts = {} } = options
  const settings = {
    connections: assertWhole(`${place}.connections`, options.connections ?? 128, 1, 65_535, faults),
    queue: assertWhole(`${place}.queue`, options.queue ?? 1024, 0, 1_000_000, faults),
    keepAlive: assertMilliseconds(`${place}.keepAlive`, options.keepAlive ?? 4000, 1, faults),
    connectTimeout: assertMilliseconds(`${place}.timeouts.connect`, timeouts.connect ?? 5000, 1, faults),
    headTimeout: assertMilliseconds(`${place}.timeouts.head`, timeouts.head ?? 20_000, 1, faults),
    idleTimeout: assertMilliseconds(`${place}.timeouts.idle`, timeouts.idle ?? 30_000, 1, faults),
    tls: options.tls ?? {},
    ...tunnelSettings(options, place, faults),
    http2: http2Settings(options, place, faults),
  }
  const protocol = checkProtocol(options, place, faults)
  const totalTimeout = assertMilliseconds(`${place}.timeouts.total`, timeouts.total ?? 30_000, 0, faults)
  const urls = (options.targets ?? []).map(text => readTargetUrl(text, place, faults))
  if (faults.length > 0) throw new ConfigError(faults)

  const targets = urls.map((url): Target => {
    const host = url!.hostname.replace(/^\[|\]$/g, '')
    const serverName = url!.protocol === 'https:' && isIP(host) === 0 ? host : null
    return {
      origin: url!.origin,
      authority: url!.host,
      basePath: url!.pathname === '/' ? '' : url!.pathname.replace(/\/$/, ''),
      connector: connectorFor(protocol, { ...settings, origin: url!.origin, serverName }),
    }
  })
  let turn = 0
  return {
    name: options.name,
    targets,
    totalTimeout,
    pick() {
      if (targets.length === 1) return targets[0]!
      turn = (turn + 1) % targets.length
      return targets[turn]!
    },
    close: () => Promise.all(targets.map(target => target.connector.close())).then(() => {}),
    destroy: () => Promise.all(targets.map(target => target.connector.destroy())).then(() => {}),
  }
}

function readTargetUrl(text: string, place: string, faults: ConfigFault[]): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null
  const plain = url && !url.username && !url.password && !url.search && !url.hash
  if (url && plain && (url.protocol === 'http:' || url.protocol === 'https:')) return url
  // Not the text itself: a URL may hold a password.
  faults.push({
    place: `${place}.targets`,
    problem: 'a target is not an http: or https: URL without user, query and fragment',
    fix: 'Write http://host:port or https://host.',
  })
  return null
}
