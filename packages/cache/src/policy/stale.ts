/** When a stale response may be used all the same (RFC 9111, 4.2.4; RFC 5861). */
import type { Directives } from './directives.ts'

/** Why one would like to. */
export type StaleOccasion =
  /** The origin answered 500, 502, 503 or 504. */
  | 'error'
  /** The origin could not be reached, or broke off before its head. */
  | 'unreachable'
  /** A revalidation goes on in the background. */
  | 'revalidating'

/** Rules of the operator, in seconds; what the origin forbids stays forbidden. */
export interface StaleRules {
  /** For responses that do not say `stale-if-error` themselves. */
  readonly ifError: number
  /** When the origin is out of reach. */
  readonly ifUnreachable: number
  /** For responses that do not say `stale-while-revalidate` themselves. */
  readonly whileRevalidate: number
}

/** True when the origin forbids every use without validation. `s-maxage` implies `proxy-revalidate` (5.2.2.10). */
export function forbidsStale(said: Directives): boolean {
  return said.mustRevalidate || said.proxyRevalidate || said.noCache || said.sMaxage !== null
}

/** True when a response that has been stale for `staleness` seconds may be used. */
export function mayUseStale(
  occasion: StaleOccasion,
  staleness: number,
  said: Directives,
  requestStaleIfError: number | null,
  rules: StaleRules,
): boolean {
  // Said explicitly, it is a permission of its own beside s-maxage, but never beside must-revalidate.
  const strict = said.mustRevalidate || said.proxyRevalidate || said.noCache
  if (strict) return false
  const implied = said.sMaxage !== null
  switch (occasion) {
    case 'revalidating':
      return staleness <= (said.staleWhileRevalidate ?? (implied ? 0 : rules.whileRevalidate))
    case 'error':
      return staleness <= errorWindow(said, requestStaleIfError, implied ? 0 : rules.ifError)
    case 'unreachable': {
      const most = errorWindow(said, requestStaleIfError, implied ? 0 : rules.ifError)
      return staleness <= Math.max(most, implied ? 0 : rules.ifUnreachable)
    }
  }
}

function errorWindow(said: Directives, asked: number | null, fallback: number): number {
  return Math.max(said.staleIfError ?? fallback, said.sMaxage === null ? (asked ?? 0) : 0)
}
