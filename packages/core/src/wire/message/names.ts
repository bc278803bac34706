/** Field names as they were spelt, each spelling one string: it is made once, and its kind is looked up once. */
import { latin1 } from '../../body/latin1.ts'
import { kindOf } from '../../headers/names.ts'

/** A spelling of a field name. */
export interface FieldName {
  readonly text: string
  /** What a proxy has to know of it: see `headers/names.ts`. */
  readonly kind: number
  /** The spelling as bytes. */
  readonly bytes: Uint8Array
}

/** Places for spellings. One that comes later takes the place of another with the same hash. */
const SLOTS = 2048
/** Longer names are made anew each time. */
const LONGEST = 64

const slots: (FieldName | null)[] = new Array<FieldName | null>(SLOTS).fill(null)
/** Those that nobody can push out by sending others. */
const fixed = new Set<FieldName>()

/** The hash that {@link fieldName} wants: start with 0, and add each byte. */
export function addToHash(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0
}

/** The name that stands at `from` to `to`, all of it token characters. `hash` is that of its bytes. */
export function fieldName(bytes: Uint8Array, from: number, to: number, hash: number): FieldName {
  const slot = (hash ^ (hash >>> 11)) & (SLOTS - 1)
  const known = slots[slot]!
  if (known !== null && isSame(known.bytes, bytes, from, to)) return known
  const own = bytes.slice(from, to)
  const text = latin1(own)
  const made: FieldName = { text, kind: kindOf(text), bytes: own }
  if (own.length <= LONGEST && (known === null || !fixed.has(known))) slots[slot] = made
  return made
}

function isSame(known: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  const { length } = known
  if (length !== to - from) return false
  for (let i = 0; i < length; i++) if (known[i] !== bytes[from + i]) return false
  return true
}

const COMMON = `Accept Accept-Encoding Accept-Language Accept-Ranges Access-Control-Allow-Origin Age Authorization
Cache-Control Connection Content-Encoding Content-Language Content-Length Content-Security-Policy Content-Type Cookie Date
ETag Expect Expires Host If-Match If-Modified-Since If-None-Match If-Range Keep-Alive Last-Modified Link Location Origin
Pragma Range Referer Retry-After Sec-Fetch-Dest Sec-Fetch-Mode Sec-Fetch-Site Server Server-Timing Set-Cookie
Strict-Transport-Security TE Trailer Transfer-Encoding Upgrade Upgrade-Insecure-Requests User-Agent Vary Via
WWW-Authenticate X-Content-Type-Options X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto X-Frame-Options X-Powered-By
X-Request-ID X-Requested-With`

for (const name of COMMON.split(/\s+/)) {
  for (const spelling of [name, name.toLowerCase()]) {
    const bytes = new Uint8Array(Buffer.from(spelling, 'latin1'))
    fixed.add(fieldName(bytes, 0, bytes.length, bytes.reduce(addToHash, 0)))
  }
}
