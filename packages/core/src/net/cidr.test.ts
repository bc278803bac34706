import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { canonicalAddress } from './address.ts'
import { cidrMatcher } from './cidr.ts'

describe('cidrMatcher', () => {
  it.each<[readonly string[], string, boolean]>([
    [[], '10.0.0.1', false],
    [['10.0.0.1'], '10.0.0.1', true],
    [['10.0.0.1'], '10.0.0.2', false],
    [['10.0.0.0/8'], '10.255.255.255', true],
    [['10.0.0.0/8'], '11.0.0.0', false],
    [['10.0.0.0/8'], '9.255.255.255', false],
    [['10.1.2.3/8'], '10.0.0.0', true],
    [['0.0.0.0/0'], '255.255.255.255', true],
    [['0.0.0.0/0'], '::1', false],
    [['::/0'], 'ffff::1', true],
    // The two families never meet, whatever the block.
    [['::/0'], '10.0.0.1', false],
    [['::/8'], '10.0.0.1', false],
    [['::/96'], '0.0.0.1', false],
    [['10.0.0.0/8'], '::a00:1', false],
    [['192.168.1.128/25'], '192.168.1.127', false],
    [['192.168.1.128/25'], '192.168.1.128', true],
    [['2001:DB8::/32'], '2001:db8:ffff::1', true],
    [['2001:db8::/32'], '2001:db9::', false],
    [['2001:db8::/33'], '2001:db8:8000::', false],
    [['::1'], '::1', true],
    [['2001:db8::5'], '2001:db8::5', true],
    // Mapped addresses are IPv4, on both sides.
    [['::ffff:10.0.0.0/104'], '10.9.9.9', true],
    [['::ffff:10.0.0.0/104'], '11.0.0.0', false],
    [['::ffff:0:0/96'], '1.2.3.4', true],
    [['::FFFF:a00:1'], '10.0.0.1', true],
    [['10.0.0.0/8'], '::ffff:10.0.0.1', true],
    [['10.0.0.0/8'], '', false],
    [['10.0.0.0/8'], 'unix', false],
    [['0.0.0.0/0', '::/0'], 'garbage', false],
    [['loopback'], '127.8.8.8', true],
    [['loopback'], '::1', true],
    [['loopback'], '10.0.0.1', false],
    [['private'], '10.0.0.1', true],
    [['private'], '172.31.255.255', true],
    [['private'], '172.32.0.0', false],
    [['private'], '192.168.0.1', true],
    [['private'], '169.254.169.254', true],
    [['private'], '127.0.0.1', true],
    [['private'], 'fdff::1', true],
    [['private'], 'fe80::1', true],
    [['private'], 'fec0::1', false],
    [['private'], '2001:db8::1', false],
    [['private', '203.0.113.0/24'], '203.0.113.9', true],
  ])('%j and %s: %s', (list, address, expected) => {
    const matches = cidrMatcher(list, 'test')
    expect(matches(address)).toBe(expected)
    // From memory it is the same.
    expect(matches(address)).toBe(expected)
  })

  const bad = [
    '',
    'example.com',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '10.0.0.0/8.5',
    '10.0.0.0/1e1',
    ' 10.0.0.1',
    '::/129',
    '::ffff:10.0.0.0/95',
    '::ffff:10.0.0.0/129',
    'fe80::1%eth0',
    'Private',
    'toString',
  ]

  it('tells of all bad entries at once', () => {
    let thrown: unknown
    try {
      cidrMatcher(['10.0.0.1', ...bad, '::1'], 'here')
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(ConfigError)
    const { faults } = thrown as ConfigError
    expect(faults.map(fault => fault.problem)).toEqual(bad.map(entry => `'${entry}' is no address or block`))
    expect(new Set(faults.map(fault => fault.place))).toEqual(new Set(['here']))
  })

  it('adds faults to a list that is given', () => {
    const faults: ConfigFault[] = []
    cidrMatcher(['x', '10.0.0.1'], 'one', faults)
    cidrMatcher(['y'], 'two', faults)
    expect(faults.map(fault => fault.place)).toEqual(['one', 'two'])
  })

  it('answers like slow arithmetic', () => {
    fc.assert(
      fc.property(
        fc.array(block, { maxLength: 12 }),
        fc.array(address, { maxLength: 12 }),
        (blocks, others) => {
          const matches = cidrMatcher(
            blocks.map(entry => entry.text),
            'test',
          )
          const edges = blocks.flatMap(({ v6, first, last }) =>
            [first - 1n, first, last, last + 1n].map(value => ({ v6, value })),
          )
          for (const { v6, value } of [...others, ...edges]) {
            if (value < 0n || value >= 1n << (v6 ? 128n : 32n)) continue
            const text = write(value, v6)
            // A mapped one belongs to the other family.
            const mapped = v6 && value >> 32n === 0xffffn
            const asked = mapped ? { v6: false, value: value & 0xffffffffn } : { v6, value }
            const expected = blocks.some(
              entry => entry.v6 === asked.v6 && entry.first <= asked.value && asked.value <= entry.last,
            )
            expect(matches(canonicalAddress(text)!), `${text} in ${blocks.map(entry => entry.text)}`).toBe(
              expected,
            )
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('forgets what is old, and answers right after that', () => {
    const matches = cidrMatcher(['10.0.0.0/16'], 'test')
    for (let i = 0; i < 30_000; i++) {
      expect(matches(`10.${i % 3}.${(i >> 8) & 255}.${i & 255}`)).toBe(i % 3 === 0)
    }
  })
})

const address = fc.boolean().chain(v6 =>
  fc
    // Few values, so that blocks hit and overlap.
    .oneof(fc.bigInt({ min: 0n, max: (1n << (v6 ? 128n : 32n)) - 1n }), fc.bigInt({ min: 0n, max: 4096n }))
    .map(value => ({ v6, value })),
)

const block = address
  .chain(({ v6, value }) => {
    const size = v6 ? 128 : 32
    return fc.integer({ min: 0, max: size }).map(bits => {
      const host = (1n << BigInt(size - bits)) - 1n
      const first = value & ~host
      return { v6, first, last: first | host, text: `${write(value, v6)}/${bits}` }
    })
  })
  // Such a block is one of IPv4, which the table of cases covers.
  .filter(({ v6, text }) => !v6 || canonicalAddress(text.split('/')[0]!)!.includes(':'))

function write(value: bigint, v6: boolean): string {
  const size = v6 ? 16n : 8n
  return Array.from(
    { length: v6 ? 8 : 4 },
    (_, i) => (value >> (size * BigInt((v6 ? 7 : 3) - i))) & ((1n << size) - 1n),
  )
    .map(part => part.toString(v6 ? 16 : 10))
    .join(v6 ? ':' : '.')
}
