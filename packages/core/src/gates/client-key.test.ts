import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ConfigFault } from '../errors.ts'
import { HeaderList } from '../headers/list.ts'
import { testContext } from '../testing/context.ts'
import { type ClientKeyOptions, clientKey } from './client-key.ts'

function keyOf(options: ClientKeyOptions, lines: string[] = [], clientAddress = '1.2.3.4'): string {
  const faults: ConfigFault[] = []
  const made = clientKey(
    options,
    'test',
    faults,
  )(testContext({ headers: new HeaderList(lines), clientAddress }))
  expect(faults).toEqual([])
  return made
}

test.each([
  [{}, [], '1.2.3.4', 'a:1.2.3.4'],
  [{}, [], '', 'a:unix'],
  [{}, [], '2001:db8:1:2:3::4', 'a:2001:db8:1:2::/64'],
  [{ v6Prefix: 48 }, [], '2001:db8:1:2:3::4', 'a:2001:db8:1::/48'],
  [{ by: { header: 'X-Client' } }, ['x-client', 'me'], '1.2.3.4', 'h:me'],
  [{ by: { header: 'X-Client' } }, ['X-CLIENT', ''], '1.2.3.4', 'h:'],
  [{ by: { header: 'X-Client' } }, ['x-other', 'me'], '1.2.3.4', 'a:1.2.3.4'],
  [{ by: { header: 'X-Client' } }, ['x-client', 'a, b'], '1.2.3.4', 'h:a, b'],
  [{ by: { header: 'X-Client' } }, ['x-client', 'a', 'x-client', 'b'], '1.2.3.4', 'h:a\nb'],
  [{ by: { apiKey: 'X-Key' } }, [], '1.2.3.4', 'a:1.2.3.4'],
  [{ by: () => 'tenant' }, [], '1.2.3.4', 'f:tenant'],
  [{ by: () => '' }, [], '1.2.3.4', 'a:1.2.3.4'],
  [{ by: () => null }, [], '1.2.3.4', 'a:1.2.3.4'],
  [{ by: () => 7 as never }, [], '1.2.3.4', 'a:1.2.3.4'],
] as [ClientKeyOptions, string[], string, string][])(
  '%j with %j from %j is %j',
  (options, lines, address, key) => {
    expect(keyOf(options, lines, address)).toBe(key)
  },
)

const value = fc.string({ unit: fc.constantFrom('a', '1', '.', ':', '#', ' ', 'h', '\xe4'), maxLength: 80 })

test('kinds never meet, whatever the client sends', () => {
  fc.assert(
    fc.property(value, text => {
      const keys = [
        keyOf({}),
        keyOf({ by: { header: 'x' } }, ['x', text]),
        keyOf({ by: { apiKey: 'x' } }, ['x', text]),
        keyOf({ by: () => `${text}!` }),
      ]
      expect(new Set(keys).size).toBe(4)
      expect(keys.map(key => key.slice(0, 2))).toEqual(['a:', 'h:', 'k:', 'f:'])
    }),
  )
})

test('keys are bounded, and different lines give different keys', () => {
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1, maxLength: 3 }),
      fc.array(value, { minLength: 1, maxLength: 3 }),
      (a, b) => {
        for (const by of [{ header: 'x' }, { apiKey: 'x' }] as const) {
          const [one, other] = [a, b].map(values =>
            keyOf(
              { by },
              values.flatMap(text => ['x', text]),
            ),
          )
          expect(one!.length).toBeLessThanOrEqual(66)
          expect(one === other).toBe(a.join('\n') === b.join('\n'))
        }
      },
    ),
    { numRuns: 500 },
  )
})

test('an API key never stands in a key', () => {
  const secret = 'sk-0123456789'
  const key = keyOf({ by: { apiKey: 'Authorization' } }, ['authorization', secret])
  expect(key).toMatch(/^k:[\w-]{22}$/)
  expect(key).not.toContain(secret)
  expect(keyOf({ by: { apiKey: 'Authorization' } }, ['authorization', secret])).toBe(key)
})

test.each([
  [{ by: { header: '' } }, ['test.by']],
  [{ by: { apiKey: 'a b' } }, ['test.by']],
  [{ by: { header: 5 as never }, v6Prefix: 31 }, ['test.v6Prefix', 'test.by']],
  [{ v6Prefix: 129 }, ['test.v6Prefix']],
  [{ v6Prefix: 64.5 }, ['test.v6Prefix']],
] as [ClientKeyOptions, string[]][])('%j has faults at %j', (options, places) => {
  const faults: ConfigFault[] = []
  clientKey(options, 'test', faults)
  expect(faults.map(fault => fault.place)).toEqual(places)
})

test('B059: a short value never reads like the hash of a long one', () => {
  for (const kind of ['header', 'function'] as const) {
    const key = (text: string): string =>
      kind === 'header' ? keyOf({ by: { header: 'x' } }, ['x', text]) : keyOf({ by: () => text })
    const long = key('a'.repeat(100))
    expect(key(long.slice(2))).not.toBe(long)
    expect(long.length).toBeLessThan(30)
  }
})

test('long values of a function differ beyond one byte a character', () => {
  expect(keyOf({ by: () => '\u0101'.repeat(70) })).not.toBe(keyOf({ by: () => '\x01'.repeat(70) }))
})

test.each(['addr', null, 5, {}, []])('%j names no client', by => {
  const faults: ConfigFault[] = []
  clientKey({ by: by as never }, 'test', faults)
  expect(faults.map(fault => fault.place)).toEqual(['test.by'])
})
