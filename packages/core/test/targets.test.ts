/** B054 to B058: targets reach the upstream byte for byte, and never change it. */
import { describe, expect, it } from 'vitest'
import { pipeline, proxy, refuse, reply } from '../src/index.ts'
import { get1, raw1, request2, session2 } from './support/clients.ts'
import { edge, origin, proxyEdge, scripted, testUpstream } from './support/servers.ts'

const FAITHFUL = [
  '/q/%2F/x',
  '/a%2fb',
  '/%7Euser',
  '/a%20b',
  '/a+b',
  '/;p=1',
  '/%E2%82%AC',
  '/%',
  '/%zz',
  '/a%00b',
  '/a\\b',
  '/a/./b',
  '/a/b/../c',
  '/api/files//path/to',
  '//test',
  '/x//',
  '///',
  '/a//?q=//b',
  '/_next/[...slug].js',
  '/a/x..y/...z',
  '/v1..2/file',
  '/x?redir=../x',
  '/x?x=1&x=2&y&z=%zz&a=b+c&d=%20&e=&&f',
  '/?',
  '/?a=?b',
  '/x?<>"{}|^`',
  '//10.0.0.1/x',
  '/\\evil.test/x',
]

describe('B054, B055, B058: path and query fidelity', () => {
  it.each(FAITHFUL)('h1 forwards %s as it is', async target => {
    const up = await origin()
    const { port } = await proxyEdge(up.url)
    expect((await get1(port, target)).status).toBe(200)
    expect(up.seen.map(one => one.target)).toEqual([target])
  })

  it('h2 forwards every one of them as it is', async () => {
    const up = await origin()
    const { url } = await proxyEdge(up.url, 'h2c')
    const session = session2(url)
    for (const target of FAITHFUL)
      expect((await request2(session, { ':path': target })).status, target).toBe(200)
    expect(up.seen.map(one => one.target)).toEqual(FAITHFUL)
  })

  it('passes raw bytes above 0x7f where the server takes them', async () => {
    const up = await scripted('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    const { port } = await proxyEdge(up.url)
    const { status } = await get1(port, '/\xe2\x82\xac')
    // Node's parser decides; what it accepts arrives unchanged.
    if (status === 200) expect(up.received()).toContain('GET /\xe2\x82\xac HTTP/1.1')
    else expect(status).toBe(400)
  })

  it('adds the base path of a target in front, and nothing else', async () => {
    const up = await origin()
    const { port } = await proxyEdge(`${up.url}/base/`)
    for (const target of ['/x', '//y', '/a%2fb?q', '/']) await get1(port, target)
    expect(up.seen.map(one => one.target)).toEqual(['/base/x', '/base//y', '/base/a%2fb?q', '/base/'])
  })
})

describe('B056: the target never changes the upstream', () => {
  it('takes absolute-form apart and forwards origin-form', async () => {
    const up = await origin()
    const { port } = await proxyEdge(up.url)
    expect((await get1(port, 'http://edge.test/x?y', [], 'edge.test')).status).toBe(200)
    expect(up.seen[0]!.target).toBe('/x?y')
  })

  it.each([
    ['an absolute target for another host', 'http://evil.test/x'],
    ['an absolute target with user information', 'http://a@edge.test/x'],
    ['a scheme without slashes', 'https:evil.test'],
    ['user information in front', '@evil.test/'],
    ['an asterisk for GET', '*'],
    ['another scheme', 'ftp://edge.test/x'],
    ['authority-form', 'edge.test:80'],
    ['a fragment', '/x#y'],
  ])('refuses %s', async (_what, target) => {
    const up = await origin()
    const { port } = await proxyEdge(up.url)
    expect((await get1(port, target)).status).toBe(400)
    expect(up.seen).toEqual([])
  })

  it('answers OPTIONS * itself', async () => {
    const up = await origin()
    const { port } = await proxyEdge(up.url)
    const { status, head } = await raw1(
      port,
      'OPTIONS * HTTP/1.1\r\nHost: edge.test\r\nConnection: close\r\n\r\n',
    )
    expect(status).toBe(204)
    expect(head).toContain('Allow: GET')
    expect(up.seen).toEqual([])
  })

  it('refuses CONNECT over h1 and h2', async () => {
    const up = await origin()
    const plain = await proxyEdge(up.url)
    expect(
      (await raw1(plain.port, 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n')).status,
    ).toBe(405)
    const { url } = await proxyEdge(up.url, 'h2c')
    const answer = await request2(session2(url), { ':method': 'CONNECT', ':authority': 'evil.test:443' })
    expect(answer.status === 0 || answer.status >= 400).toBe(true)
    expect(up.seen).toEqual([])
  })
})

describe('B057: rules are judged on the resolved path', () => {
  const guarded = async () => {
    const up = await origin()
    const app = pipeline()
      .route('/admin', r => r.handle(() => refuse(403, 'admin')))
      .route('/admin/*', r => r.handle(() => refuse(403, 'admin')))
      .route('/pub/*', r => r.handle(proxy(testUpstream(up.url))))
      .route('/users/:id', r => r.handle(cx => reply(200, cx.params.id)))
      .handle()
    return { ...(await edge(app)), up, h2: await edge(app, 'h2c') }
  }

  it.each([
    '/pub/../admin',
    '/pub/%2e%2e/admin',
    '/pub/.%2E/admin',
    '/pub/..%2fadmin',
    '/pub/%2e%2e%2fadmin',
    '/pub/..;/admin',
    '/pub/..;x=1/admin',
    '/pub/..%5cadmin',
    '/pub/..\\admin',
    '/pub%2f..%2fadmin',
    '/pub/%252e%252e/admin',
    '/pub/..%252fadmin',
    '/pub/%c0%ae%c0%ae/admin',
    '/pub/..%00/admin',
    '/pub//../admin',
    '/../admin',
    '/pub/../../admin',
    '/PUB/../admin',
    '/admin%2fusers',
    '/%61dmin',
    '/%61dmin%2Fusers',
    '/./admin',
  ])('nothing of %s reaches the origin', async target => {
    const { port, url: _url, up, h2 } = await guarded()
    expect([400, 403]).toContain((await get1(port, target)).status)
    expect([400, 403]).toContain((await request2(session2(h2.url), { ':path': target })).status)
    expect(up.seen).toEqual([])
  })

  it.each([
    '/pub/_next/[...slug].js',
    '/pub/x..y/...z',
    '/pub/a?redir=../x',
    '/pub/a%2Fb',
    '/pub/.well-known/x',
    '/pub/a;v=1/b',
  ])('lets %s pass byte for byte', async target => {
    const { port, up } = await guarded()
    expect((await get1(port, target)).status).toBe(200)
    expect(up.seen.map(one => one.target)).toEqual([target])
  })

  it('never escapes the base path of a target', async () => {
    const up = await origin()
    const { port } = await proxyEdge(`${up.url}/base`)
    for (const target of ['/../x', '/a/../../x', '/%2e%2e/x', '/..%2fx', '/a//../../x']) {
      expect((await get1(port, target)).status, target).toBe(400)
    }
    expect(up.seen).toEqual([])
  })
})

describe('a gate on a route, and a fallback that proxies', () => {
  const gated = async () => {
    const up = await origin()
    const app = pipeline()
      .route('/admin', r => r.handle(() => refuse(403, 'admin')))
      .route('/admin/*', r => r.use({ name: 'auth', onRequest: () => refuse(401, 'auth') }).handle())
      .handle(proxy(testUpstream(up.url)))
    const plain = await edge(app)
    const session = session2((await edge(app, 'h2c')).url)
    return { port: plain.port, session, up }
  }

  it.each([
    '//admin/x',
    '///admin',
    '/%2fadmin',
    '/%2Fadmin/x',
    '/\\admin',
    '/%5cadmin/x',
    '/admin\\x',
    '/admin;/x',
    '/;/admin',
    '/;x/admin/y',
    '/admin;a=b/x',
    '/admin;jsessionid=1',
    '/admin%3bx/y',
    '/admin%2fx',
    '/x/..//admin',
    '/admin/;/../x',
    '/admin/%FF',
    '/admin/x;y',
    '/%61dmin/%C0%AF',
  ])('nothing of %s passes it', async target => {
    const { port, session, up } = await gated()
    expect([400, 401, 403]).toContain((await get1(port, target)).status)
    expect([400, 401, 403]).toContain((await request2(session, { ':path': target })).status)
    expect(up.seen).toEqual([])
  })

  it.each([
    '//x',
    '/x//y/',
    '/@scope%2fname',
    '/api/v4/projects/group%2Fproject/issues',
    '/a\\b',
    '/map;lat=1;lon=2/tiles',
    '/administrator',
    '/x/%FF',
    '/proxy/https://example.com/a',
  ])('%s passes by it, byte for byte', async target => {
    const { port, session, up } = await gated()
    expect((await get1(port, target)).status).toBe(200)
    expect((await request2(session, { ':path': target })).status).toBe(200)
    expect(up.seen.map(one => one.target)).toEqual([target, target])
  })

  it('an id with an encoded slash is one parameter, beside a fallback that proxies', async () => {
    const up = await origin()
    const seen: string[] = []
    const app = pipeline()
      .route('/projects/:id/issues', r =>
        r
          .use({ name: 'see', onRequest: cx => void seen.push(cx.params.id) as undefined })
          .handle(proxy(testUpstream(up.url))),
      )
      .handle(proxy(testUpstream(up.url)))
    const { port } = await edge(app)
    expect((await get1(port, '/projects/group%2Fproject/issues')).status).toBe(200)
    expect(seen).toEqual(['group/project'])
    expect(up.seen.map(one => one.target)).toEqual(['/projects/group%2Fproject/issues'])
  })
})
