import { testHead } from '@postern/core/testing'
import { describe, expect, test } from 'vitest'
import { type KeyRules, keyOf, placeOf } from './key.ts'

const plain: KeyRules = {
  host: null,
  scheme: null,
  query: { allow: null, deny: null, sort: false },
  headers: [],
  cookies: [],
  fingerprinted: null,
}
const place = (path: string, rules: Partial<KeyRules> = {}, more: Parameters<typeof testHead>[0] = {}) =>
  placeOf(testHead({ path, authority: 'a.test', ...more }), { ...plain, ...rules })

test.each([
  ['/x', 'http://a.test/x', '/x'],
  ['/x?', 'http://a.test/x?', '/x?'],
  ['/x?b=1&a=2', 'http://a.test/x?b=1&a=2', '/x?b=1&a=2'],
  // One key for all spellings, but each is asked for and stored as it is.
  ['/%78', 'http://a.test/x', '/%78'],
  ['/a/../x', 'http://a.test/x', '/a/../x'],
])('%s', (path, key, target) => {
  expect(place(path)).toMatchObject({ key, target, selector: target })
})

describe('query', () => {
  test.each([
    [{ allow: new Set(['a']), deny: null, sort: false }, '/x?utm=1&a=2&a=3', '/x?a=2&a=3'],
    [{ allow: new Set<string>(), deny: null, sort: false }, '/x?a=1', '/x'],
    [{ allow: null, deny: new Set(['utm']), sort: false }, '/x?utm=1&%75tm=2&a=2', '/x?a=2'],
    [{ allow: null, deny: null, sort: true }, '/x?b=2&a=1&b=1', '/x?a=1&b=2&b=1'],
    [{ allow: null, deny: null, sort: true }, '/x?b=%zz&a', '/x?a&b=%zz'],
  ])('%j of %s', (query, path, target) => {
    // What is not in the key is not sent.
    expect(place(path, { query })).toMatchObject({ target, key: `http://a.test${target}` })
  })
})

test('hosts and schemes share when told so, and the origin hears of one', () => {
  const rules = { host: 'www.test', scheme: 'https' } as const
  expect(place('/x', rules)).toMatchObject({
    key: 'https://www.test/x',
    authority: 'www.test',
    scheme: 'https',
  })
})

test('chosen fields and cookies set requests apart', () => {
  const rules = { headers: ['x-tenant'], cookies: ['lang'] }
  const of = (headers: Record<string, string>) => place('/x', rules, { headers }).selector
  expect(of({ 'X-Tenant': 'a', Cookie: 'id=1; lang=de' })).toBe('/x\nx-tenant:a\ncookie:lang=de')
  expect(of({ Cookie: 'xlang=de' })).toBe('/x')
})

test('what a trusted peer says of host and port counts, what others say does not', () => {
  const headers = { 'X-Forwarded-Host': 'evil', Forwarded: 'for=1.2.3.4;host=e2;proto=http' }
  expect(place('/x', {}, { headers }).selector).toBe('/x')
  expect(place('/x', {}, { headers, peerTrusted: true }).selector).toBe(
    '/x\nx-forwarded-host:evil\nforwarded:host=e2,proto=http',
  )
})

test('a URL has the key of the requests for it', () => {
  const rules = { ...plain, query: { allow: new Set(['a']), deny: null, sort: true } }
  expect(keyOf('http', 'a.test', '/x', 'utm=1&a=1', rules)).toBe(place('/x?utm=1&a=1', rules).key)
  expect(keyOf('http', 'a.test', '/x', 'utm=1', rules)).toBe(place('/x?utm=1', rules).key)
  expect(keyOf('http', 'a.test', '/x', '', plain)).toBe(place('/x?').key)
  expect(keyOf('http', 'a.test', '/x', null, plain)).toBe(place('/x').key)
})
