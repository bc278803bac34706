/** Lists of addresses and CIDR blocks (RFC 4632, RFC 4291). */
import QuickLRU from 'quick-lru'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { addressGroups, canonicalAddress, networkOf } from './address.ts'

const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '169.254.0.0/16',
    '127.0.0.0/8',
    'fc00::/7',
    'fe80::/10',
    '::1/128',
  ],
}

/** Answers that are remembered, at least; twice as many at most. */
const REMEMBERED = 4096

/** First and last address of a block, in the order of {@link orderOf}. */
interface Range {
  readonly first: string
  readonly last: string
}

/**
 * A test for canonical addresses. Entries are addresses, blocks, `'private'` (RFC 1918, RFC 4193, link-local and
 * loopback) and `'loopback'`. A mapped address is IPv4; a block of IPv6 never holds IPv4, `::/0` neither.
 *
 * The blocks are merged and searched by halves, so that a long list costs little more than a short one. `BlockList` of
 * `node:net` goes through its rules one by one, and takes IPv4 for a part of `::/8`.
 * @throws ConfigError with every entry that is none of these; with `faults` they are added there instead.
 */
export function cidrMatcher(
  list: readonly string[],
  place: string,
  faults?: ConfigFault[],
): (address: string) => boolean {
  const found: ConfigFault[] = []
  const ranges: Range[] = []
  for (const entry of list.flatMap(name => (Object.hasOwn(NAMED, name) ? NAMED[name]! : [name]))) {
    const range = rangeOf(String(entry))
    if (range) ranges.push(range)
    else {
      const fix = "Write an address, a block like 10.0.0.0/8, 'private' or 'loopback'."
      found.push({ place, problem: `'${entry}' is no address or block`, fix })
    }
  }
  if (faults) faults.push(...found)
  else if (found.length > 0) throw new ConfigError(found)

  const merged = merge(ranges)
  const known = new QuickLRU<string, boolean>({ maxSize: REMEMBERED })
  return function matches(address) {
    const answer = known.get(address)
    if (answer !== undefined) return answer
    const canonical = canonicalAddress(address)
    if (canonical === null) return false
    const matched = isIn(merged, orderOf(addressGroups(canonical)))
    known.set(address, matched)
    return matched
  }
}

function rangeOf(entry: string): Range | null {
  const [text = '', bits, more] = entry.split('/')
  const address = canonicalAddress(text)
  if (address === null || more !== undefined || text.includes('%')) return null
  const groups = addressGroups(address)
  const size = groups.length * 16
  if (bits === undefined) return { first: orderOf(groups), last: orderOf(groups) }
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits)) return null
  // The block of a mapped address counts its bits from the front of the IPv6 form.
  const length = Number(bits) - (size === 32 && text.includes(':') ? 96 : 0)
  if (length < 0 || length > size) return null
  const first = networkOf(groups, length)
  const hosts = networkOf(new Array<number>(groups.length).fill(0xffff), length)
  return { first: orderOf(first), last: orderOf(first.map((group, i) => group | (~hosts[i]! & 0xffff))) }
}

/** A string that sorts as the address does: its family, then one character for each 16 bits. */
function orderOf(groups: readonly number[]): string {
  return String.fromCharCode(groups.length, ...groups)
}

function merge(ranges: readonly Range[]): Range[] {
  const merged: Range[] = []
  for (const range of ranges.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    const before = merged.at(-1)
    if (before === undefined || range.first > before.last) merged.push(range)
    else if (range.last > before.last) merged[merged.length - 1] = { first: before.first, last: range.last }
  }
  return merged
}

function isIn(ranges: readonly Range[], address: string): boolean {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ranges[middle]!.last < address) low = middle + 1
    else high = middle
  }
  return low < ranges.length && ranges[low]!.first <= address
}
