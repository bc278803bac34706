/** B005, B007, B009, B010, B020, B063: every failure has its status, its blame and an end. */
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Filter, type Outcome, pipeline, proxy, type UpstreamOptions } from '../src/index.ts'
import { certificate } from './support/certificate.ts'
import { exchangeBytes, get1, openSocket, raw1, request2, session2 } from './support/clients.ts'
import {
  edge,
  type Kind,
  listen,
  origin,
  rawOrigin,
  scripted,
  testUpstream,
  until,
} from './support/servers.ts'

async function watched(target: string, options: Partial<UpstreamOptions> = {}, kind: Kind = 'http') {
  const outcomes: Outcome[] = []
  const watch: Filter = { name: 'watch', onDone: (_cx, outcome) => void outcomes.push(outcome) }
  const app = pipeline()
    .use(watch)
    .handle(proxy(testUpstream(target, options)))
  return { outcomes, ...(await edge(app, kind)) }
}

async function closedPort(): Promise<number> {
  const { createServer } = await import('node:net')
  const server = createServer()
  const port = await listen(server)
  await new Promise(resolve => server.close(resolve))
  return port
}

/** A listener that is stopped and whose accept queue is full: the kernel drops further handshakes. */
async function fullListener(): Promise<number> {
  const script = `const s = require('node:net').createServer(); s.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await new Promise<number>(resolve => child.stdout.once('data', text => resolve(Number(text))))
  child.kill('SIGSTOP')
  onTestFinished(() => void child.kill('SIGKILL'))
  for (let i = 0; i < 4; i++) openSocket(port)
  await new Promise(resolve => setTimeout(resolve, 100))
  return port
}

describe('B063: status and reason', () => {
  it('refused: 502', async () => {
    const { port, outcomes } = await watched(`http://127.0.0.1:${await closedPort()}`)
    expect((await get1(port, '/')).status).toBe(502)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({
      source: 'upstream',
      phase: 'connect',
      code: 'connect-refused',
      retryable: true,
    })
  })

  it('no such name: 502', async () => {
    const { port, outcomes } = await watched('http://no-such-host.invalid:80')
    expect((await get1(port, '/')).status).toBe(502)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ phase: 'connect', code: 'dns-failed' })
  })

  it('a certificate that nobody vouches for: 502', async () => {
    const { createServer } = await import('node:https')
    const server = createServer(certificate(), (_req, res) => res.end())
    const upPort = await listen(server)
    onTestFinished(() => void server.close())
    const { port, outcomes } = await watched(`https://127.0.0.1:${upPort}`)
    expect((await get1(port, '/')).status).toBe(502)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ phase: 'connect', code: 'tls-failed' })
  })

  it('a certificate for another name: 502; for this one: 200, whatever Host says', async () => {
    const { createServer } = await import('node:https')
    const names: unknown[] = []
    let connections = 0
    const server = createServer(certificate(), (_req, res) => res.end('ok'))
    server.on('secureConnection', socket => {
      connections++
      names.push(socket.servername)
    })
    const upPort = await listen(server)
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const tls = { ca: certificate().cert }
    const good = await watched(`https://localhost:${upPort}`, { tls })
    for (let i = 0; i < 6; i++) expect((await get1(good.port, '/', [], `site${i % 2}.test`)).status).toBe(200)
    // One connection and one name, however many hosts the clients ask for.
    expect([connections, names]).toEqual([1, ['localhost']])
    const byAddress = await watched(`https://127.0.0.1:${upPort}`, { tls })
    expect((await get1(byAddress.port, '/')).status).toBe(200)
    expect(names.at(-1)).toBe(false)
  })

  it('no answer to the handshake in time: 504', async () => {
    const full = await fullListener()
    const { port, outcomes } = await watched(`http://127.0.0.1:${full}`, { timeouts: { connect: 300 } })
    expect((await get1(port, '/')).status).toBe(504)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ phase: 'connect', code: 'connect-timeout', retryable: true })
  })

  it('no head in time: 504', async () => {
    const up = await rawOrigin(() => {})
    const { port, outcomes } = await watched(up.url, { timeouts: { head: 200 } })
    expect((await get1(port, '/')).status).toBe(504)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ phase: 'reply-head', code: 'head-timeout' })
  })

  it('too long in all: 504', async () => {
    const up = await rawOrigin(() => {})
    const { port, outcomes } = await watched(up.url, { timeouts: { total: 200 } })
    expect((await get1(port, '/')).status).toBe(504)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ source: 'upstream', code: 'total-timeout' })
  })

  it('the total time does not end a stream', async () => {
    const up = await rawOrigin(socket => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n')
        setTimeout(() => socket.end('data: 2\n\n'), 500)
      })
    })
    const { port } = await watched(up.url, { timeouts: { total: 150 } })
    const reply = await raw1(port, 'GET / HTTP/1.0\r\nHost: edge.test\r\n\r\n')
    expect(reply.status).toBe(200)
    expect(reply.body.length).toBeGreaterThan(0)
  })

  it('silence inside a body: the reply is cut', async () => {
    const up = await scripted('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc')
    const { port, outcomes } = await watched(up.url, { timeouts: { idle: 200 } })
    const { text, closed } = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: edge.test\r\n\r\n', 3000)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ phase: 'reply-body', code: 'idle-timeout' })
    expect([text.slice(0, 15), closed]).toEqual(['HTTP/1.1 200 OK', true])
  })

  it('reset before the head: 502', async () => {
    const up = await rawOrigin(socket => socket.once('data', () => socket.resetAndDestroy()))
    const { port, outcomes } = await watched(up.url)
    expect((await get1(port, '/')).status).toBe(502)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({
      phase: 'reply-head',
      code: 'upstream-reset',
      retryable: false,
    })
  })

  it('pool and queue full: 503 with Retry-After', async () => {
    const up = await rawOrigin(() => {})
    const { port, outcomes } = await watched(up.url, { connections: 1, queue: 0 })
    openSocket(port).write('GET / HTTP/1.1\r\nHost: edge.test\r\n\r\n')
    await until('the first request', () => up.received().includes('GET /'))
    const { status, head } = await get1(port, '/')
    expect(status).toBe(503)
    expect(head).toMatch(/^Retry-After: \d+$/m)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ source: 'proxy', code: 'queue-full' })
  })
})

describe('B005: the client goes', () => {
  const slow = () => rawOrigin(() => {})

  it('while the upstream thinks: its connection closes, 499 in the log', async () => {
    const up = await slow()
    const { port, outcomes } = await watched(up.url)
    const socket = openSocket(port)
    socket.write('GET / HTTP/1.1\r\nHost: edge.test\r\n\r\n')
    await until('the request', () => up.received().includes('GET /'))
    socket.destroy()
    await until('the upstream connection to close', () => up.closed() === 1)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]).toMatchObject({ status: 499, error: { source: 'client', code: 'client-closed' } })
  })

  it('after a whole upload', async () => {
    const up = await slow()
    const { port, outcomes } = await watched(up.url)
    const socket = openSocket(port)
    socket.write('POST / HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 5\r\n\r\nhello')
    await until('the body', () => up.received().includes('hello'))
    socket.resetAndDestroy()
    await until('the upstream connection to close', () => up.closed() === 1)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.status).toBe(499)
  })

  it('in the middle of an upload', async () => {
    const up = await slow()
    const { port, outcomes } = await watched(up.url)
    const socket = openSocket(port)
    socket.write('POST / HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 50\r\n\r\nhello')
    await until('the bytes', () => up.received().includes('hello'))
    socket.destroy()
    await until('the upstream connection to close', () => up.closed() === 1)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ source: 'client' })
  })

  describe.each(['http', 'h2c'] as const)('in the middle of a reply (%s)', kind => {
    it.each(['cancel', 'leave'])('by %s', async how => {
      const up = await scripted('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc')
      const { port, url, outcomes } = await watched(up.url, {}, kind)
      if (kind === 'http') {
        const socket = openSocket(port)
        socket.write('GET / HTTP/1.1\r\nHost: edge.test\r\n\r\n')
        await new Promise(resolve => socket.once('data', resolve))
        if (how === 'cancel') socket.resetAndDestroy()
        else socket.destroy()
      } else {
        const session = session2(url)
        const stream = session.request({ ':path': '/', ':authority': 'edge.test' })
        stream.on('error', () => {})
        await new Promise(resolve => stream.once('data', resolve))
        if (how === 'cancel') stream.close(8)
        else session.destroy()
      }
      await until('the upstream connection to close', () => up.closed() === 1)
      await until('the outcome', () => outcomes.length === 1)
      expect(outcomes[0]).toMatchObject({
        status: 200,
        error: { source: 'client', phase: 'reply-body', code: 'client-closed' },
      })
    })
  })

  it('while a filter waits: the upstream hears nothing', async () => {
    const up = await slow()
    const outcomes: Outcome[] = []
    let waiting = 0
    const patient: Filter = {
      name: 'patient',
      onRequest: () => {
        waiting++
        return new Promise(resolve => setTimeout(resolve, 100, undefined))
      },
      onDone: (_cx, outcome) => void outcomes.push(outcome),
    }
    const { port } = await edge(
      pipeline()
        .use(patient)
        .handle(proxy(testUpstream(up.url))),
    )
    const socket = openSocket(port)
    socket.write('GET / HTTP/1.1\r\nHost: edge.test\r\n\r\n')
    await until('the filter', () => waiting === 1)
    socket.destroy()
    await until('the outcome', () => outcomes.length === 1)
    await new Promise(resolve => setTimeout(resolve, 200))
    expect([up.received(), outcomes[0]!.status]).toEqual(['', 499])
  })

  it('over h2 with RST_STREAM(CANCEL)', async () => {
    const up = await slow()
    const { url, outcomes } = await watched(up.url, {}, 'h2c')
    const stream = session2(url).request({ ':path': '/', ':authority': 'edge.test' })
    stream.on('error', () => {})
    await until('the request', () => up.received().includes('GET /'))
    stream.close(8)
    await until('the upstream connection to close', () => up.closed() === 1)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]).toMatchObject({ status: 499, error: { code: 'client-closed' } })
  })
})

describe('B007: the upstream dies in the middle of a body', () => {
  it.each([
    ['chunked, reset', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n', 'reset'],
    ['chunked, closed', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n', 'end'],
    ['length, closed', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc', 'end'],
  ] as const)('%s: no client takes it for whole', async (_what, bytes, then) => {
    const up = await scripted(bytes, then)
    const h1 = await watched(up.url)
    const { text, closed } = await exchangeBytes(h1.port, 'GET / HTTP/1.1\r\nHost: edge.test\r\n\r\n', 1000)
    expect(closed).toBe(true)
    expect(text).not.toContain('0\r\n\r\n')
    await until('the outcome', () => h1.outcomes.length === 1)
    expect(h1.outcomes[0]!.error).toMatchObject({ source: 'upstream', phase: 'reply-body' })
    const h2 = await watched(up.url, {}, 'h2c')
    expect(await request2(session2(h2.url), { ':path': '/' })).toMatchObject({ status: 200, code: 2 })
  })
})

describe('B009: a dead upstream under load', () => {
  it('gives every client that stays one 502, and the edge lives on', async () => {
    const { port, outcomes } = await watched(`http://127.0.0.1:${await closedPort()}`)
    const gets = Array.from({ length: 100 }, () => get1(port, '/'))
    const posts = Array.from({ length: 100 }, (_, i) => {
      if (i % 2 === 0)
        return raw1(
          port,
          'POST / HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello',
        )
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write('POST / HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 50\r\n\r\nhel', () =>
        socket.destroy(),
      )
      return null
    })
    const answers = await Promise.all([...gets, ...posts.filter(one => one !== null)])
    expect(answers.map(one => one.status)).toEqual(new Array(150).fill(502))
    await until('all outcomes', () => outcomes.length >= 150)
  })
})

describe('B010: an answer before the upload is done', () => {
  it('reaches an h1 client, and the connection closes', async () => {
    const up = await rawOrigin(socket => {
      socket.once('data', () =>
        socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig'),
      )
    })
    const { port } = await watched(up.url)
    const socket = openSocket(port)
    let got = ''
    socket.on('data', chunk => {
      got += chunk
    })
    let closed = false
    socket.on('close', () => {
      closed = true
    })
    socket.write('POST / HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 20000000\r\n\r\n')
    const chunk = Buffer.alloc(65_536)
    for (let i = 0; i < 100 && !closed; i++) {
      socket.write(chunk)
      await new Promise(resolve => setTimeout(resolve, 1))
    }
    await until('the answer', () => got.includes('big'))
    expect(got).toMatch(/^HTTP\/1\.1 413/)
    expect(got).toMatch(/connection: close/i)
  })
})

describe('B020: answers without a body', () => {
  it.each([
    [
      '304 with the length of the 200',
      'HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\nETag: "a"\r\n\r\n',
      304,
    ],
    ['204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n', 204],
    ['204 with chunked', 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n', 204],
  ])('%s', async (_what, bytes, status) => {
    const up = await scripted(bytes)
    const { port } = await watched(up.url)
    const reply = await get1(port, '/', ['If-None-Match: "a"'])
    expect([reply.status, reply.body]).toEqual([status, ''])
    expect(reply.head).not.toMatch(/transfer-encoding/i)
    if (status === 204) expect(reply.head).not.toMatch(/content-length/i)
    else expect(reply.head).toMatch(/etag: "a"/i)
  })

  it('B019: HEAD keeps the length and has no body', async () => {
    const up = await scripted(
      'HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nContent-Encoding: gzip\r\nETag: "a"\r\n\r\n',
    )
    const { port } = await watched(up.url)
    const reply = await raw1(port, 'HEAD / HTTP/1.1\r\nHost: edge.test\r\nConnection: close\r\n\r\n')
    expect([reply.status, reply.body]).toEqual([200, ''])
    expect(reply.head).toMatch(/content-length: 12345/i)
    const h2 = await watched(up.url, {}, 'h2c')
    const over2 = await request2(session2(h2.url), { ':path': '/', ':method': 'HEAD' })
    expect([over2.status, over2.headers['content-length'], over2.code]).toEqual([200, '12345', 0])
  })
})

it('streams a large body both ways with backpressure, byte for byte', async () => {
  const { createHash, randomBytes } = await import('node:crypto')
  const body = randomBytes(8 << 20)
  const up = await origin((res, seen) => res.end(seen.body))
  for (const kind of ['http', 'h2c'] as const) {
    const { url, port } = await watched(up.url, {}, kind)
    const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
    if (kind === 'h2c') {
      const reply = await request2(session2(url), { ':path': '/', ':method': 'POST' }, body)
      expect(hash(Buffer.from(reply.body, 'latin1'))).toBe(hash(body))
    } else {
      const reply = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })
      expect(hash(Buffer.from(await reply.arrayBuffer()))).toBe(hash(body))
    }
  }
})
