/** Refuses what TLS early data could replay: 425. */
import { readOptions } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context, Filter, Reply } from '../pipeline/contract.ts'
import { refuse } from '../reply.ts'

/**
 * Refuses a request that an edge in front marks as early data, unless a replay of it is harmless: GET, HEAD and
 * OPTIONS without an upgrade pass. 425 (RFC 8470, 5.2), reason `too-early`; the client then repeats it after the handshake.
 *
 * Whatever the field says, and however often, it counts as `1` (RFC 8470, 5.1). It is forwarded, so that the origin
 * can decide about the safe ones. It needs no trust: whoever lies is refused.
 * @example pipeline().use(earlyData())
 * @throws ConfigError for options: there are none.
 */
export function earlyData(options?: Record<string, never>): Filter {
  const faults: ConfigFault[] = []
  readOptions('earlyData', options, {}, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return { name: 'early-data', onRequest: checkEarlyData }
}

function checkEarlyData(cx: Context): Reply | undefined {
  const { method, upgrade, headers } = cx.request
  // A tunnel's bytes may do anything, so an upgrade is not safe although its method is GET.
  if (upgrade === null && (method === 'GET' || method === 'HEAD' || method === 'OPTIONS')) return undefined
  return headers.has('early-data') ? refuse(425, 'too-early') : undefined
}
