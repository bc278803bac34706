/** Bounds number and size of a request's field lines: 431. */
import { readOptions, whole } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context, Filter, Reply } from '../pipeline/contract.ts'
import { refuse } from '../reply.ts'

/** What a line costs beside its name and value: colon, space, CR, LF. */
const LINE_OVERHEAD = 4

/** Options of {@link headerLimits}. */
export interface HeaderLimitsOptions {
  /**
   * Most field lines; default 64. Cookies count as one line however many there are: HTTP/2 splits them
   * (RFC 9113, 8.2.3).
   */
  maxCount?: number
  /** Most bytes of all lines, each as name, value and 4; default 16384. */
  maxBytes?: number
}

/**
 * Refuses a request with too many or too large fields: 431 (RFC 6585, 5), reason `head-too-large`.
 *
 * A transport has its own limit on what it reads; this one is told apart by route, and is the same for all protocols.
 * @example pipeline().use(headerLimits({ maxCount: 32 }))
 * @throws ConfigError for limits that are no whole numbers, or out of range.
 */
export function headerLimits(options: HeaderLimitsOptions = {}): Filter {
  const faults: ConfigFault[] = []
  const table = { maxCount: whole(1, 10_000), maxBytes: whole(64, 1 << 20) }
  const given = readOptions<HeaderLimitsOptions>('headerLimits', options, table, faults)
  const { maxCount = 64, maxBytes = 16_384 } = given
  if (faults.length > 0) throw new ConfigError(faults)

  return {
    name: 'header-limits',
    onRequest: function checkHeaders(cx: Context): Reply | undefined {
      const { raw } = cx.request.headers
      const { length } = raw
      let bytes = length * (LINE_OVERHEAD / 2)
      for (let i = 0; i < length; i++) bytes += raw[i]!.length
      if (bytes > maxBytes) return refuse(431, 'head-too-large')
      const lines = length / 2
      if (lines > maxCount && lines - extraCookies(raw) > maxCount) return refuse(431, 'head-too-large')
      return undefined
    },
  }
}

function extraCookies(raw: readonly string[]): number {
  let cookies = 0
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]!.length === 6 && raw[i]!.toLowerCase() === 'cookie') cookies++
  }
  return cookies > 1 ? cookies - 1 : 0
}
