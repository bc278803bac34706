/** A named group of interchangeable servers. */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import {
  label,
  milliseconds,
  needed,
  type Rule,
  readOptions,
  something,
  type Table,
  whole,
} from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Connector } from './connector.ts'
import { undiciConnector } from './undici.ts'

/** Options of {@link upstream}. */
export interface UpstreamOptions {
  /** Name in logs and metrics. */
  name: string
  /** Origins, each `http://host[:port]` or `https://host[:port]`, with a base path where the server has one. */
  targets: readonly string[]
  /** Connections kept to each target at most. Default 128. */
  connections?: number
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
  }
  tls?: {
    /** Certificates that may sign the targets' own, instead of the system's. Verification can't be turned off. */
    ca?: string | Buffer | readonly (string | Buffer)[]
  }
}

type Timeouts = NonNullable<UpstreamOptions['timeouts']>
type Tls = NonNullable<UpstreamOptions['tls']>

const anObject = something(
  'an object',
  value => typeof value === 'object' && value !== null && !Array.isArray(value),
)
const RULES: Table<UpstreamOptions> = {
  name: needed(label),
  targets: needed(
    something(
      'an array of URLs with one at least',
      targets => Array.isArray(targets) && targets.length > 0,
      "Write targets: ['http://127.0.0.1:3000'].",
    ),
  ),
  connections: whole(1, 65_535),
  queue: whole(0, 1_000_000),
  keepAlive: milliseconds(1),
  timeouts: anObject,
  tls: anObject,
}
const TIMEOUT_RULES: Table<Timeouts> = {
  connect: milliseconds(1),
  head: milliseconds(1),
  idle: milliseconds(1),
  total: milliseconds(0),
}
const certificates: Rule = {
  check(place, value, faults) {
    const list: unknown[] = Array.isArray(value) ? value : [value]
    if (list.length > 0 && list.every(holdsCertificates)) return
    const fix = 'Pass PEM: -----BEGIN CERTIFICATE----- …'
    faults.push({ place, problem: 'it holds no certificate, or one that cannot be read', fix })
  },
}
const TLS_RULES: Table<Tls> = { ca: certificates }

/** Read as at the first connection, which would be too late to tell. */
function holdsCertificates(pem: unknown): boolean {
  if (typeof pem !== 'string' && !(pem instanceof Uint8Array)) return false
  const text = typeof pem === 'string' ? pem : Buffer.from(pem).toString('latin1')
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]*/g) ?? []
  try {
    return found.map(one => new X509Certificate(`${one}-----END CERTIFICATE-----`)).length > 0
  } catch {
    return false
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
  const named: unknown = (options as UpstreamOptions | null | undefined)?.name
  const place = typeof named === 'string' ? `upstream ${named}` : 'upstream'
  const given = readOptions<UpstreamOptions>(place, options, RULES, faults)
  const timeouts = readOptions<Timeouts>(`${place}.timeouts`, given.timeouts, TIMEOUT_RULES, faults)
  const settings = {
    connections: given.connections ?? 128,
    queue: given.queue ?? 1024,
    keepAlive: given.keepAlive ?? 4000,
    connectTimeout: timeouts.connect ?? 5000,
    headTimeout: timeouts.head ?? 20_000,
    idleTimeout: timeouts.idle ?? 30_000,
    tls: readOptions<Tls>(`${place}.tls`, given.tls, TLS_RULES, faults),
  }
  const totalTimeout = timeouts.total ?? 30_000
  const urls = (given.targets ?? []).map(text => readTargetUrl(text, place, faults))
  if (faults.length > 0) throw new ConfigError(faults)

  const targets = urls.map((url): Target => {
    const host = url!.hostname.replace(/^\[|\]$/g, '')
    const serverName = url!.protocol === 'https:' && isIP(host) === 0 ? host : null
    return {
      origin: url!.origin,
      authority: url!.host,
      basePath: url!.pathname === '/' ? '' : url!.pathname.replace(/\/$/, ''),
      connector: undiciConnector({ ...settings, origin: url!.origin, serverName }),
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
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : null
  const plain = url && !url.username && !url.password && !url.search && !url.hash && url.port !== '0'
  if (url && plain && (url.protocol === 'http:' || url.protocol === 'https:')) return url
  // Not the text itself: a URL may hold a password.
  faults.push({
    place: `${place}.targets`,
    problem: 'a target is not an http: or https: URL without user, query and fragment, or its port is 0',
    fix: 'Write http://host:port or https://host.',
  })
  return null
}
