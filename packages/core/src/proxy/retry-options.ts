/** Options of retries. */
import { assertMilliseconds, assertWhole } from '../config/check.ts'
import type { ConfigFault } from '../errors.ts'
import { RetryBudget } from './retry-budget.ts'

/** When a request is sent again. See docs/retries.md. */
export interface RetryOptions {
  /** Attempts in all, the first one too, 1 to 10; default 3. */
  attempts?: number
  /** Retries that 100 requests earn, for retries of what may have been processed; default 20. */
  budget?: number
  /** Such retries a second that cost nothing of it; default 10. */
  perSecond?: number
  /**
   * Statuses of 502, 503 and 504 after which a GET, HEAD or OPTIONS without a body is sent to another target; default none. If
   * there is no other, a 503 with `Retry-After` is waited for.
   */
  statuses?: readonly (502 | 503 | 504)[]
  /** Longest `Retry-After` that is waited for, in ms; default 1000. A longer one is passed on to the client. */
  maxWait?: number
}

/** Checked options. */
export interface RetryPolicy {
  readonly attempts: number
  readonly budget: RetryBudget
  readonly statuses: ReadonlySet<number>
  readonly maxWait: number
}

const OPTIONS = ['attempts', 'budget', 'perSecond', 'statuses', 'maxWait']

/** The policy, or `null` for none. */
export function checkRetry(
  given: RetryOptions | false | undefined,
  faults: ConfigFault[],
): RetryPolicy | null {
  if (given === false) return null
  const options = given ?? {}
  for (const name of Object.keys(options)) {
    if (!OPTIONS.includes(name)) {
      const fix = `Known are ${OPTIONS.join(', ')}.`
      faults.push({ place: `proxy.retry.${name}`, problem: 'there is no such option', fix })
    }
  }
  const statuses: readonly number[] = options.statuses ?? []
  for (const status of statuses) {
    if (status < 502 || status > 504) {
      faults.push({
        place: 'proxy.retry.statuses',
        problem: `${status} is no status to retry`,
        fix: 'Choose of 502, 503, 504.',
      })
    }
  }
  return {
    attempts: assertWhole('proxy.retry.attempts', options.attempts ?? 3, 1, 10, faults),
    budget: new RetryBudget(
      assertWhole('proxy.retry.budget', options.budget ?? 20, 0, 100, faults),
      assertWhole('proxy.retry.perSecond', options.perSecond ?? 10, 0, 10_000, faults),
    ),
    statuses: new Set(statuses),
    maxWait: assertMilliseconds('proxy.retry.maxWait', options.maxWait ?? 1000, 0, faults),
  }
}
