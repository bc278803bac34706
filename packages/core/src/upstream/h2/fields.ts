/** Fields on their way from and to HTTP/2 (RFC 9113, 8.2 and 8.3). */
import type { OutgoingHttpHeaders } from 'node:http2'
import { ProxyError } from '../../errors.ts'
import { isFieldName, isFieldValue } from '../../headers/list.ts'
import {
  CONNECTION,
  END_TO_END,
  HOP_BY_HOP,
  HOST,
  kindOf,
  TRANSFER_ENCODING,
  UPGRADE,
} from '../../headers/names.ts'
import type { OutgoingRequest } from '../connector.ts'

/** What an illegal field is: the request's own fault, told before it can harm a session that others share. */
const ILLEGAL = ''
/** Belongs to a connection of HTTP/1.1, or is written as a pseudo-field. */
const LEFT_OUT = null

const REMEMBERED = 2048
const spelled = new Map<string, string | null>()

/** A field name as HTTP/2 writes it; `null` to leave it out, `''` for an illegal one. */
function nameFor(name: string): string | null {
  const known = spelled.get(name)
  if (known !== undefined) return known
  const found = classify(name)
  if (spelled.size < REMEMBERED) spelled.set(name, found)
  return found
}

function classify(name: string): string | null {
  if (!isFieldName(name)) return ILLEGAL
  const kind = kindOf(name)
  const ofConnection =
    kind === CONNECTION || kind === HOP_BY_HOP || kind === TRANSFER_ENCODING || kind === UPGRADE
  return ofConnection || kind === HOST ? LEFT_OUT : name.toLowerCase()
}

/** List fields among those that node:http2 sends once only: several lines are one list (RFC 9110, 5.3). */
const LISTS = new Set(['if-match', 'if-none-match', 'content-encoding', 'content-language'])
/** The rest of them: two lines have two meanings, and the target could take either. */
const SINGLE = new Set([
  ...['access-control-request-method', 'authorization', 'content-length', 'content-location', 'content-md5'],
  ...[
    'content-range',
    'content-type',
    'date',
    'dnt',
    'etag',
    'expires',
    'from',
    'if-modified-since',
    'if-range',
  ],
  ...['if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'proxy-authorization', 'range'],
  ...['referer', 'retry-after', 'tk', 'upgrade-insecure-requests', 'user-agent', 'age'],
  ...['access-control-allow-credentials', 'access-control-max-age', 'x-content-type-options'],
])

/**
 * A request's head for node:http2. `Host` becomes `:authority`, a cookie line its crumbs (8.2.3), names lower case;
 * `TE` has been cut down to `trailers` before.
 * @throws ProxyError for a head that HTTP/2 can't carry.
 */
export function requestFields(request: OutgoingRequest, scheme: 'http' | 'https'): OutgoingHttpHeaders {
  const { headers, upgrade } = request
  const fields: Record<string, string | string[]> = Object.create(null)
  fields[':method'] = upgrade === undefined ? request.method : 'CONNECT'
  fields[':scheme'] = scheme
  fields[':authority'] = ''
  fields[':path'] = request.target
  if (upgrade !== undefined) fields[':protocol'] = upgrade
  for (let i = 0; i < headers.length; i += 2) {
    const name = nameFor(headers[i]!)
    const value = headers[i + 1]!
    if (name === ILLEGAL || !isFieldValue(value)) throw unsendable('bad-forward')
    if (name === LEFT_OUT) {
      if (kindOf(headers[i]!) === HOST) fields[':authority'] = value
    } else if (name === 'cookie') fields.cookie = crumbs(fields.cookie, value)
    else if (fields[name] === undefined) fields[name] = value
    else fields[name] = more(name, fields[name], value)
  }
  // An extended CONNECT proves nothing with a key: the stream cannot be taken for another (RFC 8441, 5).
  if (upgrade !== undefined) delete fields['sec-websocket-key']
  return fields
}

function more(name: string, before: string | string[], value: string): string | string[] {
  if (LISTS.has(name)) return `${before as string}, ${value}`
  if (SINGLE.has(name)) throw unsendable('bad-request')
  return [before, value].flat()
}

function crumbs(before: string | string[] | undefined, value: string): string | string[] {
  const parts = value.split('; ')
  return before === undefined ? (parts.length === 1 ? value : parts) : [before, parts].flat()
}

function unsendable(code: 'bad-forward' | 'bad-request'): ProxyError {
  const source = code === 'bad-request' ? 'client' : 'proxy'
  return new ProxyError({ source, phase: 'connect', code })
}

/** Field lines of a received block, in order, without pseudo-fields. */
export function receivedFields(raw: readonly string[]): string[] {
  let from = 0
  while (raw[from]?.startsWith(':')) from += 2
  return raw.slice(from)
}

/**
 * Trailers for node:http2: end-to-end fields that frame, route, identify and describe nothing, since some servers take
 * trailers for header fields (RFC 9110, 6.5.1). The rest is left out, and what is `withheld`.
 */
export function trailerFields(
  raw: readonly string[],
  withheld?: (name: string, value: string) => boolean,
): OutgoingHttpHeaders {
  const fields: Record<string, string | string[]> = Object.create(null)
  for (let i = 0; i < raw.length; i += 2) {
    const name = nameFor(raw[i]!)
    const value = raw[i + 1]!
    if (!name || kindOf(raw[i]!) !== END_TO_END || name === 'set-cookie' || !isFieldValue(value)) continue
    if (SINGLE.has(name) || LISTS.has(name) || withheld?.(name, value)) continue
    const before = fields[name]
    fields[name] = before === undefined ? value : [before, value].flat()
  }
  return fields
}
