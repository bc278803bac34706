import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalPath, readTarget } from './target.ts'

/** Pieces that paths of attackers are made of. */
const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('/', '.', '..', '%2e', '%2E', '%2f', '%5C', ';', '%', '%25', '%00'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('a', 'b%41', '~', '%7e', '%c3%a4', 'ä', '\\', '"', '|', '%C0%AE', 'é'),
  },
  { weight: 1, arbitrary: fc.integer({ min: 0x21, max: 0xff }).map(code => String.fromCharCode(code)) },
)
const anyPath = fc.array(piece, { maxLength: 14 }).map(parts => `/${parts.join('')}`)
const safeSegment = fc
  .array(fc.constantFrom(..."abcXYZ019-_~!$&'()*+,=:@"), { maxLength: 6 })
  .map(chars => chars.join(''))
const safePath = fc.array(safeSegment, { minLength: 1, maxLength: 6 }).map(parts => `/${parts.join('/')}`)

describe('canonicalPath', () => {
  test.each([
    ['/', '/'],
    ['/a/b', '/a/b'],
    ['/a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/a/b/..', '/a/'],
    ['/a/b/.', '/a/b/'],
    ['/.', '/'],
    ['/a/%2e%2E/b', '/b'],
    ['/%61%7E%2d', '/a~-'],
    ['/%2f', '/%2F'],
    ['/a%5cb', '/a%5Cb'],
    ['/%zz', '/%25zz'],
    ['/100%', '/100%25'],
    ['/a%2', '/a%252'],
    ['/\xe4', '/%E4'],
    ['/"<>', '/%22%3C%3E'],
    ['//a', '//a'],
    ['/a//b/', '/a//b/'],
    ['/a.b/..c/...', '/a.b/..c/...'],
    ['/a;v=1/b', '/a;v=1/b'],
    ['/..', null],
    ['/a/../..', null],
    ['/a//../b', null],
    ['//..', null],
    ['/a/..%2fb', null],
    ['/a/..;x/b', null],
    ['/a/.;/b', null],
    ['/a/..%5cb', null],
    ['/a/..\\b', null],
    ['/a/%252e%252e/b', null],
    ['/a/%25252e%25252e/b', null],
    ['/a/..%00/b', null],
    ['/a/%c0%ae%c0%ae/b', null],
    ['/a/%2e%2e%3bx', null],
    ['/a/;x/../b', null],
    ['/a/%3Bx/../b', null],
    ['/a%2Fb/../c', null],
    ['/a\\b/../c', null],
    ['/a/b;x/../c', '/a/c'],
    ['/a/b/../c%2Fd;e', '/a/c%2Fd;e'],
  ])('%s is %s', (path, expected) => {
    expect(canonicalPath(path)).toBe(expected)
  })

  test('a canonical path is its own canonical path', () => {
    fc.assert(
      fc.property(anyPath, path => {
        const once = canonicalPath(path)
        fc.pre(once !== null)
        expect(canonicalPath(once)).toBe(once)
      }),
      { numRuns: 3000 },
    )
  })

  test('a canonical path holds only characters of a path, and no dot segments', () => {
    fc.assert(
      fc.property(anyPath, path => {
        const canonical = canonicalPath(path)
        fc.pre(canonical !== null)
        expect(canonical).toMatch(/^(?:\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-F]{2})*)+$/)
        for (const segment of canonical.split('/')) expect(['.', '..']).not.toContain(segment)
      }),
      { numRuns: 3000 },
    )
  })

  test('a path of plain segments stays as it is', () => {
    fc.assert(
      fc.property(safePath, path => {
        expect(canonicalPath(path)).toBe(path)
        expect(readTarget('GET', path)).toMatchObject({ target: path, path })
      }),
    )
  })

  test('agrees with splitting, decoding and resolving one after the other', () => {
    fc.assert(
      fc.property(anyPath, path => {
        const canonical = canonicalPath(path)
        fc.pre(canonical !== null)
        expect(canonical).toBe(reference(path))
      }),
      { numRuns: 3000 },
    )
  })

  test('refuses nothing that has neither dots at the start of a segment nor anything encoded', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '/', 'b.c', '"', '\xff'), { maxLength: 12 }), parts => {
        expect(canonicalPath(`/${parts.join('')}`)).not.toBeNull()
      }),
    )
  })
})

/** Step by step, as RFC 3986 tells it. */
function reference(path: string): string {
  const out: string[] = []
  const segments = path.slice(1).split('/')
  segments.forEach((raw, index) => {
    const bytes = [...raw.matchAll(/%([0-9a-f]{2})|([\s\S])/gi)].map(([, hex, char]) => ({
      code: hex === undefined ? char!.charCodeAt(0) : Number.parseInt(hex, 16),
      encoded: hex !== undefined,
    }))
    const text = bytes
      .map(({ code, encoded }) => {
        const char = String.fromCharCode(code)
        if (/[A-Za-z0-9\-._~]/.test(char) || (!encoded && /[!$&'()*+,;=:@]/.test(char))) return char
        return `%${code.toString(16).toUpperCase().padStart(2, '0')}`
      })
      .join('')
    const last = index === segments.length - 1
    if (text === '..') out.pop()
    if (text !== '.' && text !== '..') out.push(text)
    else if (last) out.push('')
  })
  return `/${out.join('/')}`
}

describe('readTarget', () => {
  test.each([
    ['GET', '/a?b=c?d', { target: '/a?b=c?d', path: '/a', query: 'b=c?d', authority: null }],
    ['GET', '/?', { target: '/?', path: '/', query: '', authority: null }],
    ['GET', '/a/../b?../c', { target: '/a/../b?../c', path: '/b', query: '../c', authority: null }],
    ['OPTIONS', '*', { target: '*', path: '*', query: '', authority: null }],
    ['GET', 'http://h:81/x?y', { target: '/x?y', path: '/x', query: 'y', authority: 'h:81' }],
    ['GET', 'HTTPS://h', { target: '/', path: '/', query: '', authority: 'h' }],
    ['GET', 'http://h?q', { target: '/?q', path: '/', query: 'q', authority: 'h' }],
  ])('%s %s', (method, raw, expected) => {
    expect(readTarget(method, raw)).toEqual(expected)
  })

  test.each([
    ['GET', '*', 'bad-target'],
    ['GET', '', 'bad-target'],
    ['GET', 'a', 'bad-target'],
    ['GET', '?x', 'bad-target'],
    ['GET', '/a b', 'bad-target'],
    ['GET', '/a\tb', 'bad-target'],
    ['GET', '/a\x00', 'bad-target'],
    ['GET', '/a\x7f', 'bad-target'],
    ['GET', '/a#b', 'bad-target'],
    ['GET', '/a?b#c', 'bad-target'],
    ['GET', '/a?b c', 'bad-target'],
    ['GET', '/\u0100', 'bad-target'],
    ['GET', '/?\u0100', 'bad-target'],
    ['GET', 'http://u@h/', 'bad-target'],
    ['GET', 'http://u:p@h/', 'bad-target'],
    ['GET', 'http://h\\x', 'bad-target'],
    ['GET', 'http://h#x', 'bad-target'],
    ['GET', 'http:///x', 'bad-target'],
    ['GET', 'ftp://h/', 'bad-target'],
    ['CONNECT', 'h:443', 'bad-target'],
    ['GET', '/..', 'ambiguous-path'],
    ['GET', 'http://h/..', 'ambiguous-path'],
  ])('refuses %s %j as %s', (method, raw, fault) => {
    expect(readTarget(method, raw)).toBe(fault)
  })

  test('keeps the target byte for byte, and the query is what follows the first question mark', () => {
    fc.assert(
      fc.property(anyPath, fc.constantFrom('', '?', '?a=%zz&b', '?x?y'), (path, query) => {
        const raw = path + query
        const read = readTarget('GET', raw)
        fc.pre(typeof read !== 'string')
        expect(read.target).toBe(raw)
        const mark = raw.indexOf('?')
        expect(read.query).toBe(mark === -1 ? '' : raw.slice(mark + 1))
        expect(read.path).toBe(canonicalPath(mark === -1 ? raw : raw.slice(0, mark)))
      }),
      { numRuns: 2000 },
    )
  })
})
