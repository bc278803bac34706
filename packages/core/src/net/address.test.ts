import { SocketAddress } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressGroups, addressKey, canonicalAddress } from './address.ts'

const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
  minLength: 8,
  maxLength: 8,
})
const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))

/** How one address may be written: case, leading zeros, which zeros are left out, a dotted end, a zone. */
const style = fc.record({
  upper: fc.boolean(),
  pad: fc.boolean(),
  dotted: fc.boolean(),
  gap: fc.option(fc.tuple(fc.nat(7), fc.integer({ min: 1, max: 8 })), { nil: null }),
  zone: fc.constantFrom('', '%eth0', '%1', '%br_lan.100'),
})

function spell(
  address: readonly number[],
  how: typeof style extends fc.Arbitrary<infer S> ? S : never,
): string {
  const hex = address.map(group => group.toString(16).padStart(how.pad ? 4 : 1, '0'))
  const parts: string[] = how.dotted
    ? [
        ...hex.slice(0, 6),
        [address[6]! >> 8, address[6]! & 255, address[7]! >> 8, address[7]! & 255].join('.'),
      ]
    : hex
  let text = parts.join(':')
  const room = how.dotted ? 6 : 8
  if (how.gap) {
    const [from, length] = how.gap
    const to = Math.min(room, from + length)
    // Only zeros may be left out, and something must be.
    if (from < to && address.slice(from, to).every(group => group === 0)) {
      text = `${parts.slice(0, from).join(':')}::${parts.slice(to).join(':')}`
    }
  }
  return (how.upper ? text.toUpperCase() : text) + how.zone
}

describe('canonicalAddress', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['255.255.255.255', '255.255.255.255'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::FFFF:10.0.0.1', '10.0.0.1'],
    ['::ffff:a00:1', '10.0.0.1'],
    ['0:0:0:0:0:ffff:0a00:0001', '10.0.0.1'],
    ['0000::ffff:10.0.0.1%eth0', '10.0.0.1'],
    ['::1', '::1'],
    ['::', '::'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    // One group of zeros is not shortened, and of two equal runs the first is (RFC 5952, 4.2).
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['1:2:3:4:5:6:0:0', '1:2:3:4:5:6::'],
    ['fe80::1%eth0', 'fe80::1'],
    ['fe80::1%br_lan.100', 'fe80::1'],
    ['64:ff9b::192.0.2.1', '64:ff9b::c000:201'],
    // IPv4-compatible is not IPv4-mapped.
    ['::10.0.0.1', '::a00:1'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalAddress(text)).toBe(canonical)
  })

  it.each([
    '',
    'localhost',
    'unknown',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '01.2.3.4',
    '0x7f.0.0.1',
    '2130706433',
    '1.2.3.4%eth0',
    '1.2.3.4:80',
    '[::1]',
    ':::',
    '1::2::3',
    '12345::',
    '::g',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '::ffff:1.2.3.256',
    '::ffff:::ffff:1.2.3.4',
    'fe80::1%',
    'fe80::1%a b',
    'fe80::1%a%b',
    `fe80::1%${'a'.repeat(33)}`,
    ' 1.2.3.4',
    '1.2.3.4\n',
    '::1\0',
    '1'.repeat(100_000),
  ])('%j is none', text => {
    expect(canonicalAddress(text)).toBeNull()
  })

  it('all spellings of one address agree, and with the one of URLs', () => {
    fc.assert(
      fc.property(groups, style, style, (address, one, other) => {
        const canonical = canonicalAddress(spell(address, one))
        expect(canonicalAddress(spell(address, other))).toBe(canonical)
        const mapped = address.slice(0, 5).every(group => group === 0) && address[5] === 0xffff
        const text = address.map(group => group.toString(16)).join(':')
        if (mapped) expect(canonical).toMatch(/^\d+\.\d+\.\d+\.\d+$/)
        else expect(`[${canonical}]`).toBe(new URL(`http://[${text}]/`).hostname)
      }),
      { numRuns: 2000 },
    )
  })

  it('mapped IPv4 is IPv4 in every spelling', () => {
    fc.assert(
      fc.property(octets, style, ([a, b, c, d], how) => {
        const address = [0, 0, 0, 0, 0, 0xffff, a * 256 + b, c * 256 + d]
        expect(canonicalAddress(spell(address, how))).toBe(`${a}.${b}.${c}.${d}`)
      }),
    )
  })

  it('is idempotent, and agrees with the platform on what is an address', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'0123456789abcdefF:.%'), maxLength: 24 })
    fc.assert(
      fc.property(fc.oneof(letters, fc.ipV4(), fc.ipV6()), text => {
        const canonical = canonicalAddress(text)
        if (canonical !== null) expect(canonicalAddress(canonical)).toBe(canonical)
        if (!text.includes('%')) expect(canonical !== null).toBe(parses(text))
      }),
      { numRuns: 5000 },
    )
  })
})

function parses(text: string): boolean {
  return (['ipv4', 'ipv6'] as const).some(family => {
    try {
      return new SocketAddress({ address: text, family }).address !== ''
    } catch {
      return false
    }
  })
}

describe('addressKey', () => {
  it.each([
    ['', {}, 'unix'],
    ['10.1.2.3', {}, '10.1.2.3'],
    ['10.1.2.3', { v4Prefix: 24 }, '10.1.2.0/24'],
    ['10.255.2.3', { v4Prefix: 9 }, '10.128.0.0/9'],
    ['2001:db8:1:2:3:4:5:6', {}, '2001:db8:1:2::/64'],
    ['2001:db8:1:2ff:3:4:5:6', { v6Prefix: 56 }, '2001:db8:1:200::/56'],
    ['2001:db8:1:2:3:4:5:6', { v6Prefix: 48 }, '2001:db8:1::/48'],
    ['2001:db8:1:2:3:4:5:6', { v6Prefix: 128 }, '2001:db8:1:2:3:4:5:6/128'],
    ['ffff::1', { v6Prefix: 1 }, '8000::/1'],
    ['::1', {}, '::/64'],
  ])('of %j with %j is %s', (address, options, key) => {
    expect(addressKey(address, options)).toBe(key)
  })

  it('is the same for two addresses exactly when their prefixes are', () => {
    fc.assert(
      fc.property(groups, groups, fc.integer({ min: 1, max: 128 }), (one, other, v6Prefix) => {
        // Half of the bits in common, so that both outcomes come up.
        const second = [...one.slice(0, 4), ...other.slice(4)]
        const bits = (address: readonly number[]) =>
          address
            .map(group => group.toString(2).padStart(16, '0'))
            .join('')
            .slice(0, v6Prefix)
        const key = (address: readonly number[]) =>
          addressKey(address.map(group => group.toString(16)).join(':'), { v6Prefix })
        expect(key(one) === key(second)).toBe(bits(one) === bits(second))
      }),
    )
  })

  it('B075: a whole /64 is one client', () => {
    const keys = new Set<string>()
    for (let i = 0; i < 10_000; i++)
      keys.add(
        addressKey(canonicalAddress(`2001:db8::${(i * 7919).toString(16).slice(-4)}:${i.toString(16)}`)!),
      )
    expect([...keys]).toEqual(['2001:db8::/64'])
  })
})

describe('addressGroups', () => {
  it.each([
    ['10.0.0.1', [0x0a00, 1]],
    ['::', [0, 0, 0, 0, 0, 0, 0, 0]],
    ['1::8', [1, 0, 0, 0, 0, 0, 0, 8]],
    ['::ffff:1.2.3.4', [0, 0, 0, 0, 0, 0xffff, 0x0102, 0x0304]],
    ['1:2:3:4:5:6:7::', [1, 2, 3, 4, 5, 6, 7, 0]],
  ])('of %s', (address, expected) => {
    expect(addressGroups(address)).toEqual(expected)
  })
})
