/** Where token buckets live. In memory here; elsewhere when many machines share them. */
import QuickLRU from 'quick-lru'
import { assertWhole } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Awaitable } from '../pipeline/contract.ts'

/** A bucket: `burst` tokens at most, `perSecond` new ones. */
export interface Bucket {
  readonly perSecond: number
  readonly burst: number
}

/** What a store decided. */
export interface RateDecision {
  readonly allowed: boolean
  /** Whole tokens left. */
  readonly remaining: number
  /** Milliseconds until a token is there; 0 when one is. */
  readonly wait: number
}

/** Takes tokens. One call is one decision; it must be atomic for a key. */
export interface RateLimitStore {
  /** `now` in milliseconds, growing. */
  take(key: string, bucket: Bucket, now: number): Awaitable<RateDecision>
}

/**
 * Buckets in this process. Two lists: clients that were refused and are not full again, and all others. Each remembers
 * at least the `maxClients` that were seen last, twice as many at most; the oldest go first. A bucket that is forgotten
 * starts full again. One that is not empty is forgotten when `maxClients` other clients have come since; an empty one only
 * when as many others have emptied theirs, so a flood of fresh names does not free who is refused.
 * @throws ConfigError for a `maxClients` that is no whole number from 1 to 10 000 000.
 */
export function memoryRateStore(maxClients: number): RateLimitStore {
  const faults: ConfigFault[] = []
  assertWhole('memoryRateStore', maxClients, 1, 10_000_000, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  // One number a client: the time at which its bucket will be full (GCRA).
  const passing = new QuickLRU<string, number>({ maxSize: maxClients })
  const refused = new QuickLRU<string, number>({ maxSize: maxClients })
  return {
    take(key, { perSecond, burst }, now) {
      const interval = 1000 / perSecond
      const blocked = refused.get(key)
      const full = Math.max(blocked ?? passing.get(key) ?? 0, now)
      const missing = (full - now) / interval
      // The tolerance keeps rounding from refusing a token that is there.
      if (missing + 1 > burst + 1e-9) {
        if (blocked === undefined) {
          passing.delete(key)
          refused.set(key, full)
        }
        return { allowed: false, remaining: 0, wait: (missing + 1 - burst) * interval }
      }
      if (blocked !== undefined && missing === 0) refused.delete(key)
      const list = blocked !== undefined && missing > 0 ? refused : passing
      list.set(key, full + interval)
      return { allowed: true, remaining: Math.floor(burst - missing - 1 + 1e-9), wait: 0 }
    },
  }
}
