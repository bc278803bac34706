/** Checks the options of a group and fills in the defaults. */
import { assertMilliseconds, assertWhole } from '../config/check.ts'
import type { ConfigFault } from '../errors.ts'
import { normaliseAuthority } from '../headers/authority.ts'
import { isFieldName } from '../headers/list.ts'
import type { Balancer } from './balance/balancer.ts'
import { consistentHash } from './balance/consistent-hash.ts'
import { leastRequests } from './balance/least-requests.ts'
import { roundRobin } from './balance/round-robin.ts'
import { twoChoices } from './balance/two-choices.ts'
import { weighted } from './balance/weighted.ts'
import { recordResolver, systemResolver } from './dns/resolver.ts'
import type { NameWatchSettings } from './dns/watch.ts'
import type { Balance, DnsOptions, TlsOptions, UpstreamOptions } from './options.ts'
import {
  checkProtocol,
  type Http2Settings,
  http2Settings,
  tunnelSettings,
  type UpstreamProtocol,
} from './protocol.ts'
import { Affinity, type StickyOptions } from './sticky.ts'

/** Adds a fault for every option with an unknown name. */
export function onlyKnown(
  place: string,
  options: object,
  known: readonly string[],
  faults: ConfigFault[],
): void {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      faults.push({
        place: `${place}.${name}`,
        problem: 'there is no such option',
        fix: `Known are ${known.join(', ')}.`,
      })
    }
  }
}

/** Times and sizes of the connections. */
export interface ConnectSettings {
  readonly connections: number
  readonly queue: number
  readonly keepAlive: number
  readonly connectTimeout: number
  readonly headTimeout: number
  readonly idleTimeout: number
  readonly warm: number
  readonly tls: TlsOptions
  readonly protocol: UpstreamProtocol
  readonly http2: Http2Settings
  readonly tunnels: number
  readonly tunnelIdle: number
}

export function checkConnect(
  options: UpstreamOptions,
  place: string,
  faults: ConfigFault[],
): ConnectSettings {
  const { timeouts = {}, tls = {} } = options
  onlyKnown(`${place}.timeouts`, timeouts, ['connect', 'head', 'idle', 'total', 'tunnel'], faults)
  onlyKnown(`${place}.tls`, tls, ['ca', 'servername', 'cert', 'key', 'passphrase'], faults)
  const add = (name: string, problem: string, fix: string): void =>
    void faults.push({ place: `${place}.tls.${name}`, problem, fix })
  const { servername, cert, key } = tls
  if ((cert === undefined) !== (key === undefined)) {
    add(cert === undefined ? 'cert' : 'key', 'it is missing', 'A client certificate needs both cert and key.')
  }
  if (
    servername !== undefined &&
    (typeof servername !== 'string' || !/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i.test(servername))
  ) {
    add('servername', 'it is no host name', 'Write the name that the certificate is for.')
  }
  const connections = assertWhole(`${place}.connections`, options.connections ?? 128, 1, 65_535, faults)
  return {
    connections,
    queue: assertWhole(`${place}.queue`, options.queue ?? 1024, 0, 1_000_000, faults),
    keepAlive: assertMilliseconds(`${place}.keepAlive`, options.keepAlive ?? 4000, 1, faults),
    connectTimeout: assertMilliseconds(`${place}.timeouts.connect`, timeouts.connect ?? 5000, 1, faults),
    headTimeout: assertMilliseconds(`${place}.timeouts.head`, timeouts.head ?? 20_000, 1, faults),
    idleTimeout: assertMilliseconds(`${place}.timeouts.idle`, timeouts.idle ?? 30_000, 1, faults),
    warm: assertWhole(`${place}.warm`, options.warm ?? 0, 0, connections, faults),
    tls,
    protocol: checkProtocol(options, place, faults),
    http2: http2Settings(options, place, faults),
    ...tunnelSettings(options, place, faults),
  }
}

export function checkBalance(
  given: Balance | undefined,
  place: string,
  hasWeights: boolean,
  slowStart: boolean,
  faults: ConfigFault[],
): Balancer {
  const balance = given !== undefined ? given : hasWeights ? 'weighted' : 'round-robin'
  switch (balance) {
    case 'round-robin':
      if (hasWeights) {
        faults.push({
          place: `${place}.balance`,
          problem: "'round-robin' does not look at weights",
          fix: "Write 'weighted', or leave the weights out.",
        })
      }
      return slowStart ? weighted() : roundRobin()
    case 'weighted':
      return weighted()
    case 'least-requests':
      return leastRequests()
    case 'peak-ewma':
      return twoChoices()
  }
  const by = typeof balance === 'object' && balance !== null ? balance.hash : undefined
  const name = typeof by === 'object' && by !== null ? ('cookie' in by ? by.cookie : by.header) : undefined
  if (
    by === undefined ||
    (by !== 'address' && typeof by !== 'function' && !(typeof name === 'string' && isFieldName(name)))
  ) {
    faults.push({
      place: `${place}.balance`,
      problem: 'it is no way of balancing',
      fix: "Write 'round-robin', 'weighted', 'least-requests', 'peak-ewma' or { hash: 'address' | { header } | { cookie } | function }.",
    })
    return roundRobin()
  }
  return consistentHash(by, hasWeights || slowStart ? weighted() : roundRobin())
}

export function checkSticky(
  given: boolean | StickyOptions | undefined,
  place: string,
  faults: ConfigFault[],
): Affinity | null {
  if (given === undefined || given === false) return null
  const options = given === true ? {} : given
  const add = (name: string, problem: string, fix: string): void =>
    void faults.push({ place: `${place}.sticky.${name}`, problem, fix })
  onlyKnown(`${place}.sticky`, options, ['cookie', 'secret', 'path', 'sameSite', 'secure', 'maxAge'], faults)
  const { cookie = 'sticky', secret, path = '/', sameSite = 'Lax', secure = 'auto', maxAge } = options
  if (typeof cookie !== 'string' || !isFieldName(cookie))
    add('cookie', 'it is no name of a cookie', "Write for example 'sticky'.")
  else if (/^__(?:host|secure)-/i.test(cookie) && secure !== true) {
    add('secure', `browsers drop ${cookie} without Secure`, 'Set secure: true.')
  } else if (/^__host-/i.test(cookie) && path !== '/') add('path', `${cookie} needs the path /`, "Write '/'.")
  if (
    secret !== undefined &&
    !((typeof secret === 'string' || secret instanceof Uint8Array) && secret.length >= 16)
  ) {
    add('secret', 'it has fewer than 16 bytes', 'Give a random one of 32.')
  }
  if (typeof path !== 'string' || !/^\/[!-:<-~]*$/.test(path))
    add('path', 'it is no path', "Write for example '/'.")
  if (!['Strict', 'Lax', 'None'].includes(sameSite))
    add('sameSite', 'it is unknown', "Write 'Strict', 'Lax' or 'None'.")
  else if (sameSite === 'None' && secure !== true)
    add('secure', 'browsers drop SameSite=None without Secure', 'Set secure: true.')
  if (secure !== 'auto' && typeof secure !== 'boolean')
    add('secure', 'it is unknown', "Write true, false or 'auto'.")
  if (maxAge !== undefined) assertWhole(`${place}.sticky.maxAge`, maxAge, 1, 34_560_000, faults)
  return new Affinity(options)
}

export function checkDns(
  given: boolean | DnsOptions | undefined,
  place: string,
  faults: ConfigFault[],
): NameWatchSettings | null {
  if (given === undefined || given === false) return null
  const options = given === true ? {} : given
  onlyKnown(`${place}.dns`, options, ['resolver', 'interval', 'minimum', 'timeout'], faults)
  const { resolver = 'system' } = options
  if (resolver !== 'system' && resolver !== 'records' && typeof resolver !== 'function') {
    faults.push({
      place: `${place}.dns.resolver`,
      problem: 'it is unknown',
      fix: "Write 'system', 'records' or a function.",
    })
  }
  const interval = assertMilliseconds(`${place}.dns.interval`, options.interval ?? 30_000, 1, faults)
  return {
    resolver: resolver === 'system' ? systemResolver : resolver === 'records' ? recordResolver : resolver,
    interval,
    minimum: assertWhole(
      `${place}.dns.minimum`,
      options.minimum ?? Math.min(1000, interval),
      1,
      Math.max(1, interval),
      faults,
    ),
    timeout: assertMilliseconds(`${place}.dns.timeout`, options.timeout ?? 5000, 1, faults),
  }
}

/** A value of `Host`. */
export function checkHost(place: string, host: string | undefined, faults: ConfigFault[]): void {
  if (host === undefined) return
  if (typeof host !== 'string' || normaliseAuthority(host, 'http') === null) {
    faults.push({ place, problem: 'it is no host[:port]', fix: 'Write the name that the server expects.' })
  }
}
