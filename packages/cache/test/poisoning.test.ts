/** Who wants others to see what is not for them, or what is not true. */
import { describe, expect, test } from 'vitest'
import { cachingEdge } from './support.ts'

const FRESH = { 'Cache-Control': 'max-age=60' }

/** An origin that says what it saw: any of it in a stored answer, from somebody else's request, is poison. */
const mirror: Parameters<typeof cachingEdge>[0] = (res, seen) => {
  res.writeHead(200, FRESH)
  res.end(JSON.stringify([seen.method, seen.target, seen.raw, seen.body.toString()]))
}

describe('what is in no key does not reach a stored answer', () => {
  test.each([
    ['X-HTTP-Method-Override', 'EVIL'],
    ['X-HTTP-Method', 'EVIL'],
    ['X-Original-URL', '/admin'],
    ['X-Rewrite-URL', '/admin'],
    ['X-Forwarded-Scheme', 'evil'],
    ['X-Forwarded-Prefix', '/evil'],
    ['X-Forwarded-Server', 'evil'],
    ['X-Host', 'evil'],
    ['X_Original_URL', '/admin'],
    ['X-Forwarded-Host', 'evil'],
    ['X-Forwarded-Port', '666'],
    ['X-Forwarded-Proto', 'gopher'],
    ['Forwarded', 'host=evil'],
  ])('%s', async (name, value) => {
    const { get } = await cachingEdge(mirror)
    const attacker = await get('/x', { [name]: value })
    const victim = await get('/x')
    expect(victim.body).not.toContain(value)
    // And nobody's request with it is answered from the store, unless the origin cannot see it at all.
    const again = await get('/x', { [name]: value })
    if (attacker.body.includes(value)) expect(again.headers.age).toBeUndefined()
  })

  test('a body on GET', async () => {
    const { get, store } = await cachingEdge(mirror)
    await get('/x', { 'content-type': 'application/x-www-form-urlencoded' }, 'GET', 'q=evil')
    expect(store.stats().entries).toBe(0)
    expect((await get('/x')).body).not.toContain('evil')
    // A stored answer does not answer it either.
    expect((await get('/x', {}, 'GET', 'q=mine')).body).toContain('q=mine')
  })

  test('dropped parameters', async () => {
    const { get } = await cachingEdge(mirror, { key: { query: { deny: ['utm_source'] } } })
    const one = await get('/x?utm_source=evil&a=1')
    expect(one.body).not.toContain('evil')
    expect((await get('/x?a=1')).headers.age).toBeDefined()
  })

  test('the host, where all share', async () => {
    const { get } = await cachingEdge(mirror, { key: { host: 'www.test' } })
    expect((await get('/x', { host: 'evil.test' })).body).not.toContain('"evil.test"')
    expect((await get('/x', { host: 'other.test' })).headers.age).toBeDefined()
  })
})

describe('what is kept apart', () => {
  test.each([
    ['hosts', ['/x', { host: 'a.test' }], ['/x', { host: 'b.test' }]],
    ['spellings of a path', ['/a', {}], ['/%61', {}]],
    ['paths that some servers take for the same', ['/a/b', {}], ['/a//b', {}]],
    ['encoded slashes', ['/a/b', {}], ['/a%2Fb', {}]],
    ['path parameters', ['/account', {}], ['/account;x.css', {}]],
    ['an empty query', ['/a', {}], ['/a?', {}]],
    ['the order of parameters', ['/a?x=1&x=2', {}], ['/a?x=2&x=1', {}]],
    ['methods', ['/a', {}, 'GET'], ['/a', {}, 'OPTIONS']],
  ] as const)('%s', async (_name, one, two) => {
    const { get, seen } = await cachingEdge(mirror)
    await get(...(one as unknown as Parameters<typeof get>))
    await get(...(two as unknown as Parameters<typeof get>))
    expect(seen).toHaveLength(2)
  })

  test('credentials: neither way', async () => {
    const { get, seen } = await cachingEdge(mirror)
    await get('/x', { authorization: 'Basic YTpi' })
    expect((await get('/x')).body).not.toContain('YTpi')
    // A response for everybody is not what a signed-in user is given, unless the origin says that it is.
    await get('/x', { authorization: 'Basic YTpi' })
    expect(seen).toHaveLength(3)
  })

  test('cookies that are set', async () => {
    let session = 0
    const { get, seen } = await cachingEdge((res, { target }) => {
      const more = target === '/shared' ? ', public' : ''
      res.writeHead(200, { 'Cache-Control': `max-age=60${more}`, 'Set-Cookie': `session=${++session}` }).end()
    })
    const sessions = [await get('/x'), await get('/x')].map(one => one.headers['set-cookie'])
    expect(sessions).toEqual([['session=1'], ['session=2']])
    await get('/shared')
    await get('/shared')
    expect(seen).toHaveLength(3)
  })

  test('a cookie that comes with a validation', async () => {
    const { get } = await cachingEdge(res => {
      const { 'if-none-match': tag } = res.req.headers
      if (tag) res.writeHead(304, { ...FRESH, 'Set-Cookie': 'session=alice' }).end()
      else res.writeHead(200, { 'Cache-Control': 'max-age=0', ETag: '"a"' }).end('x')
    })
    await get('/x')
    await get('/x')
    const bob = await get('/x')
    expect(bob.headers.age).toBeDefined()
    expect(bob.headers['set-cookie']).toBeUndefined()
  })
})

describe('invalidation', () => {
  test('reaches every spelling and variant of a URL', async () => {
    let version = 0
    const { get } = await cachingEdge((res, { method }) => {
      if (method === 'PUT') version++
      res.writeHead(200, { ...FRESH, Vary: 'Accept-Language' }).end(`v${version}`)
    })
    const all = (): Promise<string[]> =>
      Promise.all([get('/x'), get('/%78'), get('/x', { 'accept-language': 'de' })]).then(got =>
        got.map(one => one.body),
      )
    expect(await all()).toEqual(['v0', 'v0', 'v0'])
    await get('/x', {}, 'PUT', 'new')
    expect(await all()).toEqual(['v1', 'v1', 'v1'])
  })

  test('by Location stays on its own host', async () => {
    const { get, seen } = await cachingEdge((res, { method }) => {
      if (method === 'POST') res.writeHead(201, { Location: 'http://victim.test/x' }).end()
      else res.writeHead(200, FRESH).end()
    })
    await get('/x', { host: 'victim.test' })
    await get('/new', { host: 'evil.test' }, 'POST', 'a')
    await get('/x', { host: 'victim.test' })
    expect(seen).toHaveLength(2)
  })

  test('by a failed request is none', async () => {
    const { get, seen } = await cachingEdge((res, { method }) => {
      res.writeHead(method === 'GET' ? 200 : 403, FRESH).end()
    })
    await get('/x')
    await get('/x', {}, 'DELETE')
    await get('/x')
    expect(seen).toHaveLength(2)
  })
})

test('bounds hold whatever comes', async () => {
  const { get, store } = await cachingEdge(
    (res, { target }) => res.writeHead(200, FRESH).end(target.repeat(20)),
    {
      maxBytes: 300_000,
      maxEntries: 50,
    },
  )
  for (let i = 0; i < 200; i++) {
    await get(`/${i}`)
    expect(store.stats().bytes).toBeLessThanOrEqual(300_000)
    expect(store.stats().entries).toBeLessThanOrEqual(50)
  }
  expect(store.stats().entries).toBeGreaterThan(20)
  // The newest are there.
  expect((await get('/199')).headers.age).toBeDefined()
})
