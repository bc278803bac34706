/** Lets the clients of a route send their bodies as slowly as they like. */
import { readOptions } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context, Filter } from '../pipeline/contract.ts'

/**
 * `minBodyRate` of the server does not count for requests that pass here: event uploads, gRPC calls whose client streams with
 * pauses. What holds them then is the upstream's patience and the caps on connections and streams.
 * @example pipeline().route('POST /telemetry.Agent/Report', r => r.use(slowUploads()).handle(proxy(agents)))
 * @throws ConfigError for options: there are none.
 */
export function slowUploads(options?: Record<string, never>): Filter {
  const faults: ConfigFault[] = []
  readOptions('slowUploads', options, {}, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return {
    name: 'slow-uploads',
    onRequest(cx: Context): undefined {
      cx.allowSlowBody()
    },
  }
}
