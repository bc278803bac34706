import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chromeHello, mutate, splitRecords } from '../../test/support/hello.ts'
import { ja4 } from './fingerprint.ts'
import { type ClientHello, MOST_HELLO_BYTES, parseClientHello } from './parse.ts'

const whole = chromeHello()
const u16 = (value: number): number[] => [value >> 8, value & 0xff]

/** A hello of parts; extensions as [type, bytes]. */
function make(extensions: [number, number[]][] | null, ciphers = [0x13, 0x01]): Uint8Array {
  const list = (extensions ?? []).flatMap(([type, body]) => [...u16(type), ...u16(body.length), ...body])
  const body = [
    ...[3, 3],
    ...new Array<number>(32).fill(7),
    0,
    ...u16(ciphers.length),
    ...ciphers,
    ...[1, 0],
    ...(extensions === null ? [] : [...u16(list.length), ...list]),
  ]
  return Uint8Array.from([22, 3, 1, ...u16(body.length + 4), 1, 0, ...u16(body.length), ...body])
}

const name = (text: string): number[] => {
  const bytes = [...Buffer.from(text, 'latin1')]
  return [...u16(bytes.length + 3), 0, ...u16(bytes.length), ...bytes]
}

test('reads what Chromium sends', () => {
  const hello = parseClientHello(whole) as ClientHello
  expect(hello).toMatchObject({ version: 0x0303, serverName: 'a.example', protocols: ['h2', 'http/1.1'] })
  expect(ja4(hello)).toBe('t13d1516h2_8daaf6152771_d8a2da3f94cd')
})

test('asks for more at every byte but the last, and reads the same', () => {
  for (let length = 0; length < whole.length; length++)
    expect(parseClientHello(whole.subarray(0, length))).toBe('more')
  expect(parseClientHello(Buffer.concat([whole, Buffer.from('more bytes')]))).toEqual(parseClientHello(whole))
})

test('reads the same from records of any size', () => {
  const expected = parseClientHello(whole)
  for (const size of [6, 7, 40, 100, 400])
    expect(parseClientHello(splitRecords(whole, size))).toEqual(expected)
})

test('works without extensions, and with an empty list of them', () => {
  expect(parseClientHello(make(null))).toMatchObject({ ciphers: [0x1301], extensions: [], serverName: null })
  expect(parseClientHello(make([]))).toMatchObject({ extensions: [] })
})

describe('server names', () => {
  test.each([
    ['A.Example', 'a.example'],
    ['a.example.', 'a.example'],
    ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
    ['a_b.example', 'a_b.example'],
    ['127.0.0.1', '127.0.0.1'],
  ])('%s', (sent, read) =>
    expect(parseClientHello(make([[0, name(sent)]]))).toMatchObject({ serverName: read }),
  )

  test.each([
    '',
    '.',
    'a..b',
    '-a.example',
    'a b',
    'a\0.example',
    'a/../b',
    'a\r\nb',
    `${'a'.repeat(64)}.example`,
    'é',
    `${'a.'.repeat(127)}abc`,
  ])('%j is refused', sent => expect(parseClientHello(make([[0, name(sent)]]))).toBe('invalid'))
})

describe('refuses', () => {
  const valid = make([[0, name('a.example')]])
  const change = (at: number, value: number): Uint8Array =>
    Uint8Array.from(valid, (byte, i) => (i === at ? value : byte))
  const cases: [what: string, bytes: Uint8Array, result: string][] = [
    ['plain HTTP', Buffer.from('GET / HTTP/1.1\r\n'), 'not-tls'],
    ['SSL 2', Buffer.from([0x80, 0x2e, 1, 3, 1]), 'not-tls'],
    ['another major version', change(1, 4), 'not-tls'],
    ['an alert', change(0, 21), 'not-tls'],
    ['a ServerHello', change(5, 2), 'invalid'],
    ['an empty record', Buffer.from([22, 3, 1, 0, 0, 22, 3, 1, 0, 0]), 'invalid'],
    ['a record above the limit', Buffer.from([22, 3, 1, 0x41, 0]), 'invalid'],
    ['a message above the limit', Buffer.from([22, 3, 1, 0x40, 0, 1, 0, 0x40, 0]), 'too-long'],
    ['a message of 16 MB', Buffer.from([22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff]), 'too-long'],
    [
      'a second extension of one type',
      make([
        [0, name('a')],
        [0, name('a')],
      ]),
      'invalid',
    ],
    ['two names', make([[0, [0, 8, 0, 0, 1, 97, 0, 0, 1, 98]]]), 'invalid'],
    ['a name of another kind', make([[0, [0, 4, 1, 0, 1, 97]]]), 'invalid'],
    ['bytes behind a list', make([[10, [0, 2, 0, 29, 0]]]), 'invalid'],
    ['half a number', make([[10, [0, 3, 0, 29, 0]]]), 'invalid'],
    ['an empty protocol', make([[16, [0, 1, 0]]]), 'invalid'],
    ['no protocols', make([[16, [0, 0]]]), 'invalid'],
    ['no cipher suites', make([], []), 'invalid'],
    ['half a cipher suite', make([], [0x13]), 'invalid'],
    ['a message that ends inside', Uint8Array.from([22, 3, 1, 0, 8, 1, 0, 0, 4, 3, 3, 0, 0]), 'invalid'],
  ]
  test.each(cases)('%s', (_what, bytes, result) => expect(parseClientHello(bytes)).toBe(result))

  test('records without end', () => {
    const drip = Buffer.concat(Array.from({ length: 3000 }, () => Buffer.from([22, 3, 1, 0, 1, 1])))
    expect(['invalid', 'too-long']).toContain(parseClientHello(drip))
    const long = Buffer.from(make([[9999, new Array<number>(16_000).fill(0)]]))
    expect(parseClientHello(splitRecords(long, 200).subarray(0, MOST_HELLO_BYTES + 1))).toBe('too-long')
    expect(parseClientHello(splitRecords(long, 1))).toBe('invalid')
  })
})

test('5000 mutated hellos: no exception, and a result of the few that there are', () => {
  const kinds = new Set<string>()
  for (let seed = 0; seed < 5000; seed++) {
    const result = parseClientHello(mutate(whole, seed))
    kinds.add(typeof result === 'string' ? result : 'hello')
    if (typeof result !== 'string')
      expect(ja4(result)).toMatch(/^t..[di]\d{4}.{2}_[0-9a-f]{12}_[0-9a-f]{12}$/)
  }
  expect([...kinds].sort()).toEqual(['hello', 'invalid', 'more', 'not-tls', 'too-long'])
})

test('any bytes, in any pieces: the end is the same as at once', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (bytes, asHello) => {
      const input = asHello ? Uint8Array.from([22, 3, 1, ...u16(Math.max(1, bytes.length)), ...bytes]) : bytes
      const atOnce = parseClientHello(input)
      for (let length = 1; length <= input.length; length += 7) {
        const part = parseClientHello(input.subarray(0, length))
        // A verdict that came early is the verdict; only "more" may change.
        if (part !== 'more') expect(part).toEqual(atOnce)
      }
    }),
  )
})
