/** Limits how many requests a client may send in a time: a token bucket each. */
import { assertWhole } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Awaitable, Context, Filter, Reply, ReplyHead, Verdict } from '../pipeline/contract.ts'
import { refuse } from '../reply.ts'
import { type ClientKeyOptions, clientKey } from './client-key.ts'
import { memoryRateStore, type RateDecision, type RateLimitStore } from './rate-store.ts'

/** Slower than this is no limit but a ban. */
const SLOWEST = 0.000001
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
  /** Milliseconds, growing; default `performance.now`. */
  clock?: () => number
}

/** State of the gate: what the store decided; `null` before that. */
export type RateLimitState<Field extends string> = { [K in Field]: RateDecision | null }

/**
 * Refuses a client whose bucket is empty: 429 (RFC 6585, 4), reason `rate-limit`, with `Retry-After` in whole seconds and
 * the fields `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers). A store that fails lets the
 * request pass: a broken counter must not take the site down. A warning of the process tells it, once a minute.
 * @example pipeline().use(rateLimit({ perSecond: 50, burst: 100 }))
 * @throws ConfigError with every fault of the options.
 */
export function rateLimit<const Field extends string = 'rate'>(
  options: RateLimitOptions<Field>,
): Filter<object, RateLimitState<Field>> {
  const { perSecond, name = 'default', headers = true, clock = () => performance.now() } = options
  const usable = perSecond >= SLOWEST && perSecond <= 1_000_000
  const burst = options.burst ?? (usable ? Math.max(1, Math.ceil(perSecond)) : 1)
  const field = options.as ?? ('rate' as Field)
  const faults: ConfigFault[] = []
  if (!usable) {
    const problem = `${String(perSecond)} is no number from ${SLOWEST} to 1000000`
    faults.push({ place: 'rateLimit.perSecond', problem, fix: 'Write requests a second.' })
  }
  assertWhole('rateLimit.burst', burst, 1, 10_000_000, faults)
  const maxClients = assertWhole('rateLimit.maxClients', options.maxClients ?? 100_000, 1, 10_000_000, faults)
  if (!/^[\w-]{1,64}$/.test(name)) {
    faults.push({
      place: 'rateLimit.name',
      problem: 'it is not 1 to 64 letters, digits, - or _',
      fix: 'Rename it.',
    })
  }
  const keyOf = clientKey(options, 'rateLimit', faults)
  if (faults.length > 0) throw new ConfigError(faults)

  const store = options.store ?? memoryRateStore(maxClients)
  const bucket = { perSecond, burst }
  // Kinds of keys end in a colon, names in a slash: a client of one limit never reads like one of another.
  const scope = options.store && name !== 'default' ? `${name}/` : ''
  // The window in which the whole quota comes back.
  const policy = `"${name}";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`

  function decide(cx: Context<RateLimitState<Field>>, decision: RateDecision): Reply | undefined {
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
      let decision: Awaitable<RateDecision>
      try {
        decision = store.take(key, bucket, now)
      } catch (error) {
        return passUncounted(now, error)
      }
      if (!(decision instanceof Promise)) return decide(cx, decision)
      return decision.then(
        made => decide(cx, made),
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

/** Whole seconds, at least 1 and never more digits than an integer of a structured field may have (RFC 9651, 3.3.1). */
function seconds(milliseconds: number): number {
  return milliseconds > 1000 ? Math.min(Math.ceil(milliseconds / 1000), 999_999_999_999_999) : 1
}
