/** Reads the options of a group: what is left has the right types, and its ranges are right. */
import { X509Certificate } from 'node:crypto'
import {
  callback,
  label,
  milliseconds,
  needed,
  oneOf,
  type Rule,
  readOptions,
  something,
  type Table,
  unchecked,
  whole,
} from '../config/check.ts'
import type { ConfigFault } from '../errors.ts'
import type { UpstreamOptions } from './options.ts'

type Timeouts = NonNullable<UpstreamOptions['timeouts']>
type Tls = NonNullable<UpstreamOptions['tls']>
type Http2 = NonNullable<UpstreamOptions['http2']>

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const anObject = something('an object', isObject)
const aSwitch = something('true, false or an object', value => typeof value === 'boolean' || isObject(value))

const RULES: Table<UpstreamOptions> = {
  name: needed(label),
  targets: needed(
    something(
      'an array of URLs with one at least',
      targets => Array.isArray(targets) && targets.length > 0,
      "Write targets: ['http://127.0.0.1:3000'].",
    ),
  ),
  balance: unchecked,
  sticky: aSwitch,
  slowStart: milliseconds(0),
  health: anObject,
  dns: aSwitch,
  onChange: callback,
  connections: whole(1, 65_535),
  warm: whole(0, 65_535),
  queue: whole(0, 1_000_000),
  keepAlive: milliseconds(1),
  drainTimeout: milliseconds(1),
  timeouts: anObject,
  tls: anObject,
  protocol: oneOf('h1', 'h2', 'h2c', 'auto'),
  http2: anObject,
  tunnels: whole(0, 1_000_000),
}

const TIMEOUT_RULES: Table<Timeouts> = {
  connect: milliseconds(1),
  head: milliseconds(1),
  idle: milliseconds(1),
  total: milliseconds(0),
  tunnel: milliseconds(0),
}

const HTTP2_RULES: Table<Http2> = {
  streams: whole(1, 10_000),
  idle: milliseconds(1),
  pingAfter: milliseconds(0),
  pingTimeout: milliseconds(1),
}

const certificates: Rule = {
  check(place, value, faults) {
    const list: unknown[] = Array.isArray(value) ? value : [value]
    if (list.length > 0 && list.every(holdsCertificates)) return
    const fix = 'Pass PEM: -----BEGIN CERTIFICATE----- …'
    faults.push({ place, problem: 'it holds no certificate, or one that cannot be read', fix })
  },
}

const pem = something(
  'PEM as a string or a buffer',
  value => (typeof value === 'string' && value !== '') || value instanceof Uint8Array,
)

const TLS_RULES: Table<Tls> = {
  ca: certificates,
  servername: unchecked,
  cert: pem,
  key: pem,
  passphrase: something('a string', value => typeof value === 'string'),
}

/** The options that keep their rules, and the place that faults name. */
export function readUpstream(
  options: unknown,
  faults: ConfigFault[],
): { place: string; given: UpstreamOptions } {
  const named: unknown = (options as UpstreamOptions | null | undefined)?.name
  const place = typeof named === 'string' ? `upstream ${named}` : 'upstream'
  const given = readOptions<UpstreamOptions>(place, options, RULES, faults)
  return {
    place,
    given: {
      ...(given as UpstreamOptions),
      timeouts: readOptions<Timeouts>(`${place}.timeouts`, given.timeouts, TIMEOUT_RULES, faults),
      tls: readOptions<Tls>(`${place}.tls`, given.tls, TLS_RULES, faults),
      http2: readOptions<Http2>(`${place}.http2`, given.http2, HTTP2_RULES, faults),
    },
  }
}

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
