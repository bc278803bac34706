/** What options of a group have to be, before their parts are looked at. */
import { X509Certificate } from 'node:crypto'
import {
  callback,
  label,
  milliseconds,
  needed,
  oneOf,
  type Rule,
  something,
  type Table,
  unchecked,
  whole,
} from '../config/check.ts'
import type { UpstreamOptions } from './options.ts'

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object with options of its own. */
export const object: Rule = something('an object', isObject)

const switched: Rule = something(
  'true, false or an object',
  value => typeof value === 'boolean' || isObject(value),
)

/** Statuses that mean a failure. */
export const statuses: Rule = something(
  'an array of statuses from 400 to 599',
  value => Array.isArray(value) && value.every(one => Number.isInteger(one) && one >= 400 && one <= 599),
)

/** Rules of `upstream()`. */
export const RULES: Table<UpstreamOptions> = {
  name: needed(label),
  targets: needed(
    something(
      'an array of targets with one at least',
      targets => Array.isArray(targets) && targets.length > 0,
      "Write targets: ['http://127.0.0.1:3000'].",
    ),
  ),
  balance: unchecked,
  sticky: switched,
  slowStart: milliseconds(0),
  health: object,
  dns: switched,
  onChange: callback,
  protocol: oneOf('h1', 'h2', 'h2c', 'auto'),
  http1: oneOf('wire', 'undici'),
  http2: object,
  tunnels: whole(0, 1_000_000),
  connections: whole(1, 65_535),
  warm: whole(0, 65_535),
  queue: whole(0, 1_000_000),
  keepAlive: milliseconds(1),
  drainTimeout: milliseconds(1),
  timeouts: object,
  tls: object,
}

/** Certificates, read as at the first connection, which would be too late to tell. */
export const certificates: Rule = {
  check(place, value, faults) {
    const list: unknown[] = Array.isArray(value) ? value : [value]
    if (list.length > 0 && list.every(holdsCertificates)) return
    const fix = 'Pass PEM: -----BEGIN CERTIFICATE----- …'
    faults.push({ place, problem: 'it holds no certificate, or one that cannot be read', fix })
  },
}

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
