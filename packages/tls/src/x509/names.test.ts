import { SocketAddress } from 'node:net'
import type { ConfigFault } from '@postern/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readNames } from './names.ts'

function read(...names: string[]) {
  const faults: ConfigFault[] = []
  return { names: readNames(names, 'names', faults), faults }
}

const LABEL_63 = 'a'.repeat(63)

describe('names that pass', () => {
  const cases: [given: string, kind: 'dns' | 'ip', kept: string][] = [
    ['localhost', 'dns', 'localhost'],
    ['App.Example', 'dns', 'app.example'],
    ['a-b.c--d.x1', 'dns', 'a-b.c--d.x1'],
    ['xn--mnchen-3ya.example', 'dns', 'xn--mnchen-3ya.example'],
    ['*.app.localhost', 'dns', '*.app.localhost'],
    [`${LABEL_63}.example`, 'dns', `${LABEL_63}.example`],
    ['1.2.3.example', 'dns', '1.2.3.example'],
    ['127.0.0.1', 'ip', '7f000001'],
    ['::1', 'ip', '00000000000000000000000000000001'],
    ['::', 'ip', '00000000000000000000000000000000'],
    ['2001:DB8::a:1', 'ip', '20010db80000000000000000000a0001'],
    ['fe80::', 'ip', 'fe800000000000000000000000000000'],
    ['::ffff:192.0.2.1', 'ip', '00000000000000000000ffffc0000201'],
  ]
  test.each(cases)('%s', (given, kind, kept) => {
    const { names, faults } = read(given)
    expect(faults).toEqual([])
    const [name] = names
    expect(name!.kind).toBe(kind)
    expect(name!.kind === 'ip' ? Buffer.from(name!.bytes).toString('hex') : name!.name).toBe(kept)
  })
})

describe('names that are refused', () => {
  const cases: [given: string, problem: RegExp][] = [
    ['', /no host name/],
    ['a..b', /no host name/],
    ['a.example.', /no host name/],
    ['-a.example', /no host name/],
    ['a-.example', /no host name/],
    ['a_b.example', /no host name/],
    ['münchen.example', /no host name/],
    ['a b', /no host name/],
    ['a\0.example', /no host name/],
    [`${LABEL_63}a.example`, /no host name/],
    [`${`${LABEL_63}.`.repeat(4)}example`, /253/],
    ['*', /no host name/],
    ['*.', /too wide/],
    ['*.localhost', /too wide/],
    ['a.*.example', /no host name/],
    ['w*.a.example', /no host name/],
    ['*.*.a.example', /no host name/],
    ['1.2.3.4.5', /ends in a number/],
    ['256.0.0.1', /ends in a number/],
    ['a.0x1f', /ends in a number/],
    ['https://a.example', /neither/],
    ['a.example:8443', /neither/],
    ['[::1]', /neither/],
    ['fe80::1%eth0', /neither/],
    ['10.0.0.0/8', /neither/],
  ]
  test.each(cases)('%j', (given, problem) => {
    const { names, faults } = read(given)
    expect(names).toEqual([])
    expect(faults).toEqual([
      { place: 'names[0]', problem: expect.stringMatching(problem), fix: expect.any(String) },
    ])
  })
})

test('each name once, whatever its spelling; every fault at once', () => {
  const { names, faults } = read('A.example', 'a.EXAMPLE', '::1', '0:0::1', 'no_host', '127.0.0.1', '*')
  expect(names.map(name => name.name)).toEqual(['a.example', '0:0::1', '127.0.0.1'])
  expect(faults.map(fault => fault.place)).toEqual(['names[4]', 'names[6]'])
})

test('from 1 to 100 names', () => {
  expect(read().faults).toHaveLength(1)
  expect(read(...Array.from({ length: 101 }, (_, i) => `h${i}`)).faults).toHaveLength(1)
  expect(read(...Array.from({ length: 100 }, (_, i) => `h${i}`)).names).toHaveLength(100)
})

test('values that are no text are faults, not crashes', () => {
  const faults: ConfigFault[] = []
  readNames([1, null, {}] as unknown as string[], 'names', faults)
  readNames('localhost' as unknown as string[], 'names', faults)
  expect(faults).toHaveLength(4)
})

test('bytes of an IPv6 address are those that node:net reads', () => {
  fc.assert(
    fc.property(fc.ipV6(), address => {
      const [name] = read(address).names
      if (name?.kind !== 'ip') throw new Error(`${address} was refused`)
      const groups = Buffer.from(name.bytes).toString('hex').match(/.{4}/g)!.join(':')
      const spelling = (text: string) => new SocketAddress({ address: text, family: 'ipv6' }).address
      expect(spelling(groups)).toBe(spelling(address))
    }),
  )
})
