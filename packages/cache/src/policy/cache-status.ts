/** `Cache-Status` (RFC 9211): how a cache handled a request, in one line. */

/** Why a request was forwarded (RFC 9211, 2.2). */
export type ForwardReason =
  | 'bypass'
  | 'method'
  | 'uri-miss'
  | 'vary-miss'
  | 'request'
  | 'stale'
  | 'partial'
  | 'miss'

/** What became of a request. */
export interface CacheDecision {
  /** `hit`: answered from what is stored. `stale`: so too, although it is. `revalidated`: the origin said 304.
   * `joined`: somebody else's fetch. `miss`: fetched. `bypass`: this cache had no part in it. */
  readonly status: 'hit' | 'stale' | 'revalidated' | 'joined' | 'miss' | 'bypass'
  /** A short word for log and metrics: why it was forwarded, or why it is not stored. `''` for a plain hit. */
  readonly reason: string
  readonly forward: ForwardReason | null
  /** Status of the origin's answer, when it differs from what was sent. */
  readonly forwardStatus: number | null
  /** Seconds of freshness that are left; negative when stale. `null` where there is nothing to count. */
  readonly ttl: number | null
  readonly stored: boolean
}

/** The field's value. `name` is a token; `reason` holds nothing but the words of this package. */
export function cacheStatus(name: string, decision: CacheDecision): string {
  const { forward, ttl, status } = decision
  let line = name
  if (status === 'hit' || status === 'stale') line += '; hit'
  else if (forward !== null) line += `; fwd=${forward}`
  if (decision.forwardStatus !== null) line += `; fwd-status=${decision.forwardStatus}`
  if (decision.stored) line += '; stored'
  if (status === 'joined') line += '; collapsed'
  if (ttl !== null) line += `; ttl=${Math.trunc(ttl)}`
  if (decision.reason !== '' && decision.reason !== forward) line += `; detail=${decision.reason}`
  return line
}
