/** Which fields are stored, and how a 304 or a HEAD changes them (RFC 9111, 3.1 and 3.2). */
import { HeaderList } from '@postern/core'

/** Of one hop; the proxy has left them out, other handlers may not have. */
const NEVER_STORED = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // Counted anew for each reader.
  'age',
  'cache-status',
])

/** What describes the stored bytes, and so stays with them. */
const NEVER_UPDATED = new Set(['content-length', 'content-encoding', 'content-range', 'transfer-encoding'])

/** Fields to store: without those of a hop, those that directives withhold, and a doubtful `Content-Length`. */
export function storedFields(headers: HeaderList, withheld: readonly string[]): string[] {
  const out: string[] = []
  const nominated = headers.joined('connection')
  const hidden = nominated ? nominated.split(',').map(name => name.trim().toLowerCase()) : []
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    if (NEVER_STORED.has(lower) || withheld.includes(lower) || hidden.includes(lower)) continue
    out.push(name, value)
  }
  return out
}

/**
 * The stored fields as a newer head changes them: each name that it gives replaces all lines of that name.
 * @param without names, lower case, that are not taken over.
 */
export function updatedFields(
  stored: readonly string[],
  newer: HeaderList,
  without: readonly string[] = [],
): string[] {
  const fresh = new HeaderList(storedFields(newer, without))
  fresh.deleteWhere(name => NEVER_UPDATED.has(name.toLowerCase()))
  const names = new Set<string>()
  for (const [name] of fresh) names.add(name.toLowerCase())
  const out: string[] = []
  for (let i = 0; i < stored.length; i += 2)
    if (!names.has(stored[i]!.toLowerCase())) out.push(stored[i]!, stored[i + 1]!)
  return [...out, ...fresh.raw]
}

/** True when a 200 to a HEAD describes the stored response (RFC 9111, 4.3.5). */
export function headDescribes(head: HeaderList, stored: HeaderList): boolean {
  return ['etag', 'last-modified', 'content-length'].every(name => {
    const told = head.get(name)
    return told === undefined || told === stored.get(name)
  })
}
