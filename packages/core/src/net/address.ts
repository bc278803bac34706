/** IP addresses in one spelling (RFC 5952), so that lists, keys and logs agree on who somebody is. */
import { isIP, SocketAddress } from 'node:net'

const MAPPED = '::ffff:'

/**
 * The canonical spelling: dotted IPv4, also for IPv4-mapped IPv6 in any form (RFC 4291, 2.5.5.2); compressed lower-case
 * IPv6 without zone id. `null` for what is no address.
 */
export function canonicalAddress(text: string): string | null {
  const mapped = text.startsWith(MAPPED) ? text.slice(MAPPED.length) : text
  if (isIP(mapped) === 4) return mapped
  const zone = text.indexOf('%')
  const bare = zone === -1 ? text : text.slice(0, zone)
  if (isIP(bare) !== 6) return null
  const groups = ipv6Groups(new SocketAddress({ address: bare, family: 'ipv6' }).address)
  return mappedIPv4(groups) ?? compress(groups)
}

/** The eight 16-bit groups of a valid IPv6 address. */
export function ipv6Groups(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const before = groupsOf(head)
  if (tail === undefined) return before
  const after = groupsOf(tail)
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after]
}

function groupsOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap(group => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

function mappedIPv4(groups: readonly number[]): string | null {
  for (let i = 0; i < 5; i++) if (groups[i] !== 0) return null
  if (groups[5] !== 0xffff) return null
  const [high = 0, low = 0] = groups.slice(6)
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}

/** The longest run of at least two zero groups becomes `::`, the first of equals (RFC 5952, 4.2). */
function compress(groups: readonly number[]): string {
  let start = -1
  let length = 1
  for (let i = 0; i < 8; i++) {
    let end = i
    while (end < 8 && groups[end] === 0) end++
    if (end - i > length) {
      start = i
      length = end - i
    }
    if (end > i) i = end
  }
  const hex = groups.map(group => group.toString(16))
  if (start === -1) return hex.join(':')
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}

/** Prefix lengths under which addresses count as one client. */
export interface KeyOptions {
  /** Bits of IPv6, 1 to 128. Default 64: what one end site gets at least (RFC 6177). */
  v6Prefix?: number
}

/** Key of the client behind a canonical address: IPv4 as it stands, IPv6 by its network, `unix` without an address. */
export function addressKey(address: string, options: KeyOptions = {}): string {
  if (address === '') return 'unix'
  if (!address.includes(':')) return address
  const bits = options.v6Prefix ?? 64
  const groups = ipv6Groups(address).map((group, index) => {
    const kept = Math.min(16, Math.max(0, bits - 16 * index))
    return group & (0xffff << (16 - kept)) & 0xffff
  })
  return `${compress(groups)}/${bits}`
}
