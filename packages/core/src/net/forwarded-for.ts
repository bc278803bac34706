/** Who the client is behind proxies that are trusted (RFC 7239, 8.1). */
import { canonicalAddress } from './address.ts'

/**
 * Walks `X-Forwarded-For` from the right, past every hop that is trusted, to the first that is not: what stands left of
 * it is that hop's own word. An entry that is no address ends the walk at the hop that reported it.
 */
export function clientAddressFrom(
  lines: readonly string[],
  peer: string,
  trusts: (address: string) => boolean,
  maxHops = 32,
): string {
  let client = peer
  let hops = 0
  for (let i = lines.length - 1; i >= 0; i--) {
    const entries = lines[i]!.split(',')
    for (let j = entries.length - 1; j >= 0; j--) {
      if (++hops > maxHops) return client
      const address = canonicalAddress(withoutPort(entries[j]!.trim()))
      if (address === null) return client
      client = address
      if (!trusts(address)) return client
    }
  }
  return client
}

function withoutPort(entry: string): string {
  if (entry.startsWith('[')) return entry.slice(1, Math.max(1, entry.indexOf(']')))
  const colon = entry.indexOf(':')
  // One colon parts an IPv4 address from its port; more are an IPv6 address.
  return colon !== -1 && colon === entry.lastIndexOf(':') ? entry.slice(0, colon) : entry
}
