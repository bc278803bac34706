/** Field lists as node:http2 wants them. */
import type { OutgoingHttpHeaders } from 'node:http2'
import type { HeaderList } from '../../headers/list.ts'
import { isHopField } from '../../headers/names.ts'

/** Fields that node:http2 sends once only. The value says what becomes of a second line. */
const ONCE: Readonly<Record<string, 'join' | 'first'>> = Object.assign(Object.create(null), {
  // Lists by their definition: one line says what several do (RFC 9110, 5.3).
  'content-encoding': 'join',
  'content-language': 'join',
  'if-match': 'join',
  'if-none-match': 'join',
  // One value only. The first is what filters read, what node:http takes, and for Age what RFC 9111, 5.1 says.
  ...Object.fromEntries(
    [
      ...['access-control-allow-credentials', 'access-control-max-age', 'access-control-request-method'],
      ...['age', 'authorization', 'content-length', 'content-location', 'content-md5', 'content-range'],
      ...['content-type', 'date', 'dnt', 'etag', 'expires', 'from', 'host', 'if-modified-since', 'if-range'],
      ...['if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'proxy-authorization'],
      ...['range', 'referer', 'retry-after', 'tk', 'upgrade-insecure-requests', 'user-agent'],
      'x-content-type-options',
    ].map(name => [name, 'first']),
  ),
})

/** Lower case, duplicates as arrays or merged, none that belongs to a connection (RFC 9113, 8.2.2). */
export function fieldsOf(headers: HeaderList): OutgoingHttpHeaders {
  const fields: Record<string, string | string[]> = Object.create(null)
  const { raw } = headers
  for (let i = 0; i < raw.length; i += 2) {
    if (isHopField(raw[i]!)) continue
    const name = raw[i]!.toLowerCase()
    const value = raw[i + 1]!
    const before = fields[name]
    if (before === undefined) fields[name] = value
    else if (typeof before === 'string') fields[name] = second(name, before, value)
    else before.push(value)
  }
  return fields
}

function second(name: string, before: string, value: string): string | string[] {
  const rule = ONCE[name]
  if (rule === undefined) return [before, value]
  return rule === 'join' ? `${before}, ${value}` : before
}
