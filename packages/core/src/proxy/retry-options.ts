/** Options of retries. */
import { milliseconds, readOptions, something, type Table, whole } from '../config/check.ts'
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

const RULES: Table<RetryOptions> = {
  attempts: whole(1, 10),
  budget: whole(0, 100),
  perSecond: whole(0, 10_000),
  statuses: something(
    'an array of 502, 503 and 504',
    value => Array.isArray(value) && value.every(status => status >= 502 && status <= 504),
  ),
  maxWait: milliseconds(0),
}

/** The policy, or `null` for none. */
export function checkRetry(
  given: RetryOptions | false | undefined,
  faults: ConfigFault[],
): RetryPolicy | null {
  if (given === false) return null
  const options = readOptions<RetryOptions>('proxy.retry', given, RULES, faults)
  const { attempts = 3, budget = 20, perSecond = 10, statuses = [], maxWait = 1000 } = options
  return { attempts, budget: new RetryBudget(budget, perSecond), statuses: new Set(statuses), maxWait }
}
