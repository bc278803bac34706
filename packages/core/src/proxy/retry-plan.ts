/** Whether a request that failed may be sent again. */
import type { ProxyError } from '../errors.ts'

/** What is known of the request that failed. */
export interface RetryFacts {
  readonly method: string
  readonly hasBody: boolean
  /** A byte of the body has been asked for: it can't be had again. */
  readonly bodyBegun: boolean
  /** The client has got an interim response of this attempt. */
  readonly informed: boolean
  /** It was sent again before because its connection was stale. */
  readonly refreshed: boolean
}

/**
 * - `'no'`: not again
 * - `'other'`: to another target; nothing of it can have been processed, so it costs nothing of the budget
 * - `'fresh'`: to the same target over a new connection; the old one was closed before a byte of an answer
 * - `'paid'`: to another target, from the budget; it may have been processed, and may be processed twice
 */
export type RetryPlan = 'no' | 'other' | 'fresh' | 'paid'

/** RFC 9110, 9.2.2: twice is like once. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Failures after which another target may do better. Not time-outs: the time is used up, and a slow server gets no slower load. */
const WORTH_IT = new Set(['upstream-reset', 'stale-socket', 'bad-reply'])

/** The plan for a failure before the reply's head. */
export function planRetry(error: ProxyError, facts: RetryFacts): RetryPlan {
  if (error.source === 'client' || facts.bodyBegun || facts.informed) return 'no'
  if (error.retryable) return 'other'
  if (error.source !== 'upstream') return 'no'
  if (error.code === 'stale-socket' && !facts.refreshed && IDEMPOTENT.has(facts.method)) return 'fresh'
  return isSafe(facts) && WORTH_IT.has(error.code) ? 'paid' : 'no'
}

/** May be processed twice without harm: a safe method without a body. */
export function isSafe({ method, hasBody }: Pick<RetryFacts, 'method' | 'hasBody'>): boolean {
  return !hasBody && SAFE.has(method)
}
