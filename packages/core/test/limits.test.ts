/** B046, B053, B075 and the gates of the baseline, on real sockets. */
import { describe, expect, it } from 'vitest'
import { baseline, bodyLimit, cors, pipeline, proxy, rateLimit, reply } from '../src/index.ts'
import { exchangeBytes, get1, raw1, request2, session2 } from './support/clients.ts'
import { edge, field, fields, origin, rawOrigin, testUpstream, until } from './support/servers.ts'

const MAX = 1 << 20

async function limited() {
  const up = await origin((res, seen) => res.end(String(seen.body.length)))
  const app = pipeline()
    .use(bodyLimit({ max: MAX }))
    .handle(proxy(testUpstream(up.url)))
  return { up, app, ...(await edge(app)) }
}

const chunk = (size: number): string => `${size.toString(16)}\r\n${'a'.repeat(size)}\r\n`

describe('B046: body size', () => {
  it('a declared one that is too large is refused before a byte is read', async () => {
    const { port, up } = await limited()
    const answer = await raw1(port, `POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${5 * MAX}\r\n\r\n`)
    expect(answer.status).toBe(413)
    expect(answer.head).toMatch(/connection: close/i)
    expect(up.seen).toEqual([])
  })

  it('is refused before 100 Continue, and asked for when it fits', async () => {
    const { port } = await limited()
    const expectation = 'Expect: 100-continue\r\n'
    const refused = await exchangeBytes(
      port,
      `POST / HTTP/1.1\r\nHost: a.test\r\n${expectation}Content-Length: ${5 * MAX}\r\n\r\n`,
    )
    expect(refused.text).toMatch(/^HTTP\/1\.1 413/)
    const asked = await exchangeBytes(
      port,
      `POST / HTTP/1.1\r\nHost: a.test\r\n${expectation}Content-Length: 5\r\n\r\n`,
      200,
    )
    expect(asked.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\n/)
  })

  it('a chunked one is cut at the limit, and so is the upstream', async () => {
    const up = await rawOrigin(() => {})
    const app = pipeline()
      .use(bodyLimit({ max: MAX }))
      .handle(proxy(testUpstream(up.url)))
    const { port } = await edge(app)
    const body = chunk(65_536).repeat(80)
    const { text } = await exchangeBytes(
      port,
      `POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
      500,
    )
    expect(text).toMatch(/^HTTP\/1\.1 413/)
    await until('the upstream to be cut', () => up.closed() >= 1)
    // The last chunk never came: nobody takes it for a whole upload.
    expect(up.received()).not.toContain('\r\n0\r\n\r\n')
  })

  it('of exactly the limit passes, declared or chunked, over h1 and h2', async () => {
    const { port, app } = await limited()
    const declared = await raw1(
      port,
      `POST / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nContent-Length: ${MAX}\r\n\r\n${'a'.repeat(MAX)}`,
    )
    expect([declared.status, declared.body]).toEqual([200, String(MAX)])
    const chunked = await raw1(
      port,
      `POST / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(65_536).repeat(16)}0\r\n\r\n`,
    )
    expect(chunked.status).toBe(200)
    expect(chunked.body).toContain(String(MAX))
    const { url } = await edge(app, 'h2c')
    const session = session2(url)
    expect((await request2(session, { ':path': '/', ':method': 'POST' }, Buffer.alloc(MAX))).status).toBe(200)
    expect((await request2(session, { ':path': '/', ':method': 'POST' }, Buffer.alloc(MAX + 1))).status).toBe(
      413,
    )
  })
})

describe('the baseline', () => {
  const site = async (kind: 'http' | 'h2' | 'h2c' = 'http') => {
    const up = await origin((res, seen) => {
      res.setHeader('Server', 'secret/1.0')
      res.setHeader('X-Powered-By', 'secret')
      res.end(seen.body)
    })
    const app = pipeline()
      .use(baseline({ hosts: ['edge.test'] }))
      .handle(proxy(testUpstream(up.url)))
    return { up, ...(await edge(app, kind)) }
  }

  it('answers probes before everything else', async () => {
    const { port, up } = await site()
    expect((await get1(port, '/healthz', [], 'no.such.host')).status).toBe(200)
    expect((await get1(port, '/readyz', [], 'no.such.host')).status).toBe(200)
    expect(up.seen).toEqual([])
  })

  it.each([
    ['a target of 9 KB', 414, 'GET', `/${'a'.repeat(9000)}`, []],
    ['a method that is not in the list', 405, 'TRACE', '/', []],
    ['65 headers', 431, 'GET', '/', Array.from({ length: 65 }, (_, i) => `X-${i}: 1`)],
    [
      'more than 16 KB of headers',
      431,
      'GET',
      '/',
      Array.from({ length: 20 }, (_, i) => `X-${i}: ${'a'.repeat(1000)}`),
    ],
    ['an early unsafe request (B053)', 425, 'POST', '/', ['Early-Data: 1', 'Content-Length: 0']],
  ])('refuses %s with %i', async (_what, status, method, target, lines) => {
    const { port, up } = await site()
    const answer = await raw1(
      port,
      [`${method} ${target} HTTP/1.1`, 'Host: edge.test', 'Connection: close', ...lines, '', ''].join('\r\n'),
    )
    expect(answer.status).toBe(status)
    expect(up.seen).toEqual([])
  })

  it('refuses hosts that it does not serve with 421', async () => {
    const { port, up } = await site()
    expect((await get1(port, '/', [], 'evil.test')).status).toBe(421)
    expect(up.seen).toEqual([])
  })

  it('refuses over h2 what it refuses over h1', async () => {
    const { url, up } = await site('h2')
    const session = session2(url)
    expect((await request2(session, { ':path': `/${'a'.repeat(9000)}` })).status).toBe(414)
    expect((await request2(session, { ':path': '/', ':method': 'TRACE' })).status).toBe(405)
    expect((await request2(session, { ':path': '/', ':authority': 'evil.test' })).status).toBe(421)
    const many = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`x-${i}`, '1']))
    expect((await request2(session, { ':path': '/', ...many })).status).toBe(431)
    expect(up.seen).toEqual([])
  })

  it('adds security headers and ids, and hides the software', async () => {
    const { url, up } = await site('h2')
    const { headers } = await request2(session2(url), {
      ':path': '/',
      'x-request-id': 'spoofed-id-from-client',
    })
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff' })
    expect(headers['strict-transport-security']).toContain('max-age=63072000')
    expect(headers).not.toHaveProperty('server')
    expect(headers).not.toHaveProperty('x-powered-by')
    const sent = fields(up.seen[0]!.raw, 'x-request-id')
    expect(sent).toHaveLength(1)
    expect(sent[0]).not.toBe('spoofed-id-from-client')
    expect(headers['x-request-id']).toBe(sent[0])
    expect(field(up.seen[0]!.raw, 'traceparent')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)
  })

  it('sends no HSTS over plain HTTP', async () => {
    const { port } = await site()
    expect((await get1(port, '/')).head).not.toMatch(/strict-transport/i)
  })
})

describe('B075: rate limits', () => {
  it('refuse with 429, Retry-After and the RateLimit fields; one bucket a network', async () => {
    const app = pipeline()
      .use(rateLimit({ perSecond: 0.001, burst: 3 }))
      .handle(() => reply(200, 'ok'))
    const addresses = [
      '2001:db8:1:2::1',
      '2001:DB8:1:2:ffff::',
      '2001:0db8:0001:0002::3%eth0',
      '2001:db8:1:2::4',
    ]
    const statuses: number[] = []
    for (const address of addresses) statuses.push((await app.inject({ address })).status)
    expect(statuses).toEqual([200, 200, 200, 429])
    expect((await app.inject({ address: '2001:db8:1:3::1' })).status).toBe(200)
    for (const address of ['10.0.0.1', '::ffff:10.0.0.1', '::FFFF:a00:1']) await app.inject({ address })
    // A spoofed header gives no bucket of its own.
    const refused = await app.inject({ address: '10.0.0.1', headers: { 'X-Forwarded-For': '9.9.9.9' } })
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1)
    expect(refused.headers.get('ratelimit-policy')).toBe('"default";q=3;w=3000')
    expect(refused.headers.get('ratelimit')).toMatch(/^"default";r=0;t=\d+$/)
    expect(refused.outcome).toMatchObject({ filter: 'rate-limit', reason: 'rate-limit' })
  })

  it('hold over real sockets', async () => {
    const app = pipeline()
      .use(rateLimit({ perSecond: 0.01, burst: 2 }))
      .handle(() => reply(200))
    const { port } = await edge(app)
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await get1(port, '/')).status)
    expect(statuses).toEqual([200, 200, 429, 429])
  })
})

describe('CORS over a real socket', () => {
  it('answers preflights and replaces what the upstream says', async () => {
    const up = await origin((res, seen) => {
      res.setHeader('Access-Control-Allow-Origin', '*')
      res.end(seen.method)
    })
    const app = pipeline()
      .use(cors({ origins: ['https://app.test'], credentials: true }))
      .handle(proxy(testUpstream(up.url)))
    const { port } = await edge(app)
    const preflight = await raw1(
      port,
      'OPTIONS /x HTTP/1.1\r\nHost: a.test\r\nOrigin: https://app.test\r\nAccess-Control-Request-Method: PUT\r\nConnection: close\r\n\r\n',
    )
    expect(preflight.status).toBe(204)
    expect(field(preflight.raw, 'access-control-allow-origin')).toBe('https://app.test')
    expect(up.seen).toEqual([])
    const good = await get1(port, '/', ['Origin: https://app.test'])
    expect(fields(good.raw, 'access-control-allow-origin')).toEqual(['https://app.test'])
    expect(field(good.raw, 'vary')).toBe('Origin')
    const bad = await get1(port, '/', ['Origin: https://evil.test'])
    expect(fields(bad.raw, 'access-control-allow-origin')).toEqual([])
    expect(field(bad.raw, 'vary')).toBe('Origin')
  })
})
