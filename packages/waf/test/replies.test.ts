/** Rules for replies in a real edge, over HTTP/1.1 and HTTP/2. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { compress, editRequestHeaders, pipeline, proxy } from '@postern/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSocket, raw1, request2, session2 } from '../../core/test/support/clients.ts'
import {
  edge,
  type Kind,
  origin,
  rawOrigin,
  scripted,
  testUpstream,
  until,
} from '../../core/test/support/servers.ts'
import { type SeclangOptions, seclang, type WafOptions, type WafReport, waf } from '../src/index.ts'

const RULES = `
  SecRule RESPONSE_HEADERS:X-Powered-By "@rx ." "id:1,phase:3,deny,log,msg:'tells its make'"
  SecRule RESPONSE_STATUS "@streq 418" "id:2,phase:3,deny,status:503,log"
  SecRule RESPONSE_BODY "@contains top secret" "id:3,phase:4,deny,log,msg:'leak',tag:attack-disclosure"
  SecRule RESPONSE_BODY "@contains go away" "id:4,phase:4,redirect:https://other.test/,log"`

const SMALL = { rules: `${RULES}\nSecResponseBodyLimit 1000` }
const REJECTS = { rules: `${RULES}\nSecResponseBodyLimit 1000\nSecResponseBodyLimitAction Reject` }

async function guarded(
  target: string,
  kind: Kind,
  rules: SeclangOptions = { rules: RULES },
  options: WafOptions = {},
) {
  const engine = await seclang(rules)
  onTestFinished(() => engine.close())
  const reports: WafReport[] = []
  const app = pipeline()
    .use(waf(engine, { onFindings: report => void reports.push(report), ...options }))
    .handle(proxy(testUpstream(target)))
  return { reports, ...(await edge(app, kind)) }
}

async function send(to: { port: number; url: string }, kind: Kind, method = 'GET') {
  if (kind === 'http') {
    const { status, head, body } = await raw1(
      to.port,
      `${method} / HTTP/1.1\r\nHost: edge.test\r\nConnection: close\r\n\r\n`,
    )
    return { status, head, body }
  }
  const { status, headers, body } = await request2(session2(to.url), { ':method': method, ':path': '/' })
  return { status, head: JSON.stringify(headers), body }
}

const html = (res: ServerResponse, body: string | Buffer, fields: Record<string, string> = {}): void => {
  res.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...fields })
  res.end(body)
}
const answering = (answer: (res: ServerResponse, req: IncomingMessage) => void) =>
  origin((res, _, req) => answer(res, req))

describe.each(['http', 'h2', 'h2c'] as const)('over %s', kind => {
  test('an ordinary page passes, byte for byte, with its length', async () => {
    const page = `<p>${'x'.repeat(100_000)}</p>`
    const up = await answering(res => html(res, page, { 'Content-Length': String(page.length), ETag: '"1"' }))
    const { status, head, body } = await send(await guarded(up.url, kind), kind)
    expect([status, body === page]).toEqual([200, true])
    expect(head).toMatch(/content-length"?: ?"?100007/i)
    expect(head).toMatch(/etag/i)
  })

  test('a head that a rule refuses is 403, and nothing of the reply gets out', async () => {
    const up = await answering(res => html(res, 'body', { 'X-Powered-By': 'Make 1', 'Set-Cookie': 'a=b' }))
    const to = await guarded(up.url, kind)
    const { status, head, body } = await send(to, kind)
    expect([status, body]).toEqual([403, '403 forbidden\n'])
    expect(head).not.toMatch(/powered|cookie/i)
    expect(to.reports[0]).toMatchObject({ blocked: true, findings: [{ rule: '1' }] })
  })

  test('a rule may choose the status', async () => {
    const up = await answering(res => res.writeHead(418).end())
    expect((await send(await guarded(up.url, kind), kind)).status).toBe(503)
  })

  test('a body that a rule refuses is 403 as a whole, also when it comes in pieces', async () => {
    const up = await answering(res => {
      res.writeHead(200, { 'Content-Type': 'text/html' })
      res.write('<p>the beginning is fine</p>'.repeat(1000))
      setTimeout(() => res.write('this is top '), 20)
      setTimeout(() => res.end('secret'), 40)
    })
    const to = await guarded(up.url, kind)
    const { status, head, body } = await send(to, kind)
    expect([status, body]).toEqual([403, '403 forbidden\n'])
    expect(head).not.toMatch(/text\/html/)
    expect(to.reports).toMatchObject([
      { blocked: true, findings: [{ rule: '3', place: 'RESPONSE_BODY', offset: 28_008, message: 'leak' }] },
    ])
    // What could hold a secret is not told.
    expect(to.reports[0]!.findings[0]!.excerpt).toBe('[redacted]')
  })

  test('a redirect', async () => {
    const up = await answering(res => html(res, 'go away'))
    const { status, head } = await send(await guarded(up.url, kind), kind)
    expect(status).toBe(302)
    expect(head).toContain('https://other.test/')
  })

  test('HEAD, 204 and 304 have no body to wait for', async () => {
    const up = await answering((res, req) => {
      if (req.method === 'HEAD') html(res, '')
      else res.writeHead(req.method === 'PUT' ? 204 : 304, { 'Content-Type': 'text/html' }).end()
    })
    const to = await guarded(up.url, kind)
    expect((await send(to, kind, 'HEAD')).status).toBe(200)
    expect((await send(to, kind, 'PUT')).status).toBe(204)
    expect((await send(to, kind)).status).toBe(304)
  })

  test('a type that no rule asks for streams through', async () => {
    const pending: ServerResponse[] = []
    const up = await answering(res => {
      res.writeHead(200, { 'Content-Type': 'text/event-stream' })
      res.write('data: 1\n\n')
      pending.push(res)
    })
    const to = await guarded(up.url, kind)
    if (kind === 'http') {
      const socket = openSocket(to.port)
      let text = ''
      socket.on('data', chunk => {
        text += chunk
      })
      socket.write('GET / HTTP/1.1\r\nHost: edge.test\r\n\r\n')
      await until('the first event', () => text.includes('data: 1'))
      pending[0]!.end('data: top secret\n\n')
      await until('the rest', () => text.includes('top secret'))
    } else {
      const stream = session2(to.url).request({ ':path': '/' })
      let text = ''
      stream.on('data', chunk => {
        text += chunk
      })
      await until('the first event', () => text.includes('data: 1'))
      pending[0]!.end('data: top secret\n\n')
      await until('the rest', () => text.includes('top secret'))
    }
  })

  test('without a rule that reads it no body waits', async () => {
    const up = await answering(res => {
      res.writeHead(200, { 'Content-Type': 'text/html' })
      res.write('first')
    })
    const rules = 'SecRule RESPONSE_STATUS "@streq 500" "id:1,phase:4,deny"'
    const to = await guarded(up.url, kind, { rules })
    let text = ''
    if (kind === 'http') {
      const socket = openSocket(to.port)
      socket.on('data', chunk => {
        text += chunk
      })
      socket.write('GET / HTTP/1.1\r\nHost: edge.test\r\n\r\n')
    } else {
      session2(to.url)
        .request({ ':path': '/' })
        .on('data', chunk => {
          text += chunk
        })
    }
    await until('the first bytes', () => text.includes('first'))
  })

  test('past the limit: looked at in part, the rest passes', async () => {
    const late = `${'x'.repeat(5000)}top secret`
    const up = await answering(res => html(res, late, { 'Content-Length': String(late.length) }))
    const { status, body } = await send(await guarded(up.url, kind, SMALL), kind)
    expect([status, body === late]).toEqual([200, true])
    const early = await answering(res => html(res, `top secret${'x'.repeat(100_000)}`))
    expect((await send(await guarded(early.url, kind, SMALL), kind)).status).toBe(403)
  })

  test('past the limit: refused, where the rules say so', async () => {
    const up = await answering(res => html(res, 'x'.repeat(5000)))
    const to = await guarded(up.url, kind, REJECTS)
    expect(await send(to, kind)).toMatchObject({ status: 500, body: '500 refused\n' })
    expect(to.reports[0]).toMatchObject({ violation: { rule: 'reply-limit' } })
    const fits = await answering(res => html(res, 'x'.repeat(1000)))
    expect((await send(await guarded(fits.url, kind, REJECTS), kind)).status).toBe(200)
  })

  test('a compressed body is looked at as it is sent', async () => {
    const packed = gzipSync('top secret')
    const up = await answering(res => html(res, packed, { 'Content-Encoding': 'gzip' }))
    expect((await send(await guarded(up.url, kind), kind)).status).toBe(200)
  })

  test('in shadow mode all passes, and is told', async () => {
    const up = await answering(res => html(res, 'top secret', { 'Content-Length': '10' }))
    const to = await guarded(up.url, kind, { rules: RULES }, { mode: 'shadow' })
    expect(await send(to, kind)).toMatchObject({ status: 200, body: 'top secret' })
    expect(to.reports[0]!.line).toBe('would block 0/0 3@RESPONSE_BODY')
  })

  test('an origin that breaks off while its body is held is a whole 502', async () => {
    const up = await scripted(
      'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\nhalf of it',
      'reset',
    )
    const { status, body } = await send(await guarded(up.url, kind), kind)
    expect(status).toBe(502)
    expect(body).not.toContain('half')
  })

  test('a client that leaves while a body is held ends the upstream request', async () => {
    let closed = 0
    const up = await rawOrigin(socket => {
      socket.on('close', () => closed++)
      socket.on('data', () =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\nhalf'),
      )
    })
    const to = await guarded(up.url, kind)
    if (kind === 'http') {
      const socket = openSocket(to.port)
      socket.write('GET / HTTP/1.1\r\nHost: edge.test\r\n\r\n')
      await until('the request to arrive', () => up.received().includes('GET /'))
      socket.destroy()
    } else {
      const stream = session2(to.url).request({ ':path': '/' })
      stream.on('error', () => {})
      await until('the request to arrive', () => up.received().includes('GET /'))
      stream.close(8)
    }
    await until('the upstream connection to close', () => closed === 1, 5000)
  })
})

test('an origin that is not asked to compress, and an edge that does', async () => {
  const up = await answering((res, req) => {
    const text = `${'x'.repeat(5000)}${req.url === '/leak' ? 'top secret' : ''}`
    if (req.headers['accept-encoding'] === undefined) html(res, text)
    else html(res, gzipSync(text), { 'Content-Encoding': 'gzip' })
  })
  const app = pipeline()
    .use(compress())
    .use(waf(await seclang({ rules: RULES })))
    .use(editRequestHeaders({ remove: ['Accept-Encoding'] }))
    .handle(proxy(testUpstream(up.url)))
  const { url } = await edge(app)
  const fine = await fetch(`${url}/`, { headers: { 'Accept-Encoding': 'gzip' } })
  expect([fine.status, fine.headers.get('content-encoding')]).toEqual([200, 'gzip'])
  expect(await fine.text()).toBe('x'.repeat(5000))
  expect((await fetch(`${url}/leak`, { headers: { 'Accept-Encoding': 'gzip' } })).status).toBe(403)
})

test('a refusal by the head comes before the body is read', async () => {
  const up = await origin()
  const engine = await seclang({ rules: 'SecRule REQUEST_HEADERS:X-Bad "@rx ." "id:1,phase:1,deny,log"' })
  const app = pipeline()
    .use({ name: 'force', onRequest: () => undefined })
    .use(waf({ ...engine, looksAtReplies: true }))
    .handle(proxy(testUpstream(up.url)))
  const to = await edge(app)
  const socket = openSocket(to.port)
  let text = ''
  socket.on('data', chunk => {
    text += chunk
  })
  socket.write('POST / HTTP/1.1\r\nHost: edge.test\r\nX-Bad: 1\r\nContent-Length: 100000\r\n\r\nonly this')
  await until('an answer', () => text.includes('403'))
  expect(up.seen).toEqual([])
})

test('an engine without rules for replies adds no hook for them', async () => {
  const engine = await seclang({ rules: 'SecRule ARGS "@streq x" "id:1,phase:2,deny"' })
  const filter = waf(engine)
  expect([filter.onReply, filter.replyBody, filter.onDone]).toEqual([undefined, undefined, undefined])
  const looks = waf(await seclang({ rules: 'SecRule RESPONSE_STATUS "@streq 500" "id:1,phase:5,pass"' }))
  expect(typeof looks.onReply).toBe('function')
})
