/** B054, B058, B061, B062: rewriting between a client and an upstream that know different paths and names. */
import { describe, expect, it } from 'vitest'
import {
  addPrefix,
  editReplyHeaders,
  editRequestHeaders,
  pipeline,
  proxy,
  rewriteCookies,
  rewriteLocation,
  rewritePath,
  stripPrefix,
} from '../src/index.ts'
import { get1, request2, session2 } from './support/clients.ts'
import { edge, field, origin, testUpstream } from './support/servers.ts'

const FAITHFUL = [
  '/q/%2F/x',
  '/a%2fb',
  '/%7Euser',
  '/a+b',
  '/;p=1',
  '/%zz',
  '/a\\b',
  '//x',
  '/x?x=1&x=2&y&z=%zz&a=b+c&e=&&f',
  '/?',
]

describe('prefixes', () => {
  it.each(FAITHFUL)('B054: the bytes of %s behind the prefix arrive unchanged', async target => {
    const up = await origin()
    const app = pipeline()
      .use(stripPrefix('/app'))
      .handle(proxy(testUpstream(up.url)))
    expect((await get1((await edge(app)).port, `/app${target}`)).status).toBe(200)
    expect(up.seen[0]!.target).toBe(target)
  })

  it('run one after another, in front of the base path of the target', async () => {
    const up = await origin()
    const app = pipeline()
      .route('/shops/:shop/items/*rest', r =>
        r
          .use(rewritePath('/shops/:shop/items/*rest', '/items/:shop/*rest'))
          .use(addPrefix('/v2'))
          .handle(proxy(testUpstream(`${up.url}/base`))),
      )
      .handle()
    const { port } = await edge(app)
    await get1(port, '/shops/a%2Db/items/1/2?q')
    expect(up.seen[0]!.target).toBe('/base/v2/items/a%2Db/1/2?q')
  })

  it('B057: what an origin could read as another path is refused', async () => {
    const up = await origin()
    const app = pipeline()
      .use(stripPrefix('/app'))
      .handle(proxy(testUpstream(up.url)))
    const { port } = await edge(app)
    for (const target of ['/x/../app/y', '/app/../app/y', '/./app/y', '/app/../x']) {
      expect((await get1(port, target)).status, target).toBe(400)
    }
    expect(up.seen).toEqual([])
  })
})

it('B061, B062: references and cookies lead back to the client', async () => {
  const up = await origin((res, seen) => {
    const status = Number(seen.target.slice(1))
    res.writeHead(status, {
      Location: `${up.url}/x?y`,
      'Content-Location': '/x',
      Refresh: `5; url=${up.url}/next`,
      'Set-Cookie': ['a=Path=/; Path=/; HttpOnly', '__Host-b=c; Path=/; Secure', 'd=e; domain=internal.test'],
    })
    res.end()
  })
  const group = testUpstream(up.url)
  const app = pipeline()
    .route('/app/*', r =>
      r
        .use(stripPrefix('/app'))
        .use(rewriteLocation({ upstream: group, prefix: '/app' }))
        .use(rewriteCookies({ domains: { 'internal.test': '' }, prefix: '/app' }))
        .handle(proxy(group)),
    )
    .handle()
  const plain = await edge(app)
  for (const status of [201, 301, 302, 303, 307, 308]) {
    const { raw, status: got } = await get1(plain.port, `/app/${status}`)
    expect(got).toBe(status)
    expect(field(raw, 'location')).toBe('http://edge.test/app/x?y')
    expect(field(raw, 'content-location')).toBe('/app/x')
    expect(field(raw, 'refresh')).toBe('5; url=http://edge.test/app/next')
  }
  const secure = await edge(app, 'h2')
  const { headers } = await request2(session2(secure.url), { ':path': '/app/302' })
  expect(headers.location).toBe('https://edge.test/app/x?y')
  expect(headers['set-cookie']).toEqual([
    'a=Path=/; Path=/app; HttpOnly; Secure',
    '__Host-b=c; Path=/; Secure',
    'd=e; Secure',
  ])
})

it('fields are edited on the way in and on the way out', async () => {
  const up = await origin((res, seen) => {
    res.setHeader('Server', 'secret/1.0')
    res.setHeader('X-Seen', seen.raw.filter((_, at) => at % 2 === 0).join())
    res.end(`${field(seen.raw, 'x-tenant')} ${field(seen.raw, 'x-user')} ${field(seen.raw, 'x_user')}`)
  })
  const app = pipeline()
    .use(
      editRequestHeaders({
        remove: ['X-User'],
        set: { 'X-Tenant': cx => cx.request.authority.split('.')[0] },
      }),
    )
    .use(editReplyHeaders({ remove: ['server'], add: { 'X-Edge': 'one' } }))
    .handle(proxy(testUpstream(up.url)))
  const { port } = await edge(app)
  const { raw, body } = await get1(port, '/', ['X-Tenant: forged', 'X-User: root', 'X_User: root'])
  expect(body).toContain('edge undefined undefined')
  expect([field(raw, 'server'), field(raw, 'x-edge')]).toEqual([undefined, 'one'])
})

it('a value that cannot be sent is no request and no reply', async () => {
  const up = await origin()
  const app = pipeline()
    .use(editRequestHeaders({ set: { 'X-A': cx => (cx.request.query === 'bad' ? 'a\r\nb: c' : undefined) } }))
    .handle(proxy(testUpstream(up.url)))
  const { port } = await edge(app)
  expect((await get1(port, '/?bad')).status).toBe(500)
  expect((await get1(port, '/?good')).status).toBe(200)
  expect(up.seen).toHaveLength(1)
})
