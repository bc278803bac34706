/** WebSockets and other upgrades through an edge: B036 to B043. */
import { describe, expect, it } from 'vitest'
import { type Outcome, pipeline, proxy, reply } from '../src/index.ts'
import { certificate } from './support/certificate.ts'
import { exchangeBytes, openSocket, openTls, raw1, session2 } from './support/clients.ts'
import {
  edge,
  field,
  fields,
  origin,
  proxyEdge,
  rawOrigin,
  scripted,
  testUpstream,
  until,
} from './support/servers.ts'
import {
  connect2,
  connectOrigin,
  HANDSHAKE,
  openWebSocket,
  socketOrigin,
  textFrame,
} from './support/websocket.ts'

const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='
const SWITCH =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  `Sec-WebSocket-Accept: ${ACCEPT}\r\n`
const seen = (outcomes: Outcome[]): { name: string; onDone(cx: unknown, outcome: Outcome): void } => ({
  name: 'see',
  onDone: (_cx, outcome) => void outcomes.push(outcome),
})

describe('HTTP/1.1 to HTTP/1.1', () => {
  it.each(['http', 'https', 'h2'] as const)('messages pass both ways on %s', async kind => {
    const up = await socketOrigin()
    const outcomes: Outcome[] = []
    const app = pipeline()
      .use(seen(outcomes))
      .handle(proxy(testUpstream(up.url)))
    const { port, attached } = await edge(app, kind)
    const socket = openWebSocket(`${kind === 'http' ? 'ws' : 'wss'}://127.0.0.1:${port}/hello?a=1`)
    await until('the greeting', () => socket.got.length === 1)
    expect(attached.tunnels).toBe(1)
    for (const size of [0, 1, 125, 126, 70_000]) socket.send('x'.repeat(size))
    await until('the echoes', () => socket.got.length === 6)
    expect(socket.got.map(one => one.length)).toEqual([5, 0, 1, 125, 126, 70_000])
    socket.close(4001)
    await until('the close', () => up.closes.length === 1 && socket.closed !== null && outcomes.length === 1)
    expect([up.closes[0], socket.closed]).toEqual([4001, 4001])
    expect(outcomes[0]).toMatchObject({ status: 101, error: null })
    expect(outcomes[0]!.bytesSent).toBeGreaterThan(0)
    expect(outcomes[0]!.bytesReceived).toBeGreaterThan(0)
    expect(attached.tunnels).toBe(0)
  })

  it('to a TLS upstream', async () => {
    const up = await socketOrigin()
    const front = await edge(pipeline().handle(proxy(testUpstream(up.url))), 'https')
    const tls = { ca: certificate().cert }
    const { port } = await proxyEdge(front.url, 'http', { tls })
    const socket = openWebSocket(`ws://127.0.0.1:${port}/hello`)
    await until('the greeting', () => socket.got.length === 1)
  })

  it('B039: what is offered and what is chosen pass; compression is the ends own', async () => {
    const up = await socketOrigin()
    const { port } = await proxyEdge(up.url)
    const socket = openWebSocket(`ws://127.0.0.1:${port}/`, ['v2', 'v1'], {
      headers: { Authorization: 'Bearer x', Cookie: 'a=1', Origin: 'https://edge.test' },
    })
    await until('the socket', () => socket.readyState === 1)
    expect(socket.protocol).toBe('v1')
    expect(socket.extensions).toContain('permessage-deflate')
    socket.send('compress me '.repeat(5000))
    await until('the echo', () => socket.got.length === 1)
    const head = up.heads[0]!
    for (const [name, value] of [
      ['authorization', 'Bearer x'],
      ['cookie', 'a=1'],
      ['origin', 'https://edge.test'],
      ['sec-websocket-protocol', 'v2,v1'],
      ['connection', 'Upgrade'],
      ['upgrade', 'websocket'],
      ['x-forwarded-for', '127.0.0.1'],
    ] as const) {
      expect(fields(head, name)).toEqual([value])
    }
  })

  it('first bytes are not lost, whoever speaks first', async () => {
    const up = await rawOrigin(socket =>
      socket.once('data', () => {
        socket.write(Buffer.from(`${SWITCH}\r\n\x81\x05first`, 'latin1'))
        socket.on('data', bytes => socket.write(bytes))
      }),
    )
    const { port } = await proxyEdge(up.url)
    const socket = openSocket(port)
    let got = ''
    socket.on('data', bytes => {
      got += bytes.toString('latin1')
    })
    // Bytes of the new protocol in the same packet as the head, and right behind it.
    socket.write(`${HANDSHAKE()}early`)
    setImmediate(() => socket.write('-later'))
    await until('all of it', () => got.endsWith('early-later'))
    expect(got).toContain('\r\n\r\n\x81\x05first')
    expect(got).toContain(`Sec-WebSocket-Accept: ${ACCEPT}\r\n`)
    expect(up.received()).toContain('Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==')
  })

  it.each(['http', 'https', 'h2'] as const)('a half-closed client gets the rest (%s)', async kind => {
    const up = await rawOrigin(socket => {
      socket.once('data', () => socket.write(`${SWITCH}\r\n`))
    })
    up.server.removeAllListeners('connection')
    const { port } = await proxyEdge(up.url, kind)
    up.server.on('connection', socket => {
      socket.allowHalfOpen = true
      socket.once('data', () => {
        socket.write(`${SWITCH}\r\n`)
        socket.on('data', () => {})
        socket.on('end', () => setTimeout(() => socket.end('the rest'), 30))
      })
    })
    const socket = kind === 'http' ? openSocket(port) : await openTls(port)
    socket.allowHalfOpen = true
    let got = ''
    let ended = false
    socket.on('data', bytes => {
      got += bytes.toString('latin1')
    })
    socket.on('end', () => {
      ended = true
    })
    socket.write(HANDSHAKE())
    await until('the tunnel', () => got.includes('101'))
    socket.end('bye')
    await until('the end', () => ended)
    expect(got.endsWith('the rest')).toBe(true)
  })

  it('backpressure: a client that does not read stops the upstream', async () => {
    let sent = 0
    const up = await rawOrigin(socket =>
      socket.once('data', () => {
        socket.write(`${SWITCH}\r\n`)
        const chunk = Buffer.alloc(65_536)
        const pump = (): void => {
          while (!socket.destroyed && sent < 64 << 20) {
            sent += chunk.length
            if (!socket.write(chunk)) return void socket.once('drain', pump)
          }
        }
        pump()
      }),
    )
    const { port } = await proxyEdge(up.url)
    const socket = openSocket(port)
    socket.write(HANDSHAKE())
    socket.pause()
    let before = -1
    while (before !== sent || sent === 0) {
      before = sent
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    expect(sent).toBeLessThan(32 << 20)
    let received = 0
    socket.on('data', bytes => {
      received += bytes.length
    })
    socket.resume()
    await until('all of it', () => received >= 64 << 20)
  })
})

describe('B038: refusals', () => {
  const refusal =
    'HTTP/1.1 403 Forbidden\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nWWW-Authenticate: Basic\r\nContent-Length: 7\r\n\r\nrefused'

  it('status, fields and body pass, and the connections end', async () => {
    const up = await scripted(refusal)
    const { port, attached } = await proxyEdge(up.url)
    const got = await raw1(port, HANDSHAKE())
    expect([got.status, got.body, got.closed]).toEqual([403, 'refused', true])
    expect(fields(got.raw, 'set-cookie')).toEqual(['a=1', 'b=2'])
    expect(field(got.raw, 'connection')).toBe('close')
    await until('the upstream connection to close', () => up.sockets.size === 0)
    expect(attached.tunnels).toBe(0)
  })

  it('over HTTP/2, too', async () => {
    const up = await scripted(refusal)
    const { url } = await proxyEdge(up.url, 'h2c')
    const { stream, status, headers } = await connect2(session2(url))
    expect([status, headers['set-cookie']]).toEqual([403, ['a=1', 'b=2']])
    let body = ''
    stream.on('data', bytes => {
      body += bytes
    })
    await new Promise(resolve => stream.once('end', resolve))
    expect(body).toBe('refused')
  })

  it('of a gate: nothing reaches the upstream', async () => {
    const up = await socketOrigin()
    const app = pipeline()
      .use({ name: 'gate', onRequest: cx => (cx.request.path === '/no' ? reply(401, 'who?') : undefined) })
      .handle(proxy(testUpstream(up.url)))
    const { port } = await edge(app)
    const got = await raw1(port, HANDSHAKE('/no'))
    expect([got.status, got.body, got.closed]).toEqual([401, 'who?', true])
    expect(up.heads).toHaveLength(0)
    const h2 = await edge(app, 'h2c')
    expect((await connect2(session2(h2.url), { ':path': '/no' })).status).toBe(401)
  })

  it('a gate that replaces the 101 leaves no tunnel behind', async () => {
    const up = await socketOrigin()
    const app = pipeline()
      .use({ name: 'gate', onReply: () => reply(418, 'no') })
      .handle(proxy(testUpstream(up.url)))
    const { port } = await edge(app)
    expect((await raw1(port, HANDSHAKE())).status).toBe(418)
    await until('the upstream to see the end', () => up.closes.length === 1)
  })
})

describe('handshakes', () => {
  it.each([
    ['no key', HANDSHAKE().replace(/Sec-WebSocket-Key.*\r\n/, ''), undefined],
    ['a short key', HANDSHAKE().replace('dGhlIHNhbXBsZSBub25jZQ==', 'c2hvcnQ='), undefined],
    ['two keys', HANDSHAKE('/', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'), undefined],
    ['another version', HANDSHAKE().replace('Version: 13', 'Version: 8'), '13'],
    ['no version', HANDSHAKE().replace(/Sec-WebSocket-Version.*\r\n/, ''), '13'],
  ])('%s is refused', async (_name, bytes, versions) => {
    const up = await socketOrigin()
    const { port } = await proxyEdge(up.url)
    const got = await raw1(port, bytes)
    expect([got.status, field(got.raw, 'sec-websocket-version')]).toEqual([400, versions])
    expect(up.heads).toHaveLength(0)
  })

  it.each([
    ['a wrong accept', SWITCH.replace(ACCEPT, 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=')],
    ['another protocol', SWITCH.replace('Upgrade: websocket', 'Upgrade: h2c')],
    ['no accept', SWITCH.replace(/Sec-WebSocket-Accept.*\r\n/, '')],
  ])('an upstream that answers 101 with %s is no tunnel', async (_name, head) => {
    const up = await scripted(`${head}\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret`)
    const { port } = await proxyEdge(up.url)
    const got = await exchangeBytes(port, `${HANDSHAKE()}GET /admin HTTP/1.1\r\nHost: a\r\n\r\n`)
    expect(got.text).toMatch(/^HTTP\/1\.1 502 /)
    expect(got.text).not.toContain('secret')
    expect(got.text.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(up.received()).not.toContain('/admin')
  })

  const without = (...names: string[]): string =>
    names.reduce((head, name) => head.replace(new RegExp(`^${name}: .*\\r\\n`, 'm'), ''), SWITCH)
  it.each([
    ['Upgrade', without('Upgrade')],
    ['Connection', without('Connection')],
    ['Upgrade and Connection', without('Upgrade', 'Connection')],
  ])('a 101 without %s is a failure of the target', async (_name, head) => {
    const up = await scripted(`${head}\r\n\x81\x01a`)
    const group = testUpstream(up.url)
    const outcomes: Outcome[] = []
    const { port } = await edge(pipeline().use(seen(outcomes)).handle(proxy(group)))
    expect(await raw1(port, HANDSHAKE())).toMatchObject({ status: 502, closed: true })
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ source: 'upstream', code: 'bad-reply' })
    expect(group.stats().targets[0]).toMatchObject({ failures: 1, inFlight: 0 })
    await until('the upstream connection to close', () => up.sockets.size === 0)
  })
})

describe('smuggling through upgrades', () => {
  it.each([
    ['200', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'],
    ['426', 'HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n'],
  ])('an upstream that answers %s opens nothing: what follows is never sent on', async (status, bytes) => {
    const up = await scripted(bytes)
    const { port } = await proxyEdge(up.url)
    const got = await exchangeBytes(port, `${HANDSHAKE()}GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`, 300)
    expect(got.text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(got.text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
    expect(got.closed).toBe(true)
    expect(up.received()).not.toContain('smuggled')
  })

  it('B043: h2c, lists, versions of TLS, and upgrades with a body are plain HTTP', async () => {
    const up = await origin()
    const { port } = await proxyEdge(up.url)
    const settings = 'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n'
    for (const [lines, body] of [
      [`Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n${settings}`, ''],
      ['Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n', 'hi'],
      ['Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n', ''],
      ['Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n', ''],
      ['Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n', ''],
      ['Connection: Upgrade\r\nUpgrade: HTTP/2.0\r\n', ''],
      ['Connection: Upgrade\r\nUpgrade: websocket\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
      ['Connection: keep-alive\r\nUpgrade: websocket\r\n', ''],
    ] as const) {
      const method = body === '' ? 'GET' : 'POST'
      const one = `${method} / HTTP/1.1\r\nHost: a\r\n${lines}\r\n${body}`
      const got = await exchangeBytes(port, one + one)
      // Node's parser drops what is pipelined behind it: the client is told that the connection ends.
      const ignored = !lines.startsWith('Connection: keep-alive')
      expect(got.text.match(/HTTP\/1\.1 200/g), lines).toHaveLength(ignored ? 1 : 2)
      expect([got.closed, /connection: close/i.test(got.text)], lines).toEqual([ignored, ignored])
    }
    expect(up.seen.length).toBeGreaterThan(8)
    expect(up.seen.flatMap(one => one.raw).join()).not.toMatch(/upgrade|http2-settings/i)
  })

  it('a 101 that nobody asked for is no answer', async () => {
    const up = await scripted(`${SWITCH}\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret`)
    const { port } = await proxyEdge(up.url)
    const got = await exchangeBytes(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi', 300)
    expect(got.text).toMatch(/^HTTP\/1\.1 502 /)
    expect(got.text).not.toContain('secret')
  })

  it('an upgrade that is pipelined waits for its turn', async () => {
    let answer: (() => void) | null = null
    const up = await rawOrigin(socket =>
      socket.on('data', bytes => {
        if (bytes.includes('/slow'))
          answer = () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow')
        else socket.write(`${SWITCH}\r\nhello`)
      }),
    )
    const { port } = await proxyEdge(up.url)
    const socket = openSocket(port)
    let got = ''
    socket.on('data', bytes => {
      got += bytes.toString('latin1')
    })
    socket.write(`GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${HANDSHAKE()}`)
    await until('the request', () => answer !== null)
    expect(up.received()).not.toContain('Upgrade')
    answer!()
    await until('the tunnel', () => got.endsWith('hello'))
    expect(got.indexOf('slow')).toBeLessThan(got.indexOf('101'))
  })

  it('CONNECT is refused', async () => {
    const up = await scripted('HTTP/1.1 200 OK\r\n\r\n')
    const { port, url } = await proxyEdge(up.url, 'http')
    expect(url).toContain('http:')
    const got = await raw1(port, 'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n')
    expect(got.status).toBe(405)
    const h2 = await proxyEdge(up.url, 'h2c')
    const stream = session2(h2.url).request({ ':method': 'CONNECT', ':authority': '127.0.0.1:1' })
    stream.on('error', () => {})
    const status = await new Promise(resolve => {
      stream.on('response', head => resolve(head[':status']))
      stream.on('close', () => resolve(0))
    })
    expect([0, 400, 405, 501]).toContain(status)
    expect(up.received()).toBe('')
  })
})

describe('B036: over HTTP/2', () => {
  it('to an HTTP/1.1 upstream', async () => {
    const up = await socketOrigin()
    const outcomes: Outcome[] = []
    const app = pipeline()
      .use(seen(outcomes))
      .handle(proxy(testUpstream(up.url)))
    const { url, attached } = await edge(app, 'h2c')
    const { stream, status, headers } = await connect2(session2(url), {
      ':path': '/hello?x=1',
      'sec-websocket-protocol': 'v1',
      origin: 'https://edge.test',
      cookie: 'a=1',
    })
    expect([status, headers['sec-websocket-protocol'], headers['sec-websocket-accept']]).toEqual([
      200,
      'v1',
      undefined,
    ])
    let got = ''
    stream.on('data', bytes => {
      got += bytes.toString('latin1')
    })
    await until('the greeting', () => got.includes('hello'))
    stream.write(textFrame('over two'))
    await until('the echo', () => got.includes('over two'))
    expect(attached.tunnels).toBe(1)
    const head = up.heads[0]!
    expect(head).toContain('Sec-WebSocket-Key')
    expect(field(head, 'sec-websocket-key')).toMatch(/^.{22}==$/)
    expect([field(head, 'origin'), field(head, 'cookie')]).toEqual(['https://edge.test', 'a=1'])
    // A close frame with 1000.
    stream.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]))
    stream.end()
    await until('the close', () => up.closes.length === 1)
    await until('the end', () => outcomes.length === 1)
    expect(outcomes[0]).toMatchObject({ status: 200, error: null })
  })

  it('a cancelled stream resets the upstream', async () => {
    const up = await socketOrigin()
    const { url } = await proxyEdge(up.url, 'h2c')
    const { stream } = await connect2(session2(url))
    stream.close(8)
    await until('the upstream to notice', () => up.closes.length === 1)
    expect(up.closes).toEqual([1006])
  })

  it('other protocols are 501, a 2xx of a handler too, and :protocol needs CONNECT', async () => {
    const up = await socketOrigin()
    const { url } = await proxyEdge(up.url, 'h2c')
    const session = session2(url)
    expect((await connect2(session, { ':protocol': 'foo' })).status).toBe(501)
    expect((await connect2(session, { ':method': 'GET' })).status).toBe(0)
    expect((await connect2(session, { 'sec-websocket-version': '8' })).status).toBe(400)
    const plain = await edge(
      pipeline().handle(() => reply(200, 'x')),
      'h2c',
    )
    expect((await connect2(session2(plain.url))).status).toBe(501)
  })

  it('gates see a GET', async () => {
    const methods: string[] = []
    const up = await socketOrigin()
    const app = pipeline()
      .use({
        name: 'see',
        onRequest: cx => void methods.push(`${cx.request.method} ${cx.request.path} ${cx.request.upgrade}`),
      })
      .route('GET /chat', route => route.handle(proxy(testUpstream(up.url))))
      .handle(() => reply(404))
    const { url } = await edge(app, 'h2c')
    expect((await connect2(session2(url), { ':path': '/chat' })).status).toBe(200)
    expect((await connect2(session2(url), { ':path': '/other' })).status).toBe(404)
    expect(methods).toEqual(['GET /chat websocket', 'GET /other websocket'])
  })
})

describe('to HTTP/2 upstreams (RFC 8441)', () => {
  it.each(['http', 'h2c'] as const)('from %s', async kind => {
    const up = await connectOrigin()
    const { port, url } = await proxyEdge(up.url, kind, { protocol: 'h2c' })
    let got = ''
    if (kind === 'http') {
      const socket = openSocket(port)
      socket.on('data', bytes => {
        got += bytes.toString('latin1')
      })
      socket.write(`${HANDSHAKE('/chat', 'Sec-WebSocket-Protocol: v1\r\n')}early`)
      await until('the echo', () => got.endsWith('early'))
      expect(got).toMatch(/^HTTP\/1\.1 101 /)
      expect(got).toContain(`Sec-WebSocket-Accept: ${ACCEPT}\r\n`)
      expect(got).toContain('sec-websocket-protocol: v1\r\n')
      socket.end()
    } else {
      const { stream, status } = await connect2(session2(url), { ':path': '/chat' })
      expect(status).toBe(200)
      stream.on('data', bytes => {
        got += bytes
      })
      stream.write('echo')
      await until('the echo', () => got === 'echo')
      stream.end()
    }
    const head = up.heads[0]!
    expect(field(head, ':method')).toBe('CONNECT')
    expect(field(head, ':protocol')).toBe('websocket')
    expect(field(head, ':path')).toBe('/chat')
    for (const name of ['sec-websocket-key', 'connection', 'upgrade', 'host']) {
      expect(field(head, name)).toBeUndefined()
    }
    await until('the stream to end', () => up.streams.size === 0)
    expect(up.codes).toEqual([0])
  })

  it('refusals pass', async () => {
    const up = await connectOrigin()
    const { port } = await proxyEdge(up.url, 'http', { protocol: 'h2c' })
    const got = await raw1(port, HANDSHAKE('/refuse'))
    expect(got.status).toBe(403)
    expect(field(got.raw, 'x-why')).toBe('no')
    expect(got.body).toContain('refused')
  })

  it('a client that breaks off resets the stream', async () => {
    const up = await connectOrigin()
    const { port } = await proxyEdge(up.url, 'http', { protocol: 'h2c' })
    const socket = openSocket(port)
    socket.write(HANDSHAKE())
    await until('the tunnel', () => up.streams.size === 1)
    await new Promise(resolve => socket.once('data', resolve))
    socket.resetAndDestroy()
    await until('the reset', () => up.codes.length === 1)
    expect(up.codes).toEqual([8])
  })

  it('a target without extended CONNECT is 501', async () => {
    const { origin2 } = await import('./support/http2-origin.ts')
    const up = await origin2(() => {})
    const { port } = await proxyEdge(up.url, 'http', { protocol: 'h2c' })
    expect((await raw1(port, HANDSHAKE())).status).toBe(501)
  })
})

describe('other protocols', () => {
  it('pass where the proxy names them', async () => {
    const up = await rawOrigin(socket =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n')
        socket.on('data', bytes => socket.write(bytes))
      }),
    )
    const group = testUpstream(up.url)
    const { port } = await edge(pipeline().handle(proxy(group, { upgrades: ['tcp'] })))
    const socket = openSocket(port)
    let got = ''
    socket.on('data', bytes => {
      got += bytes
    })
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: tcp\r\n\r\nraw bytes')
    await until('the echo', () => got.endsWith('raw bytes'))
    expect(() => proxy(group, { upgrades: ['h2c'] })).toThrow(/no protocol for a tunnel/)
    expect(() => proxy(group, { upgrades: ['TLS/1.0'] })).toThrow(/no protocol for a tunnel/)
  })
})
