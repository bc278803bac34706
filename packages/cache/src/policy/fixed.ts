/**
 * Fingerprinted assets: what is under such a URL never changes, so it is asked for once, without credentials, and kept
 * for a year (RFC 8246 calls it immutable).
 */
import type { HeaderList } from '@postern/core'
import { responseDirectives } from './targeted.ts'

const FOREVER = 'public, max-age=31536000, immutable'
const CREDENTIALS = new Set(['cookie', 'authorization'])

/** Fields of a request for such an asset: whose it is must not matter. */
export function withoutCredentials(request: HeaderList): HeaderList {
  const headers = request.clone()
  headers.deleteWhere(name => CREDENTIALS.has(name.toLowerCase()))
  return headers
}

/**
 * Writes the lifetime into the head of an answer, where it looks like an asset: a 200 that is no HTML page, sets no
 * cookie, and that the origin does not want kept from caches.
 */
export function fixLifetime(status: number, headers: HeaderList, targets: readonly string[]): boolean {
  if (status !== 200 || headers.has('set-cookie')) return false
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headers.get('content-type') ?? 'text/html'))
    return false
  const { noStore, isPrivate, noCache } = responseDirectives(headers, targets).directives
  if (noStore || isPrivate || noCache) return false
  for (const name of [...targets, 'expires', 'pragma', 'age']) headers.delete(name)
  headers.set('Cache-Control', FOREVER)
  return true
}
