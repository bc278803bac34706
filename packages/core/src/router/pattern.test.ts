import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isWithin, type Pattern, readPattern } from './pattern.ts'

test.each([
  ['/', [], '/', null],
  ['/a/:id', [], '/a/:id', null],
  ['/a/*', [], '/a/*', '*'],
  ['/a/*rest', [], '/a/*rest', 'rest'],
  ['GET /a', ['GET'], '/a', null],
  ['HEAD,GET /a', ['HEAD', 'GET'], '/a', null],
  ['POST,PUT /a', ['POST', 'PUT'], '/a', null],
  ['M-SEARCH /a', ['M-SEARCH'], '/a', null],
  ['/a//b/', [], '/a//b/', null],
  ["/a-._~!$&'()+,;=@b", [], "/a-._~!$&'()+,;=@b", null],
  ['/:a/:b/*c', [], '/:a/:b/*c', 'c'],
  ['/.well-known/...', [], '/.well-known/...', null],
  ['/caf%C3%A9/a%20b', [], '/caf%C3%A9/a%20b', null],
])('%s', (text, methods, path, wildcard) => {
  const read = readPattern(text)

  const impliesHead = methods.join() === 'GET'
  expect(read).toEqual({ text, methods, impliesHead, path, wildcard })
})

test.each([
  ['', 'the path does not start with /'],
  ['a', 'the path does not start with /'],
  ['GET a', 'the path does not start with /'],
  ['get /a', "'get' is not an upper-case method"],
  ['GET,, /a', "'' is not an upper-case method"],
  [' /a', "'' is not an upper-case method"],
  ['/a b', "'/a' is not an upper-case method"],
  ['GET /a b', "'a b' is neither text, :name nor *name"],
  ['/a?b', "'a?b' is neither text, :name nor *name"],
  ['/a#b', "'a#b' is neither text, :name nor *name"],
  ['/:', "':' is neither text, :name nor *name"],
  ['/:1', "':1' is neither text, :name nor *name"],
  ['/:id(\\d+)', "':id(\\d+)' is neither text, :name nor *name"],
  ['/:a-:b', "':a-:b' is neither text, :name nor *name"],
  ['/a:b', "'a:b' is neither text, :name nor *name"],
  ['/a*', "'a*' is neither text, :name nor *name"],
  ['/**', "'**' is neither text, :name nor *name"],
  ['/\u00e4', "'\u00e4' is not how it stands in a canonical path: write '%C3%A4'"],
  ['/x/\ud800', "'\ud800' is not how it stands in a canonical path: write '%EF%BF%BD'"],
  ['/%7euser', "'%7euser' is not how it stands in a canonical path: write '~user'"],
  ['/a%5b', "'a%5b' is not how it stands in a canonical path: write 'a%5B'"],
  ['/100%', "'100%' is not how it stands in a canonical path: write '100%25'"],
  ['/%40scope', "'%40scope' is not how it stands in a canonical path: write '@scope'"],
  ['/%2e%2e/a', 'a canonical path has no dot segments'],
  ['/a%2Fb', "'a%2Fb' holds %2F, which only a parameter or wildcard can match"],
  ['/a%3F', "'a%3F' holds %3F, which only a parameter or wildcard can match"],
  ['/a%2A', "'a%2A' holds %2A, which only a parameter or wildcard can match"],
  ['/%FF', "'%FF' is not UTF-8, and only a parameter or wildcard can match that"],
  ['/:__proto__', 'no parameter can be called __proto__'],
  ['GET,GET /a', 'a method is named twice'],
  ['/*/a', 'a wildcard stands only at the end'],
  ['/*rest/a', 'a wildcard stands only at the end'],
  ['/a/../b', 'a canonical path has no dot segments'],
  ['/.', 'a canonical path has no dot segments'],
  ['/:id/:id', 'parameter id is named twice'],
  ['/:id/*id', 'parameter id is named twice'],
])('%j: %s', (text, problem) => {
  expect(readPattern(text)).toBe(problem)
})

describe('isWithin', () => {
  const within = (inner: string, outer: string): boolean =>
    isWithin(readPattern(inner) as Pattern, readPattern(outer) as Pattern)

  test.each([
    ['/a/b', '/a/*', true],
    ['/a/', '/a/*', true],
    ['/a', '/a/*', false],
    ['/ab/c', '/a/*', false],
    ['/a/:id/*rest', '/a/*', true],
    ['/a/*', '/a/*all', true],
    ['/*', '/a/*', false],
    ['/users/:id', '/users/:id', true],
    ['/users/:other', '/users/:id', false],
    ['/users/7', '/users/:id', false],
    ['/users/:id/x', '/users/:id', false],
    ['/users/:id/x', '/users/:id/*', true],
    ['/', '/', true],
    ['POST /a/b', 'GET /a/*', true],
  ])('%s in %s: %s', (inner, outer, expected) => {
    expect(within(inner, outer)).toBe(expected)
  })

  test('every pattern is within itself, and within the wildcard of each of its beginnings', () => {
    const segment = fc.constantFrom('a', 'b', ':x', ':y', '')
    fc.assert(
      fc.property(fc.uniqueArray(segment, { minLength: 1 }), fc.nat(5), (segments, cut) => {
        const text = `/${segments.join('/')}`
        const front = segments.slice(0, Math.min(cut, segments.length - 1))
        expect(within(text, text)).toBe(true)
        expect(within(text, `/${[...front, '*'].join('/')}`)).toBe(true)
      }),
    )
  })
})
