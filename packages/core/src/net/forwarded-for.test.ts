import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cidrMatcher } from './cidr.ts'
import { clientAddressFrom } from './forwarded-for.ts'

const trusts = cidrMatcher(['10.0.0.0/8', 'fd00::/8'], 'test')

describe('clientAddressFrom', () => {
  it.each<[string, readonly string[], string]>([
    ['no field', [], '10.0.0.1'],
    ['one hop', ['1.2.3.4'], '1.2.3.4'],
    ['B049: a spoofed entry on the left', ['6.6.6.6, 1.2.3.4'], '1.2.3.4'],
    ['trusted hops in between', ['6.6.6.6, 1.2.3.4, 10.0.0.3, 10.0.0.2'], '1.2.3.4'],
    ['several lines: the last is the nearest', ['6.6.6.6', '1.2.3.4, 10.0.0.3', '10.0.0.2'], '1.2.3.4'],
    ['only trusted hops: the farthest', ['10.0.0.9, 10.0.0.3'], '10.0.0.9'],
    ['white space around', [' \t1.2.3.4\t '], '1.2.3.4'],
    ['a port', ['1.2.3.4:5678'], '1.2.3.4'],
    ['brackets', ['[2001:db8::1]'], '2001:db8::1'],
    ['brackets and a port', ['[2001:DB8::1]:5678'], '2001:db8::1'],
    ['IPv6 without brackets', ['2001:db8::1'], '2001:db8::1'],
    ['B050: a mapped address', ['::ffff:1.2.3.4'], '1.2.3.4'],
    ['B050: a mapped address that is trusted', ['1.2.3.4, ::FFFF:a00:2'], '1.2.3.4'],
    ['a mapped address in brackets', ['[::ffff:1.2.3.4]:80'], '1.2.3.4'],
    ['B050: a zone id', ['fe80::1%eth0'], 'fe80::1'],
    ['garbage', ['1.2.3.4, garbage'], '10.0.0.1'],
    ['garbage behind a good hop', ['1.2.3.4, garbage, 10.0.0.2'], '10.0.0.2'],
    ['unknown', ['unknown, 10.0.0.2'], '10.0.0.2'],
    ['an obfuscated hop', ['_hidden, 10.0.0.2'], '10.0.0.2'],
    ['an empty entry', ['1.2.3.4,, 10.0.0.2'], '10.0.0.2'],
    ['an empty entry at the start', [',10.0.0.2'], '10.0.0.2'],
    ['nothing but commas', [',,,,'], '10.0.0.1'],
    ['an empty line', ['1.2.3.4', ''], '10.0.0.1'],
    ['a port that is none', ['1.2.3.4:99999'], '10.0.0.1'],
    ['letters for a port', ['1.2.3.4:http'], '10.0.0.1'],
    ['a port that is missing', ['1.2.3.4:'], '10.0.0.1'],
    ['brackets that stay open', ['[::1'], '10.0.0.1'],
    ['more behind brackets', ['[::1]junk'], '10.0.0.1'],
    ['IPv4 in brackets', ['[1.2.3.4]'], '10.0.0.1'],
    ['quotes, as in Forwarded', ['"1.2.3.4"'], '10.0.0.1'],
    ['a no-break space', ['\xa01.2.3.4'], '10.0.0.1'],
    ['a socket file', ['unix'], '10.0.0.1'],
    ['a very long entry', [`1.2.3.4${' '.repeat(100_000)}`], '10.0.0.1'],
  ])('%s', (_what, lines, expected) => {
    expect(clientAddressFrom(lines, '10.0.0.1', trusts)).toBe(expected)
  })

  it('a peer that is not trusted is the client (B049, B075)', () => {
    expect(clientAddressFrom(['1.2.3.4', '10.0.0.2'], '9.9.9.9', trusts)).toBe('9.9.9.9')
  })

  it('a Unix socket is trusted by its name', () => {
    expect(clientAddressFrom(['1.2.3.4'], '', trusts)).toBe('')
    expect(clientAddressFrom(['1.2.3.4'], '', address => address === 'unix')).toBe('1.2.3.4')
    expect(clientAddressFrom([], '', address => address === 'unix')).toBe('')
  })

  it('ends after maxHops', () => {
    const hops = Array.from({ length: 100 }, (_, i) => `10.0.1.${i}`)
    expect(clientAddressFrom([hops.join()], '10.0.0.1', trusts)).toBe('10.0.1.68')
    expect(clientAddressFrom(hops, '10.0.0.1', trusts)).toBe('10.0.1.68')
    expect(clientAddressFrom(hops, '10.0.0.1', trusts, 1)).toBe('10.0.1.99')
    expect(clientAddressFrom(hops, '10.0.0.1', trusts, 0)).toBe('10.0.0.1')
  })

  it('answers like a walk over the whole list, however it is cut into lines', () => {
    const entry = fc.constantFrom(
      '10.0.0.2',
      'fd00::1',
      '1.2.3.4',
      '2001:db8::1',
      'x',
      '',
      '10.0.0.9:80',
      '[fd00::2]:1',
    )
    fc.assert(
      fc.property(fc.array(fc.array(entry, { minLength: 1, maxLength: 4 }), { maxLength: 5 }), lines => {
        const answer = clientAddressFrom(
          lines.map(line => line.join(', ')),
          '10.0.0.1',
          trusts,
        )
        expect(
          clientAddressFrom(
            [lines.flat().join(',')].filter(() => lines.length > 0),
            '10.0.0.1',
            trusts,
          ),
        ).toBe(answer)
        expect(answer).toBe(slowly(lines.flat()))
      }),
    )
  })

  it('what a client writes never changes what trusted hops wrote', () => {
    fc.assert(
      fc.property(fc.string(), spoofed => {
        expect(clientAddressFrom([spoofed, '1.2.3.4, 10.0.0.2'], '10.0.0.1', trusts)).toBe('1.2.3.4')
        expect(clientAddressFrom([`${spoofed}, 1.2.3.4`], '10.0.0.1', trusts)).toBe('1.2.3.4')
      }),
    )
  })
})

function slowly(entries: readonly string[]): string {
  const known: Record<string, string> = { '10.0.0.9:80': '10.0.0.9', '[fd00::2]:1': 'fd00::2' }
  let client = '10.0.0.1'
  for (const entry of entries.toReversed()) {
    if (entry === 'x' || entry === '') break
    client = known[entry] ?? entry
    if (client === '1.2.3.4' || client === '2001:db8::1') break
  }
  return client
}
