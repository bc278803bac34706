/** Refuses long request targets with 414. */
import { readOptions, whole } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context, Filter, Reply } from '../pipeline/contract.ts'
import { refuse } from '../reply.ts'

/** Options of {@link uriLength}. */
export interface UriLengthOptions {
  /** Longest target in bytes, path and query as sent; default 8192. RFC 9110, 4.1 recommends 8000 or more. */
  max?: number
}

/**
 * Refuses a request whose target is longer than `max` bytes: 414 (RFC 9110, 15.5.15), reason `uri-too-long`.
 * @example pipeline().use(uriLength({ max: 2048 }))
 * @throws ConfigError for a `max` that is no whole number from 1 to 1048576.
 */
export function uriLength(options: UriLengthOptions = {}): Filter {
  const faults: ConfigFault[] = []
  const { max = 8192 } = readOptions<UriLengthOptions>(
    'uriLength',
    options,
    { max: whole(1, 1 << 20) },
    faults,
  )
  if (faults.length > 0) throw new ConfigError(faults)

  return {
    name: 'uri-length',
    onRequest: function checkUriLength(cx: Context): Reply | undefined {
      // One character of the target is one byte.
      return cx.request.target.length > max ? refuse(414, 'uri-too-long') : undefined
    },
  }
}
