/** What an operator does and sees: purges, the admin handler, decisions in log and metrics, fixed assets, options. */
import { accessLog, ipAccess, pipeline, proxy, reply } from '@postern/core'
import { describe, expect, test } from 'vitest'
import { origin, testUpstream } from '../../core/test/support/servers.ts'
import { type CacheDecision, type CacheOptions, cache, cacheAdmin, cacheOutcome } from '../src/index.ts'
import { cachingEdge, turn } from './support.ts'

const FRESH = { 'Cache-Control': 'max-age=60' }

describe('purge', () => {
  const answer: Parameters<typeof cachingEdge>[0] = (res, { target }) => {
    const tags = target.startsWith('/a/') ? 'section-a page' : 'page'
    res
      .writeHead(200, { ...FRESH, 'Surrogate-Key': tags, 'Cache-Tag': 'all, other', ETag: '"e"' })
      .end(target)
  }
  const paths = ['/a/1', '/a/2?x=1', '/b/1', '/b/%31']

  test.each([
    ['url', 'http://edge.test/b/1', 2, ['/b/1', '/b/%31']],
    ['url', 'http://EDGE.test:80/b/%31', 2, ['/b/1', '/b/%31']],
    ['url', 'http://edge.test/a/2', 0, []],
    ['url', 'http://edge.test/a/2?x=1', 1, ['/a/2?x=1']],
    ['prefix', 'http://edge.test/a/', 2, ['/a/1', '/a/2?x=1']],
    ['prefix', 'http://other.test/', 0, []],
    ['tag', 'section-a', 2, ['/a/1', '/a/2?x=1']],
    ['tag', 'other', 4, paths],
    ['tag', 'nothing', 0, []],
    ['all', '', 4, paths],
  ] as const)('%s %s', async (how, what, count, gone) => {
    const { get, seen, store } = await cachingEdge(answer)
    for (const path of paths) await get(path)
    expect(await store.purge[how](what as never)).toBe(count)
    expect(store.stats().entries).toBe(4 - count)
    for (const path of paths) await get(path)
    expect(seen.slice(4).map(one => one.target)).toEqual(gone)
  })

  test.each([['not a url'], ['/path'], ['ftp://a.test/'], ['http://a.test/#x'], ['http://a.test/a/..%2f..']])(
    'is refused for %s',
    async url => {
      await expect(cache().purge.url(url)).rejects.toThrow(TypeError)
    },
  )

  test('softly: it is asked for with what is stored, and still there if the origin is not', async () => {
    let down = false
    const { get, seen, store } = await cachingEdge(res => {
      if (down) res.socket!.destroy()
      else if (res.req.headers['if-none-match'] === '"e"') res.writeHead(304, FRESH).end()
      else res.writeHead(200, { ...FRESH, ETag: '"e"', 'Cache-Tag': 't' }).end('body')
    })
    await get('/x')
    expect(await store.purge.tag('t', { soft: true })).toBe(1)
    expect((await get('/x')).body).toBe('body')
    expect(seen[1]!.raw.join()).toContain('If-None-Match')
    await get('/x')
    expect(seen).toHaveLength(2)
    down = true
    await store.purge.all({ soft: true })
    expect((await get('/x')).body).toBe('body')
    await store.purge.all()
    expect((await get('/x')).status).toBe(502)
  })
})

describe('the admin handler', () => {
  const shared = cache()
  const app = pipeline()
    .route('/cache', r => r.use(ipAccess({ allow: ['127.0.0.1'] })).handle(cacheAdmin(shared)))
    .wrap(shared)
    .handle(() => reply(200, 'x', { headers: { ...FRESH, 'Cache-Tag': 't' } }))
  const json = { 'Content-Type': 'application/json' }
  const send = (body: string, headers: Record<string, string> = json) =>
    app.inject({ path: '/cache', method: 'POST', body, headers })

  test('shows and purges', async () => {
    for (const path of ['/1', '/2', '/3']) await app.inject({ path })
    expect((await app.inject({ path: '/cache' })).json()).toMatchObject({ entries: 3, fetches: 0 })
    expect((await send('{"urls":["http://localhost/1"]}')).json()).toEqual({ purged: 1 })
    expect((await send('{"tags":["t"],"soft":true}')).json()).toEqual({ purged: 2 })
    expect((await send('{"prefixes":["http://localhost/"]}')).json()).toEqual({ purged: 2 })
    await app.inject({ path: '/1' })
    expect((await send('{"all":true}')).json()).toEqual({ purged: 1 })
  })

  test.each([
    ['', 400],
    ['{', 400],
    ['[]', 400],
    ['null', 400],
    ['{}', 400],
    ['{"all":1}', 400],
    ['{"urls":"x"}', 400],
    ['{"urls":[1]}', 400],
    ['{"urls":["nonsense"]}', 400],
    ['{"everything":true}', 400],
    [JSON.stringify({ tags: Array.from({ length: 1001 }, String) }), 400],
    [' '.repeat(70_000), 413],
  ])('refuses %.30s', async (body, status) => {
    expect((await send(body)).status).toBe(status)
  })

  test('a page of another site cannot send commands, nor can other addresses', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'text/json', 'application/jsonx'])
      expect((await send('{"all":true}', { 'Content-Type': type })).status).toBe(415)
    expect((await app.inject({ path: '/cache', method: 'DELETE' })).status).toBe(405)
    expect((await app.inject({ path: '/cache', address: '192.0.2.1' })).status).toBe(403)
  })
})

test('every decision is told: in the state, to the log, to the callback, and in Cache-Status', async () => {
  const told: CacheDecision[] = []
  const lines: Record<string, unknown>[] = []
  const take = (line: Record<string, unknown>): void => void lines.push(line)
  const logger = {
    info: take,
    warn: take,
    error: take,
    isLevelEnabled: () => true,
  } as unknown as NonNullable<Parameters<typeof accessLog>[0]>['logger']
  const app = pipeline()
    .use(accessLog({ logger: logger! }))
    .use(cacheOutcome())
    .wrap(cache({ cacheStatus: 'edge', onDecision: decision => void told.push(decision) }))
    .handle(cx => {
      const secret = cx.request.path === '/private' ? 'private' : 'max-age=60'
      return reply(200, 'x', { headers: { 'Cache-Control': secret } })
    })
  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    (await app.inject({ path, headers, method })).headers.get('cache-status')
  expect(await ask('/x')).toBe('edge; fwd=uri-miss; stored')
  expect(await ask('/x')).toMatch(/^edge; hit; ttl=(59|60)$/)
  expect(await ask('/x', { 'Cache-Control': 'no-cache' })).toBe('edge; fwd=request; stored')
  expect(await ask('/private')).toBe('edge; fwd=uri-miss; detail=private')
  expect(await ask('/x', {}, 'POST')).toBe('edge; fwd=method')
  expect(await ask('/x', { 'X-Original-URL': '/y' })).toBe('edge; fwd=bypass; detail=override-field')
  expect(await ask('/new', { 'Cache-Control': 'only-if-cached' })).toBe(
    'edge; fwd=request; detail=only-if-cached',
  )
  expect(told.map(({ status, reason }) => [status, reason])).toEqual([
    ['miss', ''],
    ['hit', ''],
    ['miss', ''],
    ['miss', 'private'],
    ['bypass', 'method'],
    ['bypass', 'override-field'],
    ['bypass', 'only-if-cached'],
  ])
  expect(lines.map(({ cache, cacheReason }) => [cache, cacheReason ?? ''])).toEqual(
    told.map(({ status, reason }) => [status, reason]),
  )
})

test('the outcome of the request that caused a fetch tells who was asked; that of a hit tells nobody', async () => {
  const { url } = await origin(res => res.writeHead(200, FRESH).end('x'))
  const app = pipeline()
    .wrap(cache())
    .handle(proxy(testUpstream(url)))
  expect((await app.inject({ path: '/x' })).outcome).toMatchObject({ upstream: 'test', attempts: 1 })
  expect((await app.inject({ path: '/x' })).outcome).toMatchObject({ upstream: null, attempts: 0 })
  expect((await app.inject({ path: '/y', method: 'HEAD' })).outcome).toMatchObject({
    upstream: 'test',
    attempts: 1,
  })
})

describe('fingerprinted assets', () => {
  const fingerprinted = /^\/assets\/.+\.[0-9a-f]{8}\.\w+$/

  test('are kept for a year, asked for without credentials, and cannot be demanded anew', async () => {
    const { get, seen } = await cachingEdge(
      res =>
        res.writeHead(200, { 'Content-Type': 'text/javascript', 'Cache-Control': 'max-age=1' }).end('js'),
      { fingerprinted },
    )
    const first = await get('/assets/app.0123abcd.js', { cookie: 'session=1', authorization: 'x' })
    expect(first.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(seen[0]!.raw.join().toLowerCase()).not.toMatch(/cookie|authorization/)
    await turn(1100)
    const again = await get('/assets/app.0123abcd.js', { 'cache-control': 'no-cache', cookie: 'session=2' })
    expect(again.headers.age).toBeDefined()
    expect(seen).toHaveLength(1)
    // Elsewhere all is as ever.
    expect((await get('/assets/app.js')).headers['cache-control']).toBe('max-age=1')
  })

  test.each([
    ['an HTML page', { 'Content-Type': 'text/html' }, 200],
    ['something without a type', {}, 200],
    ['an error', { 'Content-Type': 'text/css' }, 404],
    ['a cookie', { 'Content-Type': 'text/css', 'Set-Cookie': 'a=b' }, 200],
    ['what is private', { 'Content-Type': 'text/css', 'Cache-Control': 'private' }, 200],
    ['what is not to be stored', { 'Content-Type': 'text/css', 'Cache-Control': 'no-store' }, 200],
  ])('%s under such a name is none', async (_name, fields, status) => {
    const { get, seen, store } = await cachingEdge(res => res.writeHead(status, fields).end('x'), {
      fingerprinted,
    })
    for (let i = 0; i < 2; i++) await get('/assets/account.0123abcd.css')
    expect(seen).toHaveLength(2)
    expect(store.stats().entries).toBe(0)
  })
})

test('negative answers, where told so', async () => {
  const { get, seen } = await cachingEdge(res => res.writeHead(404).end(), { negative: { 404: 60 } })
  await get('/x')
  expect((await get('/x')).headers.age).toBeDefined()
  await get('/x', { cookie: 'a=b' })
  expect(seen).toHaveLength(1)
})

describe('options', () => {
  test.each([
    [{ maxByte: 1 }, /maxByte[\s\S]*no such option/],
    [{ maxBytes: 1.5 }, /maxBytes/],
    [{ maxEntryBytes: 2 ** 41 }, /maxEntryBytes/],
    [{ key: { hosts: 'x' } }, /key\.hosts/],
    [{ key: { host: 'http://x' } }, /key\.host/],
    [{ key: { query: { allow: ['a'], deny: ['b'] } } }, /key\.query/],
    [{ key: { headers: ['a b'] } }, /key\.headers/],
    [{ setCookie: 'always' }, /setCookie[\s\S]*when-shared/],
    [{ stale: { ifError: -1 } }, /stale\.ifError/],
    [{ heuristic: { fraction: 2 } }, /heuristic\.fraction/],
    [{ negative: { 99: 1 } }, /negative/],
    [{ cacheStatus: 'a b' }, /cacheStatus/],
    [{ store: {} }, /store/],
    [{ fingerprinted: /assets/ }, /fingerprinted/],
    [{ fingerprinted: /^\/assets/g }, /fingerprinted/],
    [{ onDecision: 1 }, /onDecision/],
    [{ requestDirectives: 'no' }, /requestDirectives/],
  ] as [object, RegExp][])('%j', (options, message) => {
    expect(() => cache(options as CacheOptions)).toThrow(message)
  })

  test('all faults are told at once', () => {
    expect(() => cache({ maxBytes: 0, hitForMiss: -1 })).toThrow(/maxBytes[\s\S]*hitForMiss/)
  })
})
