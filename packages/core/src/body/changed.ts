/** What a head may still say once its content is another: B047. */
import { HeaderList } from '../headers/list.ts'

/** RFC 9110, 8.6 and 14.3; RFC 9530; RFC 3230; RFC 1864. */
const OF_THE_BYTES = new Set([
  'content-length',
  'content-md5',
  'content-digest',
  'repr-digest',
  'digest',
  'accept-ranges',
])

/**
 * Takes length, digests and the offer of ranges off, and makes the entity tag a weak one: what is sent means the same as what
 * the tag was made for, and is not the same bytes (RFC 9110, 8.8.1).
 */
export function contentChanged(headers: HeaderList): void {
  headers.deleteWhere(name => OF_THE_BYTES.has(name.toLowerCase()))
  weakenTag(headers)
}

/** Makes the entity tag a weak one; one that is none is taken off. */
export function weakenTag(headers: HeaderList): void {
  const tag = headers.get('etag')
  if (tag === undefined || tag.startsWith('W/"')) return
  if (tag.startsWith('"')) headers.set('ETag', `W/${tag}`)
  else headers.delete('etag')
}

/** A trailer section without the digests of what it is not behind any more. */
export function trailersOfChanged(trailers: HeaderList | undefined): HeaderList | undefined {
  if (trailers === undefined || !trailers.raw.some((name, i) => i % 2 === 0 && isOfTheBytes(name)))
    return trailers
  const rest = new HeaderList(trailers.raw.slice())
  rest.deleteWhere(isOfTheBytes)
  return rest
}

function isOfTheBytes(name: string): boolean {
  return OF_THE_BYTES.has(name.toLowerCase())
}
