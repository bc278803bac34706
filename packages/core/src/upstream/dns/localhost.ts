/** `localhost` is this machine in both families, whatever the hosts file says (RFC 6761, 6.3). */
import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

const BOTH = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** True for `localhost` and names under it. */
export function isLocalhost(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost')
}

/** Asks the system, and adds the family that it leaves out: a server may listen on one of them alone. */
export const lookupLocalhost: LookupFunction = (hostname, options, callback) => {
  systemLookup(hostname, { all: true }, (error, found) => {
    const known = error ? [] : found
    const missing = BOTH.filter(one => !known.some(other => other.family === one.family))
    const all = [...known, ...missing]
    if (options.all) callback(null, all)
    else callback(null, all[0]!.address, all[0]!.family)
  })
}
