/** How long a response may be used without asking (RFC 9111, 4.2.1). */
import type { HeaderList } from '@postern/core'
import { parseHttpDate } from './dates.ts'
import { MAX_SECONDS } from './directives.ts'
import { type HeuristicRules, heuristicLifetime } from './heuristic.ts'
import type { ResponseDirectives } from './targeted.ts'

/** Which rule gave the lifetime. */
export type FreshnessSource = 's-maxage' | 'max-age' | 'expires' | 'heuristic' | 'negative' | 'none'

/** A lifetime in seconds, and where it comes from. */
export interface Freshness {
  readonly seconds: number
  readonly source: FreshnessSource
}

/** Rules of the operator for responses that state no lifetime. */
export interface FreshnessRules {
  readonly heuristic: HeuristicRules
  /** Seconds by status. */
  readonly negative: ReadonlyMap<number, number>
}

/**
 * Lifetime of a response for a shared cache. `date` is its `Date`, or the time of receipt.
 * @param guess false where a guess must not be made: the request carried credentials, or the answer sets a cookie.
 */
export function freshnessOf(
  status: number,
  headers: HeaderList,
  said: ResponseDirectives,
  date: number,
  rules: FreshnessRules,
  guess: boolean,
): Freshness {
  const { sMaxage, maxAge, isPublic } = said.directives
  if (sMaxage !== null) return { seconds: sMaxage, source: 's-maxage' }
  if (maxAge !== null) return { seconds: maxAge, source: 'max-age' }
  if (!said.targeted) {
    const expires = headers.joined('expires')
    if (expires !== undefined) return { seconds: untilExpiry(expires, date), source: 'expires' }
  }
  if (!guess) return { seconds: 0, source: 'none' }
  const negative = rules.negative.get(status)
  if (negative !== undefined) return { seconds: negative, source: 'negative' }
  const modified = lastModifiedOf(headers)
  const guessed = heuristicLifetime(status, isPublic, modified, date, rules.heuristic)
  return guessed > 0 ? { seconds: guessed, source: 'heuristic' } : { seconds: 0, source: 'none' }
}

/** An invalid date is in the past, `0` above all (RFC 9111, 5.3). */
function untilExpiry(expires: string, date: number): number {
  const at = parseHttpDate(expires)
  return at === null ? 0 : Math.min(Math.max(0, (at - date) / 1000), MAX_SECONDS)
}

/** `Last-Modified` in milliseconds, or `null` when there is no valid one. */
export function lastModifiedOf(headers: HeaderList): number | null {
  const value = headers.get('last-modified')
  return value === undefined ? null : parseHttpDate(value)
}
