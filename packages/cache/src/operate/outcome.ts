/** Makes what the cache decided part of the exchange: for the access log and for filters. */
import type { Filter } from '@postern/core'
import type { CacheDecision } from '../policy/cache-status.ts'

/** State that {@link cacheOutcome} adds. */
export interface CacheOutcomeState {
  /** What the cache decided; `null` where no cache was asked. */
  cache: CacheDecision | null
}

/**
 * A place in the state for the decision of whatever cache stands behind it. The access log then tells hit, miss or bypass,
 * and why.
 * @example pipeline().use(accessLog()).use(cacheOutcome()).wrap(cache())
 */
export function cacheOutcome(): Filter<object, CacheOutcomeState> {
  return { name: 'cache-outcome', state: () => ({ cache: null }) }
}
