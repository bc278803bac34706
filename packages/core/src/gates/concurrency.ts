/** Limits how many requests run at once. */
import { readOptions, whole } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context, Filter, Reply } from '../pipeline/contract.ts'
import { refuse } from '../reply.ts'
import { CLIENT_KEY_RULES, type ClientKeyOptions, clientKey } from './client-key.ts'

/** Options of {@link concurrencyLimit}. */
export interface ConcurrencyLimitOptions extends ClientKeyOptions {
  /** Requests of one client at once; default 100. */
  perClient?: number
  /** Requests of all clients at once; default no limit. */
  total?: number
}

/** State of the gate. */
export interface ConcurrencyState {
  /** Key under which the request is counted; `null` while it is not. */
  runningAs: string | null
}

/**
 * Refuses a request when too many run: 429 for a client's own, reason `too-many-at-once`, 503 for the whole, reason
 * `too-busy`, both with `Retry-After: 1`. Counts until the reply has left, streams and tunnels included. It remembers
 * only clients with running requests.
 * @example pipeline().use(concurrencyLimit({ perClient: 20, total: 5000 }))
 * @throws ConfigError with every fault of the options.
 */
export function concurrencyLimit(options: ConcurrencyLimitOptions = {}): Filter<object, ConcurrencyState> {
  const faults: ConfigFault[] = []
  const count = whole(1, Number.MAX_SAFE_INTEGER)
  const table = { ...CLIENT_KEY_RULES, perClient: count, total: count }
  const given = readOptions<ConcurrencyLimitOptions>('concurrencyLimit', options, table, faults)
  const { perClient = 100, total = Number.MAX_SAFE_INTEGER } = given
  const keyOf = clientKey(given, 'concurrencyLimit', faults)
  if (faults.length > 0) throw new ConfigError(faults)

  const running = new Map<string, number>()
  let all = 0

  return {
    name: 'concurrency-limit',
    state: () => ({ runningAs: null }),
    onRequest: function enter(cx: Context<ConcurrencyState>): Reply | undefined {
      if (all >= total) return refuse(503, 'too-busy', { 'Retry-After': 1 })
      const key = keyOf(cx)
      const count = running.get(key) ?? 0
      if (count >= perClient) return refuse(429, 'too-many-at-once', { 'Retry-After': 1 })
      running.set(key, count + 1)
      all++
      cx.state.runningAs = key
      return undefined
    },
    onDone: function leave(cx: Context<ConcurrencyState>): void {
      const key = cx.state.runningAs
      if (key === null) return
      cx.state.runningAs = null
      all--
      const count = running.get(key)! - 1
      if (count === 0) running.delete(key)
      else running.set(key, count)
    },
  }
}
