import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Pattern, readPattern } from './pattern.ts'
import { Router } from './router.ts'

function routerOf(texts: readonly string[]): Router<string> {
  const router = routerWith(texts)
  expect(router.problems).toEqual([])
  return router
}

function routerWith(texts: readonly string[]): Router<string> {
  return new Router(texts.map(text => ({ pattern: readPattern(text) as Pattern, value: text })))
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

test.each([[['GET /x', '/x']], [['/x', 'GET /x']]])(
  '%j: the same path may be open, and named by method',
  texts => {
    const router = routerOf(texts)
    expect(['GET', 'HEAD', 'POST', 'TRACE'].map(method => found(router, method, '/x'))).toEqual([
      ['GET /x', {}],
      ['GET /x', {}],
      ['/x', {}],
      ['/x', {}],
    ])
  },
)

test.each([[['GET /x', 'HEAD /x']], [['HEAD /x', 'GET /x']], [['/x', 'GET /x', 'POST,HEAD /x']]])(
  '%j: HEAD that is named wins over HEAD that comes with GET',
  texts => {
    const router = routerOf(texts)
    const head = texts.find(text => text.includes('HEAD'))!
    expect([found(router, 'GET', '/x'), found(router, 'HEAD', '/x')]).toEqual([
      ['GET /x', {}],
      [head, {}],
    ])
  },
)

test.each(['TRACE', 'PROPFIND', 'LINK', 'SOURCE', 'QUERY', 'UNLINK'])(
  '%s in a route opens it to no other method',
  method => {
    const router = routerWith([`${method} /x`, 'GET /y', '/z'])
    // Which methods there are, Node decides.
    if (router.problems.length > 0) return expect(router.problems[0]!.problem).toContain(method)
    expect(found(router, method, '/x')).toEqual([`${method} /x`, {}])
    for (const other of ['GET', 'HEAD', 'POST', 'TRACE', 'ACL', 'BREW', '', 'get', '__proto__']) {
      if (other !== method) expect(found(router, other, '/x'), other).toBe('mismatch')
    }
    expect(router.allowed('/x')).toEqual([method])
    expect(found(router, method, '/z')).toEqual(['/z', {}])
  },
)

test.each([
  [['GET /x', 'GET /x'], 'GET /x is already routed'],
  [['/x', '/x'], '/x is already routed'],
  [['/x/:a', '/x/:b'], '/x/:b is already routed'],
  [['GET /x/:a', 'GET /x/:b'], 'GET /x/:b is already routed'],
  [['POST,HEAD /x', 'PUT,HEAD /x'], 'HEAD /x is already routed'],
  [['GET /x/*', 'GET /x/*rest'], 'GET /x/*rest is already routed'],
  [['/x/*', '/x/*rest'], '/x/*rest is already routed'],
])('%j clash', (texts, problem) => {
  expect(routerWith(texts).problems).toMatchObject([{ pattern: { text: texts[1] }, problem }])
})

test('a method that nobody knows is told', () => {
  expect(routerWith(['BREW /x']).problems).toMatchObject([{ problem: expect.stringContaining('BREW') }])
})

test.each([
  ['/caf%C3%A9', '/caf%C3%A9'],
  ['/a%20b/*', '/a%20b/x'],
  ['/100%25/:x', '/100%25/x'],
  ['/a%5Bb%5D', '/a%5Bb%5D'],
  ['/@scope', '/%40scope'],
  ['/a+b=c', '/a%2Bb%3Dc'],
  ['/a!b', '/a%21b'],
  ['/caf%C3%A9/*', '/caf%C3%A9/%FF'],
  ['/caf%C3%A9/*', '/caf%C3%A9/%E9%C3%A9%C0%AF%ED%A0%80'],
])('%s takes %s', (pattern, path) => {
  expect(found(routerOf([pattern, '/*']), 'GET', path)).toMatchObject([pattern, {}])
})

test.each([
  ['/admin/%FF', ['/admin/*rest', { rest: '%FF' }]],
  ['/admin/%FF/%C3%A9', ['/admin/*rest', { rest: '%FF/\u00e9' }]],
  ['/admin/%25FF', ['/admin/*rest', { rest: '%FF' }]],
  ['/users/%C0%AE', ['/users/:id', { id: '%C0%AE' }]],
  ['/users/%80%2F', ['/users/:id', { id: '%80/' }]],
])('a path that is no UTF-8 keeps its route: %s', (path, expected) => {
  const router = routerOf(['/admin/*rest', '/users/:id', 'PUT /users/:id'])
  expect(found(router, 'GET', path)).toEqual(expected)
  expect(router.allowed(path)).toEqual(['PUT'])
})

test('every byte finds its route, alone and beside others', () => {
  const router = routerOf(['/a/*rest'])
  const byte = fc.integer({ min: 0x80, max: 0xff }).map(code => `%${code.toString(16).toUpperCase()}`)
  fc.assert(
    fc.property(fc.array(byte, { minLength: 1, maxLength: 6 }), bytes => {
      const path = `/a/${bytes.join('')}`
      const match = router.find('GET', path)
      expect(match).toMatchObject({ value: '/a/*rest' })
      // What is UTF-8 is decoded, the rest stands for itself: nothing is lost.
      const { rest } = (match as { params: Record<string, string> }).params
      expect(encodeURIComponent(rest!).replaceAll('%25', '%')).toBe(bytes.join(''))
    }),
    { numRuns: 3000 },
  )
})

test('a parameter may be as long as the path is', () => {
  const long = 'x'.repeat(300_000)
  const router = routerOf(['/a/:id', '/b/*rest'])
  expect(found(router, 'GET', `/a/${long}`)).toEqual(['/a/:id', { id: long }])
  expect(found(router, 'GET', `/b/${long}`)).toEqual(['/b/*rest', { rest: long }])
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
