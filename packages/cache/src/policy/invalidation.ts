/** Which stored responses a request makes invalid (RFC 9111, 4.4). */
import type { HeaderList } from '@postern/core'

/** Methods that change nothing (RFC 9110, 9.2.1). All others may. */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'REPORT', 'SEARCH', 'QUERY'])

export function isUnsafe(method: string): boolean {
  return !SAFE.has(method)
}

/** True for the answers that invalidate: not errors. */
export function invalidates(method: string, status: number): boolean {
  return isUnsafe(method) && status >= 200 && status < 400
}

/**
 * Targets (origin-form) that the answer to an unsafe request makes invalid beside its own: `Location` and
 * `Content-Location`, on the same scheme and authority alone, so that nobody invalidates another's.
 */
export function alsoInvalid(scheme: string, authority: string, target: string, reply: HeaderList): string[] {
  const found: string[] = []
  for (const name of ['location', 'content-location']) {
    const value = reply.get(name)
    const place = value === undefined ? null : sameOriginTarget(scheme, authority, target, value)
    if (place !== null && place !== target) found.push(place)
  }
  return found
}

/** A URI reference as a target on this origin, or `null` when it leads elsewhere or nowhere. */
export function sameOriginTarget(
  scheme: string,
  authority: string,
  target: string,
  reference: string,
): string | null {
  const base = `${scheme}://${authority}`
  if (!URL.canParse(reference, base + target) || !URL.canParse(base)) return null
  const url = new URL(reference, base + target)
  return url.origin === new URL(base).origin ? url.pathname + url.search : null
}
