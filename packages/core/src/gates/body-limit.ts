/** Refuses large request bodies with 413. */
import { readOptions, whole } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context, Filter, Reply } from '../pipeline/contract.ts'
import { refuse } from '../reply.ts'

/** Options of {@link bodyLimit}. */
export interface BodyLimitOptions {
  /** Largest body in bytes, as sent (still compressed); default 10 MiB. A body of exactly this size passes. */
  max?: number
}

/**
 * Refuses a body of more than `max` bytes: 413 (RFC 9110, 15.5.14), reason `body-too-large`. A declared length is judged
 * before a byte is read and before 100 Continue is sent; a chunked body is cut at the limit, and the upstream's request with it.
 * @example pipeline().use(bodyLimit({ max: 1 << 20 }))
 * @throws ConfigError for a `max` that is no whole number of at least 0.
 */
export function bodyLimit(options: BodyLimitOptions = {}): Filter {
  const faults: ConfigFault[] = []
  const table = { max: whole(0, Number.MAX_SAFE_INTEGER) }
  const { max = 10 << 20 } = readOptions<BodyLimitOptions>('bodyLimit', options, table, faults)
  if (faults.length > 0) throw new ConfigError(faults)

  // Nobody else's business, and a route may have a second, narrower limit: a field that has no name.
  const seen = Symbol('bodyBytes')
  type Counted = { [seen]: number }

  return {
    name: 'body-limit',
    state: () => ({ [seen]: 0 }),
    onRequest: function checkDeclaredLength(cx: Context): Reply | undefined {
      if (cx.body === null) return undefined
      const declared = cx.request.headers.get('content-length')
      if (declared === undefined) return undefined
      return declaredBytes(declared) > max ? refuse(413, 'body-too-large') : undefined
    },
    onRequestBody: function countBytes(cx: Context, bytes: Uint8Array): Reply | undefined {
      const counted = cx.state as Counted
      counted[seen] += bytes.length
      return counted[seen] > max ? refuse(413, 'body-too-large') : undefined
    },
  }
}

/** Infinity for what is no plain number of a size that can be counted. */
function declaredBytes(text: string): number {
  const bytes = /^\d{1,16}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
  return Number.isSafeInteger(bytes) ? bytes : Number.POSITIVE_INFINITY
}
