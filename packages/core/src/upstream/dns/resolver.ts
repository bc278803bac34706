/** Where addresses of a name come from. */
import { promises as dns, type LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { canonicalAddress } from '../../net/address.ts'
import { isLocalhost, lookupLocalhost } from './localhost.ts'

/** One address of a name. */
export interface ResolvedAddress {
  readonly address: string
  /** Seconds for which it may be used, where the source says so. */
  readonly ttl?: number
}

/** Gives all addresses of a name, IPv4 and IPv6, or rejects. */
export type Resolver = (hostname: string) => Promise<readonly ResolvedAddress[]>

/** Addresses of one name that are used at most. */
export const MOST_ADDRESSES = 256

/** The system's way: hosts file, search domains, name servers. It tells no TTL. */
export const systemResolver: Resolver = hostname =>
  isLocalhost(hostname)
    ? new Promise(resolve => {
        lookupLocalhost(hostname, { all: true }, (_error, found) => resolve(found as LookupAddress[]))
      })
    : dns.lookup(hostname, { all: true })

/** The name servers alone: A and AAAA with their TTL. One of the two families may be missing. */
export const recordResolver: Resolver = async hostname => {
  const [v4, v6] = await Promise.allSettled([
    dns.resolve4(hostname, { ttl: true }),
    dns.resolve6(hostname, { ttl: true }),
  ])
  if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason
  return [v4, v6].flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
}

/** The distinct addresses of an answer in a fixed order, and how long they hold. Empty when nothing in it is an address. */
export function readAnswer(answer: readonly ResolvedAddress[]): { addresses: string[]; ttl: number | null } {
  const addresses = new Set<string>()
  let ttl: number | null = null
  for (const one of answer) {
    const address = typeof one?.address === 'string' ? canonicalAddress(one.address) : null
    if (address === null || isIP(address) === 0) continue
    addresses.add(address)
    if (typeof one.ttl === 'number' && one.ttl >= 0) ttl = Math.min(ttl ?? Infinity, one.ttl)
  }
  return { addresses: [...addresses].sort().slice(0, MOST_ADDRESSES), ttl }
}
