/** Lists of addresses and CIDR blocks (RFC 4632, RFC 4291). */
import { BlockList, isIP } from 'node:net'
import QuickLRU from 'quick-lru'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { canonicalAddress } from './address.ts'

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

/** Answers that are remembered: a look-up in a block list costs more than a whole gate should. */
const REMEMBERED = 4096

/**
 * A test for canonical addresses. Entries are addresses, blocks, `'private'` (RFC 1918, RFC 4193, link-local and
 * loopback) and `'loopback'`.
 * @throws ConfigError with every entry that is none of these.
 */
export function cidrMatcher(list: readonly string[], place: string): (address: string) => boolean {
  const faults: ConfigFault[] = []
  const blocks = new BlockList()
  for (const entry of list.flatMap(name => (Object.hasOwn(NAMED, name) ? NAMED[name]! : [name]))) {
    if (!addBlock(blocks, entry)) {
      const fix = "Write an address, a block like 10.0.0.0/8, 'private' or 'loopback'."
      faults.push({ place, problem: `'${entry}' is no address or block`, fix })
    }
  }
  if (faults.length > 0) throw new ConfigError(faults)
  const known = new QuickLRU<string, boolean>({ maxSize: REMEMBERED })
  return function matches(address) {
    const found = known.get(address)
    if (found !== undefined) return found
    const family = isIP(address)
    const matched = family !== 0 && blocks.check(address, family === 4 ? 'ipv4' : 'ipv6')
    known.set(address, matched)
    return matched
  }
}

function addBlock(blocks: BlockList, entry: string): boolean {
  const [text = '', bits, more] = String(entry).split('/')
  const address = canonicalAddress(text)
  if (address === null || more !== undefined || text.includes('%')) return false
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  if (bits === undefined) {
    blocks.addAddress(address, family)
    return true
  }
  if (!/^\d{1,3}$/.test(bits)) return false
  // The block of a mapped address counts its bits from the front of the IPv6 form.
  const length = Number(bits) - (family === 'ipv4' && text.includes(':') ? 96 : 0)
  if (length < 0 || length > (family === 'ipv4' ? 32 : 128)) return false
  blocks.addSubnet(address, length, family)
  return true
}
