/** IP addresses in one spelling (RFC 5952), so that lists, keys and logs agree on who somebody is. */
import { isIPv4, isIPv6 } from 'node:net'

const MAPPED = '::ffff:'
/** An interface's name or number (RFC 4007, 11.2): anything visible, because systems differ in what they allow. */
const ZONE = /^[!-$&-~]{1,32}$/
/** More than the longest IPv6 address with a zone id. */
const LONGEST = 80

/**
 * The canonical spelling: dotted IPv4, also for IPv4-mapped IPv6 in any form (RFC 4291, 2.5.5.2); compressed lower-case
 * IPv6 without zone id. `null` for what is no address.
 */
export function canonicalAddress(text: string): string | null {
  if (text.length > LONGEST) return null
  // What sockets give needs no more than this.
  const mapped = text.startsWith(MAPPED) ? text.slice(MAPPED.length) : text
  if (isIPv4(mapped)) return mapped
  const zone = text.indexOf('%')
  if (zone !== -1 && !ZONE.test(text.slice(zone + 1))) return null
  const bare = zone === -1 ? text : text.slice(0, zone)
  if (!isIPv6(bare)) return null
  const groups = addressGroups(bare)
  return mappedIPv4(groups) ?? compress(groups)
}

/** The 16-bit groups of a valid address: two of IPv4, eight of IPv6. */
export function addressGroups(address: string): number[] {
  const gap = address.indexOf('::')
  if (gap === -1) return groupsOf(address)
  const before = groupsOf(address.slice(0, gap))
  const after = groupsOf(address.slice(gap + 2))
  for (let i = before.length + after.length; i < 8; i++) before.push(0)
  return before.concat(after)
}

function groupsOf(text: string): number[] {
  const groups: number[] = []
  if (text === '') return groups
  for (const group of text.split(':')) {
    if (group.includes('.')) {
      const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
      groups.push(a * 256 + b, c * 256 + d)
    } else groups.push(Number.parseInt(group, 16))
  }
  return groups
}

function mappedIPv4(groups: readonly number[]): string | null {
  for (let i = 0; i < 5; i++) if (groups[i] !== 0) return null
  return groups[5] === 0xffff ? dotted(groups[6]!, groups[7]!) : null
}

function dotted(high: number, low: number): string {
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
  /** Bits of IPv4, 1 to 32. Default 32: each address is a client. */
  v4Prefix?: number
}

/**
 * Key of the client behind a canonical address: IPv4 as it stands (or its network), IPv6 by its network, `unix` without
 * an address.
 */
export function addressKey(address: string, options: KeyOptions = {}): string {
  if (address === '') return 'unix'
  if (!address.includes(':')) {
    const { v4Prefix = 32 } = options
    if (v4Prefix >= 32) return address
    const [high = 0, low = 0] = networkOf(addressGroups(address), v4Prefix)
    return `${dotted(high, low)}/${v4Prefix}`
  }
  const { v6Prefix = 64 } = options
  return `${compress(networkOf(addressGroups(address), v6Prefix))}/${v6Prefix}`
}

/** The first address of the block of this length: all bits behind the prefix are zero. Changes and returns `groups`. */
export function networkOf(groups: number[], bits: number): number[] {
  for (let i = bits >> 4; i < groups.length; i++) {
    const kept = Math.max(0, bits - 16 * i)
    groups[i]! &= (0xffff << (16 - kept)) & 0xffff
  }
  return groups
}
