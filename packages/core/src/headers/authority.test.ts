import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostOf, normaliseAuthority, portOf } from './authority.ts'

test.each([
  ['example.com', 'http', 'example.com'],
  ['EXAMPLE.com', 'http', 'example.com'],
  ['example.com.', 'http', 'example.com'],
  ['example.com:80', 'http', 'example.com'],
  ['example.com:80', 'https', 'example.com:80'],
  ['example.com:443', 'https', 'example.com'],
  ['example.com:443', 'http', 'example.com:443'],
  ['example.com:', 'http', 'example.com'],
  ['example.com:0080', 'http', 'example.com'],
  ['example.com.:08080', 'http', 'example.com:8080'],
  ['a_b.example', 'http', 'a_b.example'],
  ['127.0.0.1:8080', 'http', '127.0.0.1:8080'],
  ['[::1]', 'http', '[::1]'],
  ['[0:0:0:0:0:0:0:1]:80', 'http', '[::1]'],
  ['[2001:DB8::1]:8443', 'https', '[2001:db8::1]:8443'],
  ['x:65535', 'http', 'x:65535'],
] as const)('%s over %s is %s', (text, scheme, expected) => {
  expect(normaliseAuthority(text, scheme)).toBe(expected)
  // And again, from memory.
  expect(normaliseAuthority(text, scheme)).toBe(expected)
})

test.each([
  '',
  '.',
  ':80',
  'a b',
  'a,b',
  'a@b',
  'a/b',
  'a\\b',
  'a%41',
  'a?b',
  'a#b',
  'a:b',
  'a:65536',
  'a:123456',
  'a:-1',
  'a:80:80',
  'a..b',
  '.a',
  'a..',
  '-a',
  '::1',
  '[::1',
  '::1]',
  '[::1]x',
  '[fe80::1%25eth0]',
  '[1.2.3.4]',
  '[]',
  '\u00e4.example',
  'a\x00',
  ' a',
  'a ',
  `${'a'.repeat(64)}.example`,
  `${'a.'.repeat(127)}aa`,
])('%j is no authority', text => {
  expect(normaliseAuthority(text, 'http')).toBeNull()
})

test.each([
  ['example.com', 'example.com', '80', '443'],
  ['example.com:81', 'example.com', '81', '81'],
  ['[::1]', '[::1]', '80', '443'],
  ['[::1]:81', '[::1]', '81', '81'],
])('%s has host %s and port %s, or %s over https', (authority, host, plain, secure) => {
  expect([hostOf(authority), portOf(authority, 'http'), portOf(authority, 'https')]).toEqual([
    host,
    plain,
    secure,
  ])
})

test('a normalised authority is its own normal form, and its parts join again', () => {
  const label = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(...'aZ0-_') })
  const host = fc.oneof(
    fc.array(label, { minLength: 1, maxLength: 4 }).map(l => l.join('.')),
    fc.ipV4(),
    fc.ipV6().map(ip => `[${ip}]`),
  )
  const port = fc.oneof(
    fc.constant(''),
    fc.integer({ min: 0, max: 70_000 }).map(n => `:${n}`),
  )
  const text = fc.oneof(
    fc.tuple(host, fc.constantFrom('', '.'), port).map(parts => parts.join('')),
    fc.string(),
  )
  fc.assert(
    fc.property(text, fc.constantFrom('http' as const, 'https' as const), (raw, scheme) => {
      const once = normaliseAuthority(raw, scheme)
      fc.pre(once !== null)
      expect(normaliseAuthority(once, scheme)).toBe(once)
      expect(normaliseAuthority(`${hostOf(once)}:${portOf(once, scheme)}`, scheme)).toBe(once)
    }),
    { numRuns: 2000 },
  )
})

test('what is remembered of a name for http is not told for https, in either order', () => {
  for (const [host, schemes] of [
    ['cache-a.example', ['http', 'https', 'http']],
    ['cache-b.example', ['https', 'http', 'https']],
  ] as const) {
    for (const scheme of schemes) {
      expect(normaliseAuthority(`${host}:80`, scheme)).toBe(scheme === 'http' ? host : `${host}:80`)
      expect(normaliseAuthority(`${host}:443`, scheme)).toBe(scheme === 'https' ? host : `${host}:443`)
    }
  }
})
