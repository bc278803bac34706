/** Clients that hold connections: too many of them, or with heads, bodies and handshakes that never end. */

import { createServer } from 'node:http'
import { connect as connectTcp, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type AttachOptions,
  attach,
  ConfigError,
  metrics,
  type Outcome,
  pipeline,
  proxy,
  reply,
  slowUploads,
} from '../src/index.ts'
import { openTls, raw1, request2, session2 } from './support/clients.ts'
import { block, frame, HEADERS, PREFACE, SETTINGS } from './support/frames.ts'
import { edge, type Kind, origin, testUpstream, until } from './support/servers.ts'

/** 1,000 bytes a second after 300 ms. */
const STRICT: AttachOptions = { minHeaderRate: 1000, minBodyRate: 1000, rateGrace: 300 }

interface Raw {
  socket: Socket
  got: () => string
  closed: () => boolean
}

/** A connection from `from`, an address of this machine. */
function open(port: number, from = '127.0.0.1'): Raw {
  const socket = connectTcp({ port, host: '127.0.0.1', localAddress: from })
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return watched(socket)
}

function watched(socket: Socket): Raw {
  let text = ''
  let closed = false
  socket.on('data', chunk => {
    text += chunk.toString('latin1')
  })
  socket.on('close', () => {
    closed = true
  })
  return { socket, got: () => text, closed: () => closed }
}

/** Writes `make(i)` each 20 ms, until the test is over. */
function drip(
  socket: { write(bytes: string | Buffer): unknown; destroyed?: boolean },
  make: (i: number) => string | Buffer,
): () => void {
  let i = 0
  const timer = setInterval(() => {
    if (!socket.destroyed) socket.write(make(i++))
  }, 20)
  onTestFinished(() => clearInterval(timer))
  return () => clearInterval(timer)
}

async function watchedEdge(kind: Kind, options: AttachOptions = STRICT) {
  const outcomes: Outcome[] = []
  const up = await origin()
  const app = pipeline()
    .use({ name: 'notes', onDone: (_cx, outcome) => void outcomes.push(outcome) })
    .route('/patient', r => r.use(slowUploads()).handle(proxy(testUpstream(up.url))))
    .route('/held', r =>
      r
        .use({ name: 'hold', holdBody: () => 100, onRequestBody: () => undefined })
        .handle(() => reply(200, 'x')),
    )
    .handle(proxy(testUpstream(up.url)))
  return { outcomes, up, ...(await edge(app, kind, options)) }
}

describe('heads over HTTP/1.1', () => {
  it.each(['http', 'https', 'h2'] as Kind[])('Slowloris over %s: 408, and the log knows', async kind => {
    const { port, outcomes, attached } = await watchedEdge(kind)
    const { socket, got, closed } = kind === 'http' ? open(port) : watched(await openTls(port))
    socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n')
    drip(socket, i => (i % 8 === 0 ? '\r\n' : i % 8 === 1 ? 'X' : i % 8 === 2 ? ':' : 'a'))
    drip(socket, () => 'b')
    socket.write('X-First: 1')
    await until('the end', closed, 8000)
    expect(got()).toMatch(/^HTTP\/1\.1 408 [\s\S]*\r\nConnection: close\r\n/i)
    expect(outcomes).toMatchObject([{ status: 408, error: { source: 'client', code: 'request-timeout' } }])
    expect(attached.stats().slow).toEqual({ heads: 1, bodies: 0, handshakes: 0 })
  })

  it('a head that keeps the rate may take its time', async () => {
    const { port } = await watchedEdge('http')
    const { socket, got } = open(port)
    socket.write('GET /x HTTP/1.1\r\nHost: a.test\r\nX-Long: ')
    const stop = drip(socket, () => 'a'.repeat(100))
    await new Promise(resolve => setTimeout(resolve, 1200))
    stop()
    socket.write('\r\n\r\n')
    await until('the answer', () => got().startsWith('HTTP/1.1 200'))
  })

  it('a connection that says nothing is closed without an answer', async () => {
    const { port, attached, outcomes } = await watchedEdge('http')
    const { got, closed } = open(port)
    await until('the end', closed, 8000)
    expect([got(), outcomes.length, attached.stats().slow.heads]).toEqual(['', 0, 1])
  })

  it('the second head of a connection, too; quick ones before it never count', async () => {
    const { port, outcomes } = await watchedEdge('http')
    const { socket, got, closed } = open(port)
    for (let i = 0; i < 60; i++) {
      socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
      await until('an answer', () => got().split('HTTP/1.1 200').length === i + 2)
      await new Promise(resolve => setTimeout(resolve, 15))
    }
    drip(socket, i => 'GET / HTTP/1.1\r\nHost: a.test\r\nX: '[i] ?? 'a')
    await until('the end', closed, 8000)
    expect(outcomes.map(one => one.status)).toEqual([...Array.from({ length: 60 }, () => 200), 408])
  })

  it('a request that takes long to be answered is no slow head, nor is what waits behind it', async () => {
    const slow = await origin(res => setTimeout(() => res.end('late'), 1200))
    const { port, attached } = await edge(pipeline().handle(proxy(testUpstream(slow.url))), 'http', STRICT)
    const { socket, got } = open(port)
    socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\nGET / HTTP/1.1\r\nHost: a')
    await until('the answer', () => got().endsWith('late'), 8000)
    expect(attached.stats().slow.heads).toBe(0)
  })

  it('0 turns it off', async () => {
    const { port, attached } = await watchedEdge('http', { ...STRICT, minHeaderRate: 0 })
    const { socket, closed } = open(port)
    socket.write('GET / HT')
    await new Promise(resolve => setTimeout(resolve, 1000))
    expect([closed(), attached.stats().slow.heads]).toEqual([false, 0])
  })
})

describe('bodies', () => {
  const RUDY = 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100000\r\n\r\n'
  const CHUNKS = 'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n'

  it.each([
    ['http', 'with a length', RUDY, () => 'a'],
    ['http', 'in chunks', CHUNKS, () => '1\r\na\r\n'],
    ['http', 'that a filter holds', RUDY.replace('/ ', '/held '), () => 'a'],
    ['https', 'with a length', RUDY, () => 'a'],
  ] as [Kind, string, string, () => string][])(
    'slow POST over %s, %s: 408 and the end',
    async (kind, _what, head, make) => {
      const { port, outcomes, attached, up } = await watchedEdge(kind)
      const { socket, got, closed } = kind === 'http' ? open(port) : watched(await openTls(port))
      socket.write(head)
      drip(socket, make)
      await until('the end', closed, 8000)
      expect(got()).toMatch(/^HTTP\/1\.1 408 /)
      expect(outcomes).toMatchObject([{ status: 408, error: { source: 'client', code: 'request-timeout' } }])
      expect(attached.stats().slow.bodies).toBe(1)
      expect(up.seen).toEqual([])
    },
  )

  it.each(['h2', 'h2c'] as Kind[])('slow POST over %s: 408, and the session lives', async kind => {
    const { url, outcomes, attached } = await watchedEdge(kind)
    const session = session2(url)
    const stream = session.request({ ':method': 'POST', ':path': '/', ':authority': 'a.test' })
    stream.on('error', () => {})
    let status = 0
    stream.on('response', head => {
      status = head[':status'] as number
    })
    stream.resume()
    drip(stream, () => 'a')
    await until('the answer', () => status === 408, 8000)
    await until('the end', () => outcomes.length === 1, 8000)
    expect(outcomes[0]).toMatchObject({ status: 408, error: { code: 'request-timeout' } })
    expect((await request2(session, { ':path': '/' })).status).toBe(200)
    expect(attached.stats().slow).toEqual({ heads: 0, bodies: 1, handshakes: 0 })
  })

  it.each(['http', 'h2c'] as Kind[])('an upload that keeps the rate passes over %s', async kind => {
    const { url, port, up } = await watchedEdge(kind)
    const piece = 'a'.repeat(200)
    if (kind === 'http') {
      const { socket, got } = open(port)
      socket.write('POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10000\r\n\r\n')
      drip(socket, i => (i < 50 ? piece : ''))
      await until('the answer', () => got().startsWith('HTTP/1.1 200'), 8000)
    } else {
      const stream = session2(url).request({ ':method': 'POST', ':path': '/', ':authority': 'a.test' })
      stream.resume()
      for (let i = 0; i < 50; i++) {
        stream.write(piece)
        await new Promise(resolve => setTimeout(resolve, 20))
      }
      stream.end()
    }
    await until('the upload', () => up.seen.length === 1, 8000)
    expect(up.seen[0]!.body).toHaveLength(10_000)
  })

  it('a client that waits for the upstream is not to blame', async () => {
    // Takes the head and nothing of the body for a second.
    const lazy = createServer((req, res) => {
      req.pause()
      setTimeout(() => {
        let bytes = 0
        req.on('data', chunk => {
          bytes += chunk.length
        })
        req.on('end', () => res.end(String(bytes)))
        req.resume()
      }, 1500)
    })
    await new Promise<void>(resolve => lazy.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      lazy.closeAllConnections()
      lazy.close()
    })
    const { port: far } = lazy.address() as { port: number }
    const { port, attached } = await edge(
      pipeline().handle(proxy(testUpstream(`http://127.0.0.1:${far}`))),
      'http',
      STRICT,
    )
    const size = 32 << 20
    const { socket, got } = open(port)
    socket.write(`POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${size}\r\n\r\n`)
    socket.write(Buffer.alloc(size))
    await until('the answer', () => got().endsWith(String(size)), 15_000)
    expect(attached.stats().slow.bodies).toBe(0)
  })

  it('once the answer has begun, both sides may take their time; slowUploads() allows it before', async () => {
    const echo = createServer((req, res) => {
      if (req.url === '/early') res.writeHead(200).flushHeaders()
      req.on('data', chunk => res.write(chunk))
      req.on('end', () => res.end())
    })
    await new Promise<void>(resolve => echo.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      echo.closeAllConnections()
      echo.close()
    })
    const { port: far } = echo.address() as { port: number }
    const group = testUpstream(`http://127.0.0.1:${far}`)
    const app = pipeline()
      .route('/patient', r => r.use(slowUploads()).handle(proxy(group)))
      .handle(proxy(group))
    const { url, attached } = await edge(app, 'h2c', STRICT)
    const session = session2(url)
    for (const path of ['/early', '/patient']) {
      const stream = session.request({ ':method': 'POST', ':path': path, ':authority': 'a.test' })
      let text = ''
      stream.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      let ended = false
      stream.on('end', () => {
        ended = true
      })
      if (path === '/early') {
        stream.write('a')
        await until('the answer to begin', () => text === 'a')
      }
      await new Promise(resolve => setTimeout(resolve, 1000))
      stream.end('x')
      await until(path, () => ended)
      expect(text).toBe(path === '/early' ? 'ax' : 'x')
    }
    expect(attached.stats().slow.bodies).toBe(0)
  })

  it('what is left of an upload behind its answer is no way to stay', async () => {
    const app = pipeline().handle(() => reply(200, 'no need'))
    const { port } = await edge(app, 'http', STRICT)
    const { socket, got, closed } = open(port)
    socket.write('POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 50000\r\n\r\n')
    drip(socket, () => 'a')
    await until('the answer', () => got().includes('no need'))
    await until('the end', closed, 8000)
  })
})

describe('HTTP/2 sessions', () => {
  it.each([
    ['a preface that never ends', PREFACE.subarray(0, 20), 'i'],
    ['a preface without SETTINGS', PREFACE, ''],
    [
      'SETTINGS byte by byte',
      Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(600)).subarray(0, 40)]),
      '\0',
    ],
  ])('%s', async (_what, start, more) => {
    const { port, attached } = await watchedEdge('h2c')
    const { socket, closed } = open(port)
    socket.write(start)
    if (more) drip(socket, () => more)
    await until('the end', closed, 8000)
    expect(attached.stats().connections.open).toBe(0)
  })

  it('a head that never ends, in CONTINUATION frames that come one byte at a time', async () => {
    const { port, attached, outcomes } = await watchedEdge('h2c', { ...STRICT, sessionIdleTimeout: 400 })
    const { socket, closed } = open(port)
    const fields = block([
      [':method', 'GET'],
      [':scheme', 'http'],
      [':authority', 'a.test'],
      [':path', '/'],
    ])
    socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), frame(HEADERS, 1, 1, fields)]))
    // A frame of 4,000 bytes, of which each 20 ms brings one.
    socket.write(Buffer.from([0, 0x0f, 0xa0, 9, 0, 0, 0, 0, 1]))
    drip(socket, () => Buffer.from([0]))
    await until('the end', closed, 8000)
    expect([outcomes.length, attached.stats().connections.open]).toEqual([0, 0])
  })

  it('one that is idle and pings lives on; one whose stream is answered slowly, too', async () => {
    const slow = await origin(res => setTimeout(() => res.end('late'), 1500))
    const app = pipeline().handle(proxy(testUpstream(slow.url)))
    const { url } = await edge(app, 'h2c', { ...STRICT, sessionIdleTimeout: 500 })
    const session = session2(url)
    const pings = setInterval(() => session.destroyed || session.ping(() => {}), 100)
    onTestFinished(() => clearInterval(pings))
    await new Promise(resolve => setTimeout(resolve, 1200))
    expect((await request2(session, { ':path': '/' })).body).toBe('late')
    expect(session.destroyed).toBe(false)
    clearInterval(pings)
    await until('the end of an idle one', () => session.destroyed, 8000)
  })
})

it.each(['https', 'h2'] as Kind[])('a TLS handshake over %s that never ends', async kind => {
  const { port, attached } = await watchedEdge(kind, { handshakeTimeout: 300 })
  const silent = open(port)
  const dripping = open(port)
  // A record of 512 bytes: the beginning of a ClientHello.
  dripping.socket.write(Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]))
  drip(dripping.socket, () => Buffer.from([0]))
  await until('both to end', () => silent.closed() && dripping.closed(), 8000)
  expect(attached.stats()).toMatchObject({ connections: { open: 0 }, slow: { handshakes: 2 } })
  expect((await openTls(port)).authorized).toBe(false)
})

describe('connections of one client', () => {
  const CAPPED: AttachOptions = { maxConnectionsPerClient: 3, exemptClients: ['127.0.0.9'] }

  it.each(['http', 'https', 'h2', 'h2c'] as Kind[])(
    'are capped as they are accepted, over %s',
    async kind => {
      const { port, attached } = await watchedEdge(kind, CAPPED)
      const held = Array.from({ length: 3 }, () => open(port, '127.0.0.2'))
      await until('three', () => attached.stats().connections.open === 3)
      const more = Array.from({ length: 4 }, () => open(port, '127.0.0.2'))
      await until('the rest to be reset', () => more.every(one => one.closed()))
      expect(attached.stats().connections).toEqual({ open: 3, refusedTotal: 0, refusedPerClient: 4 })
      // Somebody else is served, and who is exempt may have more.
      const other = open(port, '127.0.0.3')
      const exempt = Array.from({ length: 6 }, () => open(port, '127.0.0.9'))
      await until('them', () => attached.stats().connections.open === 10)
      held[0]!.socket.destroy()
      await until('its place to be free', () => attached.stats().connections.open === 9)
      const again = open(port, '127.0.0.2')
      await until('it is taken', () => attached.stats().connections.open === 10)
      expect([again, other, ...exempt].some(one => one.closed())).toBe(false)
    },
  )

  it('a client at its cap is still served on the connections that it has', async () => {
    const { port, attached } = await watchedEdge('http', { ...CAPPED, maxConnectionsPerClient: 1 })
    const { socket, got } = open(port, '127.0.0.2')
    await until('it', () => attached.stats().connections.open === 1)
    const refused = open(port, '127.0.0.2')
    await until('the reset', refused.closed)
    socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await until('the answer', () => got().startsWith('HTTP/1.1 200'))
  })

  it('peers that the app trusts are exempt, also after a swap', async () => {
    const app = pipeline({ trust: ['127.0.0.4'] }).handle(() => reply(200, 'x'))
    const { port, attached } = await edge(app, 'http', { ...CAPPED, maxConnectionsPerClient: 1 })
    open(port, '127.0.0.4')
    open(port, '127.0.0.4')
    await until('both', () => attached.stats().connections.open === 2)
    await attached.swap(pipeline().handle(() => reply(200, 'x')))
    open(port, '127.0.0.4')
    await until('the first that counts', () => attached.stats().connections.open === 3)
    const refused = open(port, '127.0.0.4')
    await until('the reset', refused.closed)
  })

  it('a flood leaves nothing behind', async () => {
    const { port, attached } = await watchedEdge('http', CAPPED)
    for (let round = 0; round < 10; round++) {
      const all = Array.from({ length: 50 }, () => open(port, '127.0.0.2'))
      await until('most to be reset', () => all.filter(one => one.closed()).length >= 47)
      for (const { socket } of all) socket.destroy()
      await until('all gone', () => attached.stats().connections.open === 0)
    }
    expect(attached.stats().connections.refusedPerClient).toBe(470)
    expect((await raw1(port, 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')).status).toBe(200)
  })
})

it('all connections are capped, the drain is not held up, metrics tell it', async () => {
  const m = metrics()
  const app = pipeline()
    .route('/metrics', r => r.handle(m.handler))
    .handle(() => reply(200, 'x'))
  const { port, attached } = await edge(app, 'http', { maxConnections: 2 })
  const untrack = m.trackServer('front', attached)
  const held = [open(port), open(port, '127.0.0.5')]
  await until('both', () => attached.stats().connections.open === 2)
  const refused = open(port)
  await until('the reset', refused.closed)
  held[0]!.socket.write('GET /metrics HTTP/1.1\r\nHost: a.test\r\n\r\n')
  await until('the numbers', () => held[0]!.got().includes('slow_clients'))
  const text = held[0]!.got()
  expect(text).toContain('postern_server_connections{server="front"} 2')
  expect(text).toContain('postern_server_connections_refused_total{server="front",cap="all"} 1')
  expect(text).toContain('postern_server_connections_refused_total{server="front",cap="client"} 0')
  expect(text).toContain('postern_server_slow_clients_total{server="front",part="body"} 0')
  untrack()
  expect(m.text()).not.toContain('postern_server')
  await attached.drain()
  expect(attached.stats().connections.open).toBe(0)
})

it.each([
  ['minHeaderRate', -1],
  ['minBodyRate', 0.5],
  ['rateGrace', 0],
  ['handshakeTimeout', 0],
  ['maxConnections', '10'],
  ['maxConnectionsPerClient', Number.NaN],
  ['exemptClients', 'loopback'],
  ['exemptClients', ['everybody']],
])('%s: %s is refused', (name, value) => {
  const app = pipeline().handle(() => reply(200, 'x'))
  expect(() => attach(createServer(), app, { [name]: value })).toThrow(ConfigError)
  expect(() => attach(createServer(), app, { [name]: value })).toThrow(`attach.${name}`)
})
