import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Pattern, readPattern } from './pattern.ts'
import { Router } from './router.ts'

function routerOf(texts: readonly string[]): Router<string> {
  const patterns = texts.map(text => readPattern(text) as Pattern)
  const router = new Router<string>(patterns)
  for (const pattern of patterns) expect(router.add(pattern, pattern.text)).toBeNull()
  return router
}

function found(router: Router<string>, method: string, path: string): unknown {
  const match = router.find(method, path)
  return match === null || match === 'mismatch' ? match : [match.value, { ...match.params }]
}

describe('one table', () => {
  const router = routerOf([
    '/',
    '/users/me',
    'DELETE /users/:id',
    '/users/:id',
    '/users/*rest',
    '/files/*',
    'GET /doc',
    'POST,PUT /doc',
    '/a/:x/c',
    '/a//b',
  ])

  test.each([
    ['GET', '/', ['/', {}]],
    ['GET', '/users/me', ['/users/me', {}]],
    ['GET', '/users/you', ['/users/:id', { id: 'you' }]],
    ['GET', '/users/ME', ['/users/:id', { id: 'ME' }]],
    ['GET', '/users/you/more/', ['/users/*rest', { rest: 'you/more/' }]],
    ['DELETE', '/users/you', ['DELETE /users/:id', { id: 'you' }]],
    ['PROPFIND', '/users/you', ['/users/:id', { id: 'you' }]],
    ['NO-SUCH', '/users/me', ['/users/me', {}]],
    ['GET', '/files/', ['/files/*', { '*': '' }]],
    ['GET', '/files/a/b', ['/files/*', { '*': 'a/b' }]],
    ['GET', '/files', null],
    ['GET', '/Files/a', null],
    ['GET', '/doc', ['GET /doc', {}]],
    ['HEAD', '/doc', ['GET /doc', {}]],
    ['PUT', '/doc', ['POST,PUT /doc', {}]],
    ['DELETE', '/doc', 'mismatch'],
    ['get', '/doc', 'mismatch'],
    ['GET', '/doc/', null],
    ['GET', '/a/b/c', ['/a/:x/c', { x: 'b' }]],
    ['GET', '/a//b', ['/a//b', {}]],
    ['GET', '/users/a%20b', ['/users/:id', { id: 'a b' }]],
    ['GET', '/users/a%2Fb', ['/users/:id', { id: 'a/b' }]],
    ['GET', '/users/%2520', ['/users/:id', { id: '%20' }]],
    ['GET', '/users/%C3%A4', ['/users/:id', { id: '\u00e4' }]],
    ['GET', '/users/a;b', ['/users/:id', { id: 'a;b' }]],
    ['GET', '/users/a%3Fb%23c', ['/users/:id', { id: 'a?b#c' }]],
  ] as [string, string, unknown][])('%s %s', (method, path, expected) => {
    expect(found(router, method, path)).toEqual(expected)
  })

  test.each([
    ['/doc', ['GET', 'HEAD', 'POST', 'PUT']],
    ['/users/you', ['DELETE', 'GET', 'HEAD', 'POST', 'PUT']],
    ['/nowhere', []],
  ])('Allow of %s is %j', (path, methods) => {
    expect(router.allowed(path)).toEqual(methods)
  })
})

test('an empty router finds nothing', () => {
  expect(new Router([]).find('GET', '/')).toBeNull()
})

test('the same path may be open, and named by method', () => {
  const router = routerOf(['GET /x', '/x'])
  expect(['GET', 'HEAD', 'POST'].map(method => found(router, method, '/x'))).toEqual([
    ['GET /x', {}],
    ['GET /x', {}],
    ['/x', {}],
  ])
})

test.each([
  [['GET /x', 'GET /x'], 'GET /x is already routed'],
  [['GET /x/:a', 'GET /x/:b'], 'GET /x/:b is already routed'],
  [['POST,GET /x', 'PUT,HEAD /x'], 'HEAD /x is already routed'],
  [['GET /x/*', 'GET /x/*rest'], 'GET /x/*rest is already routed'],
])('%j clash', (texts, problem) => {
  const patterns = texts.map(text => readPattern(text) as Pattern)
  const router = new Router<string>(patterns)
  expect(patterns.map(pattern => router.add(pattern, pattern.text))).toEqual([null, problem])
})

test('a method that nobody knows is told', () => {
  const pattern = readPattern('BREW /x') as Pattern
  expect(new Router([pattern]).add(pattern, 1)).toMatch(/BREW/)
})

test('a static segment wins over a parameter, a parameter over a wildcard, whatever stands first', () => {
  const segment = fc.constantFrom('a', 'b', ':p')
  const pattern = fc
    .tuple(fc.array(segment, { minLength: 1, maxLength: 3 }), fc.constantFrom('', '/*'))
    // Parameters of one place have one name, so that patterns are told apart by their shape.
    .map(([segments, end]) => `/${segments.map((s, i) => (s === ':p' ? `:p${i}` : s)).join('/')}${end}`)
  const path = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(fc.uniqueArray(pattern, { maxLength: 8 }), path, (patterns, segments) => {
      const router = routerOf(patterns)
      const match = router.find('GET', `/${segments.join('/')}`)
      const best = patterns
        .map(text => ({ text, rank: rank(text.slice(1).split('/'), segments) }))
        .filter(one => one.rank !== null)
        .sort((one, other) => (one.rank! < other.rank! ? -1 : 1))[0]
      expect(match === null || match === 'mismatch' ? match : match.value).toBe(best ? best.text : null)
    }),
    { numRuns: 1000 },
  )
})

/** One digit a segment: 0 static, 1 parameter, 2 wildcard; the smallest text wins. `null` for no match. */
function rank(pattern: readonly string[], path: readonly string[]): string | null {
  let text = ''
  for (const [i, segment] of pattern.entries()) {
    if (segment === '*') return path.length > i ? `${text}2` : null
    if (path[i] === undefined) return null
    if (segment.startsWith(':')) text += '1'
    else if (segment === path[i]) text += '0'
    else return null
  }
  return pattern.length === path.length ? text : null
}
