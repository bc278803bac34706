/** Lets clients in by address. */

import { readOptions, strings } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { cidrMatcher } from '../net/cidr.ts'
import type { Context, Filter, Reply } from '../pipeline/contract.ts'
import { refuse } from '../reply.ts'

/** Options of {@link ipAccess}: addresses, CIDR blocks, `'private'` or `'loopback'`. */
export interface IpAccessOptions {
  /** Who may come in. Default: everybody that `deny` does not name. */
  allow?: readonly string[]
  /** Who may not; wins over `allow`. Default: nobody. */
  deny?: readonly string[]
}

/**
 * Refuses clients by `cx.request.clientAddress`: 403 (RFC 9110, 15.5.4), reason `address-denied`. A client without an
 * address (a Unix socket) passes only when there is no `allow`.
 * @example pipeline().use(ipAccess({ allow: ['10.0.0.0/8', '2001:db8::/32'] }))
 * @throws ConfigError with every entry that is no address or block.
 */
export function ipAccess(options: IpAccessOptions): Filter {
  const faults: ConfigFault[] = []
  const { allow, deny } = readOptions<IpAccessOptions>(
    'ipAccess',
    options,
    { allow: strings, deny: strings },
    faults,
  )
  if (faults.length === 0 && !allow?.length && !deny?.length) {
    faults.push({
      place: 'ipAccess',
      problem: 'it allows and denies nobody',
      fix: 'Name at least one address.',
    })
    throw new ConfigError(faults)
  }
  if (allow?.length === 0) {
    const fix = 'Leave it out, or name who may come in.'
    faults.push({ place: 'ipAccess.allow', problem: 'it is empty: nobody could come in', fix })
  }
  const allowed = allow ? cidrMatcher(allow, 'ipAccess.allow', faults) : null
  const denied = deny ? cidrMatcher(deny, 'ipAccess.deny', faults) : null
  if (faults.length > 0) throw new ConfigError(faults)

  return {
    name: 'ip-access',
    onRequest: function checkAddress(cx: Context): Reply | undefined {
      const { clientAddress } = cx.request
      if (denied?.(clientAddress) || (allowed && !allowed(clientAddress)))
        return refuse(403, 'address-denied')
      return undefined
    },
  }
}
