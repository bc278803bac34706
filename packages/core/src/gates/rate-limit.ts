/** Limits how many requests a client may send in a time: a token bucket each. */
import {
  callback,
  flag,
  milliseconds,
  needed,
  type Rule,
  readOptions,
  show,
  something,
  whole,
} from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { isThenable } from '../pipeline/answer.ts'
import type { Context, Filter, Reply, ReplyHead, Verdict } from '../pipeline/contract.ts'
import { refuse } from '../reply.ts'
import { CLIENT_KEY_RULES, type ClientKeyOptions, clientKey } from './client-key.ts'
import { memoryRateStore, type RateDecision, type RateLimitStore } from './rate-store.ts'

/** Slower than this is no limit but a ban. */
const SLOWEST = 0.000001
const FASTEST = 1_000_000
/** Milliseconds between two warnings about a store. */
const WARN_EVERY = 60_000

/** Options of {@link rateLimit}. */
export interface RateLimitOptions<Field extends string = 'rate'> extends ClientKeyOptions {
  /** Requests a second in the long run, 0.000001 to 1 000 000; 0.1 is one in ten seconds. */
  perSecond: number
  /** Requests at once before the rate counts. Default: `perSecond`, at least 1. */
  burst?: number
  /** Name of the policy in the fields, and of the gate in the log; default `default`. */
  name?: string
  /** State field of this gate; default `rate`. Two limits in one pipeline need two fields. */
  as?: Field
  /** Write `RateLimit` and `RateLimit-Policy` on replies that pass too; default true. */
  headers?: boolean
  /** Clients that are remembered; default 100 000. See {@link memoryRateStore} for what happens beyond. */
  maxClients?: number
  /** Where the buckets live; default in this process. Limits with different names do not share buckets in one store. */
  store?: RateLimitStore
  /** How long the store may think, in ms; then the request passes as if the store had failed. Default 250. */
  storeTimeout?: number
  /** Milliseconds, growing; default `performance.now`. */
  clock?: () => number
}

const perSecondRule: Rule = {
  check(place, value, faults) {
    if (typeof value === 'number' && value >= SLOWEST && value <= FASTEST) return
    faults.push({
      place,
      problem: `${show(value)} is no number from ${SLOWEST} to ${FASTEST}`,
      fix: 'Write requests a second.',
    })
  },
}
const nameRule: Rule = {
  check(place, value, faults) {
    if (typeof value === 'string' && /^[\w-]{1,64}$/.test(value) && !(value in {})) return
    faults.push({ place, problem: 'it is not 1 to 64 letters, digits, - or _', fix: 'Rename it.' })
  },
}
const RULES = {
  ...CLIENT_KEY_RULES,
  perSecond: needed(perSecondRule),
  burst: whole(1, 10_000_000),
  name: nameRule,
  as: nameRule,
  headers: flag,
  maxClients: whole(1, 10_000_000),
  store: something(
    'a store',
    store => typeof (store as RateLimitStore | null)?.take === 'function',
    'Pass an object with take().',
  ),
  storeTimeout: milliseconds(1),
  clock: callback,
}

/** State of the gate: what the store decided; `null` before that. */
export type RateLimitState<Field extends string> = { [K in Field]: RateDecision | null }

/**
 * Refuses a client whose bucket is empty: 429 (RFC 6585, 4), reason `rate-limit`, with `Retry-After` in whole seconds and
 * the fields `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers). A store that fails, or takes longer
 * than `storeTimeout`, lets the request pass: a broken counter must not take the site down. A warning of the process tells
 * it, once a minute.
 * @example pipeline().use(rateLimit({ perSecond: 50, burst: 100 }))
 * @throws ConfigError with every fault of the options.
 */
export function rateLimit<const Field extends string = 'rate'>(
  options: RateLimitOptions<Field>,
): Filter<object, RateLimitState<Field>> {
  const faults: ConfigFault[] = []
  const given = readOptions<RateLimitOptions<Field>>('rateLimit', options, RULES, faults)
  const { perSecond = 1, name = 'default', headers = true, clock = () => performance.now() } = given
  const { burst = Math.max(1, Math.ceil(perSecond)), maxClients = 100_000, storeTimeout = 250 } = given
  const field = given.as ?? ('rate' as Field)
  const keyOf = clientKey(given, 'rateLimit', faults)
  if (faults.length > 0) throw new ConfigError(faults)

  const store = given.store ?? memoryRateStore(maxClients)
  const bucket = { perSecond, burst }
  // Kinds of keys end in a colon, names in a slash: a client of one limit never reads like one of another.
  const scope = given.store && name !== 'default' ? `${name}/` : ''
  // The window in which the whole quota comes back.
  const policy = `"${name}";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`

  function decide(
    cx: Context<RateLimitState<Field>>,
    decision: RateDecision,
    now: number,
  ): Reply | undefined {
    if (!isDecision(decision)) return passUncounted(now, new TypeError('no decision'))
    ;(cx.state as Record<Field, RateDecision>)[field] = decision
    if (decision.allowed) return undefined
    return refuse(429, 'rate-limit', { 'Retry-After': seconds(decision.wait) })
  }

  let warnedAt = Number.NEGATIVE_INFINITY
  /** Tells the kind of error only: messages of stores may hold addresses and passwords. */
  function passUncounted(now: number, error: unknown): undefined {
    if (now - warnedAt < WARN_EVERY) return
    warnedAt = now
    const kind = error instanceof Error ? error.name : typeof error
    process.emitWarning(
      `rate limit '${name}' counts nothing: its store fails (${kind})`,
      'PosternStoreWarning',
    )
  }

  return {
    name: name === 'default' ? 'rate-limit' : `rate-limit:${name}`,
    state: () => ({ [field]: null }) as RateLimitState<Field>,
    onRequest: function takeToken(cx: Context<RateLimitState<Field>>): Verdict {
      const key = scope + keyOf(cx)
      const now = clock()
      let decision: RateDecision | PromiseLike<RateDecision>
      try {
        decision = store.take(key, bucket, now)
      } catch (error) {
        return passUncounted(now, error)
      }
      if (!isThenable(decision)) return decide(cx, decision, now)
      return within(storeTimeout, decision).then(
        made => decide(cx, made, now),
        error => passUncounted(now, error),
      )
    },
    onReply: function tellRate(cx: Context<RateLimitState<Field>>, head: ReplyHead): undefined {
      const decision = cx.state[field]
      if (decision === null || (!headers && decision.allowed)) return
      const { allowed, wait } = decision
      const remaining = Math.max(0, Math.min(burst, Math.floor(decision.remaining))) || 0
      const reset = allowed ? ((burst - remaining) * 1000) / perSecond : wait
      head.headers.raw.push(
        'RateLimit-Policy',
        policy,
        'RateLimit',
        `"${name}";r=${remaining};t=${seconds(reset)}`,
      )
    },
  }
}

/** The promise, or a rejection when it takes longer than `limit` ms. */
function within<T>(limit: number, promise: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new StoreTimeout()), limit)
    promise.then(
      value => {
        clearTimeout(timer)
        resolve(value)
      },
      error => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

class StoreTimeout extends Error {
  override readonly name = 'StoreTimeout'
}

function isDecision(value: RateDecision | null | undefined): boolean {
  return (
    typeof value?.allowed === 'boolean' &&
    typeof value.remaining === 'number' &&
    typeof value.wait === 'number'
  )
}

/** Whole seconds, at least 1 and never more digits than an integer of a structured field may have (RFC 9651, 3.3.1). */
function seconds(milliseconds: number): number {
  return milliseconds > 1000 ? Math.min(Math.ceil(milliseconds / 1000), 999_999_999_999_999) : 1
}
