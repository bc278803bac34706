/** The wire: what it takes, what it hands to Node's parser and when, and what it owes to the server that it stands on. */
import { createServer, type RequestListener, type Server } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createHttps } from 'node:https'
import { connect, type Server as TcpServer } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type App, type AttachOptions, attach, type Outcome, pipeline, reply } from '../src/index.ts'
import { certificate } from './support/certificate.ts'
import { exchangeBytes, openSocket, request2, session2 } from './support/clients.ts'
import { edge, listen, until } from './support/servers.ts'

const get = (target: string, more = ''): string => `GET ${target} HTTP/1.1\r\nHost: a.test\r\n${more}\r\n`

/** Answers with the target, and counts what Node's own parser has read. */
async function counted(options: AttachOptions = {}, app: App = echo) {
  const made = await edge(app, 'http', { wire: true, ...options })
  let byNode = 0
  made.server.on('request', () => byNode++)
  return { ...made, byNode: () => byNode, http: made.server as Server }
}

const echo = pipeline().handle(cx => reply(200, `<${cx.request.target}>`))
const slow = pipeline().handle(
  cx => new Promise(resolve => setTimeout(resolve, 30, reply(200, cx.request.path))),
)
const bodies = (text: string): string[] => text.match(/<[^>]*>/g) ?? []

describe('a request that is not plainly HTTP/1.1', () => {
  const others: [string, string, RegExp][] = [
    ['HTTP/1.0', 'GET /x HTTP/1.0\r\nHost: a.test\r\n\r\n', /^HTTP\/1\.1 200/],
    ['an absolute target', get('http://a.test/x'), /^HTTP\/1\.1 200[\s\S]*<\/x>/],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n', /^HTTP\/1\.1 204/],
    ['a method that is rare', 'PROPFIND /x HTTP/1.1\r\nHost: a.test\r\n\r\n', /^HTTP\/1\.1 200/],
    ['an empty line in front', `\r\n${get('/x')}`, /^HTTP\/1\.1 200/],
    ['options for the connection', get('/x', 'Connection: keep-alive, x\r\n'), /^HTTP\/1\.1 200/],
    ['Upgrade', get('/x', 'Connection: upgrade\r\nUpgrade: h2c\r\n'), /^HTTP\/1\.1 200/],
    [
      'a length with zeros',
      'POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 01\r\n\r\n1',
      /^HTTP\/1\.1 200/,
    ],
    [
      'Chunked',
      'POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n',
      /^HTTP\/1\.1 200/,
    ],
    ['two hosts', get('/x', 'Host: b.test\r\n'), /^HTTP\/1\.1 400/],
    ['no host', 'GET /x HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400/],
    ['a bare LF', 'GET /x HTTP/1.1\nHost: a.test\n\n', /^HTTP\/1\.1 400/],
    ['a folded line', get('/x', 'X: a\r\n b\r\n'), /^HTTP\/1\.1 (?:200|400)/],
    ['a space before a colon', get('/x', 'X : a\r\n'), /^HTTP\/1\.1 400/],
    [
      'a length and chunks',
      get('/x', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n'),
      /^HTTP\/1\.1 400/,
    ],
    ['an Expect that nobody knows', get('/x', 'Expect: x\r\n'), /^HTTP\/1\.1 417/],
    ['CONNECT', 'CONNECT a.test:80 HTTP/1.1\r\nHost: a.test\r\n\r\n', /^HTTP\/1\.1 405/],
    ['a head that is too large', get('/x', `X: ${'y'.repeat(20_000)}\r\n`), /^HTTP\/1\.1 431/],
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc', /^HTTP\/1\.1 400/],
  ]

  it.each(others)('%s: goes to the parser of Node, alone and behind others', async (_what, bytes, answer) => {
    const { port, byNode } = await counted()
    const alone = await exchangeBytes(port, bytes)
    expect(alone.text).toMatch(answer)
    const behind = await exchangeBytes(port, get('/1') + get('/2') + bytes)
    const parts = behind.text.split(/(?=HTTP\/1\.1 \d)/)
    expect(parts).toHaveLength(3)
    expect(bodies(parts[0]! + parts[1]!)).toEqual(['</1>', '</2>'])
    expect(parts[2]).toMatch(answer)
    if (alone.text.includes(' 200 ')) expect(byNode()).toBe(2)
  })

  it.each(others)('%s: cut at every byte', async (_what, bytes, answer) => {
    const { port } = await counted()
    const socket = openSocket(port)
    socket.setNoDelay(true)
    let text = ''
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
    })
    const all = Buffer.from(bytes.replace('y'.repeat(20_000), 'y'.repeat(16_500)), 'latin1')
    const step = all.length > 1000 ? 1500 : 1
    for (let at = 0; at < all.length; at += step) {
      socket.write(all.subarray(at, at + step))
      await new Promise(setImmediate)
    }
    await until('an answer', () => /\r\n\r\n/.test(text))
    expect(text).toMatch(answer)
  })

  it('waits until what is in front of it is answered, and is not lost', async () => {
    const { port, byNode } = await counted({}, slow)
    const { text } = await exchangeBytes(
      port,
      `${get('/1')}${get('/2')}GET /3 HTTP/1.0\r\n\r\n${get('/4')}`,
      300,
    )
    expect(text.match(/\r\n\r\n\/\d/g)).toEqual(['\r\n\r\n/1', '\r\n\r\n/2', '\r\n\r\n/3'])
    expect(byNode()).toBe(1)
  })

  it('what follows it on the connection is served as well', async () => {
    const { port, byNode } = await counted()
    const odd = get('http://a.test/2')
    const { text } = await exchangeBytes(
      port,
      get('/1') + odd + get('/3') + get('/4', 'Connection: close\r\n'),
    )
    expect(bodies(text)).toEqual(['</1>', '</2>', '</3>', '</4>'])
    expect(byNode()).toBe(3)
  })
})

describe('a plain request', () => {
  it('never reaches the parser of Node, however it is cut', async () => {
    const { port, byNode } = await counted()
    const bytes = Buffer.from(
      `${get('/1')}POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc${get('/3', 'Connection: close\r\n')}`,
    )
    for (let at = 1; at < bytes.length; at += 3) {
      const socket = openSocket(port)
      socket.setNoDelay(true)
      let text = ''
      socket.on('data', chunk => {
        text += chunk
      })
      socket.write(bytes.subarray(0, at))
      await new Promise(resolve => setTimeout(resolve, 2))
      socket.write(bytes.subarray(at))
      await until('three answers', () => bodies(text).length === 3)
    }
    expect(byNode()).toBe(0)
  })

  it('pipelined answers that are ready leave in order', async () => {
    const { port } = await counted()
    let all = ''
    for (let i = 0; i < 500; i++) all += get(`/${i}`)
    const { text } = await exchangeBytes(port, all + get('/last', 'Connection: close\r\n'))
    expect(bodies(text)).toEqual([...Array.from({ length: 500 }, (_, i) => `</${i}>`), '</last>'])
  })

  it('a known body is framed by its length, an unknown one by chunks', async () => {
    const app = pipeline()
      .route('/null', r => r.handle(() => ({ ...reply(200), body: null })))
      .handle(() => ({ ...reply(200), body: Buffer.from('abc') }))
    const { port } = await counted({}, app)
    expect((await exchangeBytes(port, get('/'))).text).toMatch(/Content-Length: 3\r\n[\s\S]*\r\n\r\nabc$/)
    expect((await exchangeBytes(port, get('/null'))).text).toMatch(/Content-Length: 0\r\n[\s\S]*\r\n\r\n$/)
  })

  it('an answer without a body that says one is cut: nobody waits for it', async () => {
    const app = pipeline().handle(() => reply(200, null, { headers: { 'Content-Length': '5' } }))
    const { port } = await counted({}, app)
    expect((await exchangeBytes(port, get('/'), 2000)).closed).toBe(true)
  })
})

describe.each(['https', 'h2'] as const)('TLS (%s)', kind => {
  async function secure() {
    const { key, cert } = certificate()
    const server =
      kind === 'https' ? createHttps({ key, cert }) : createSecureServer({ key, cert, allowHTTP1: true })
    const attached = attach(server as unknown as TcpServer, echo, { wire: true })
    let byNode = 0
    ;(server as unknown as Server).on('request', (() => byNode++) as RequestListener)
    const port = await listen(server as unknown as TcpServer)
    onTestFinished(() => attached.drain(0))
    return { port, byNode: () => byNode }
  }

  function ask(port: number, ALPNProtocols: string[], bytes: string): Promise<string> {
    return new Promise(resolve => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols })
      let text = ''
      socket.on('error', () => {})
      socket.on('data', chunk => {
        text += chunk
      })
      socket.on('close', () => resolve(text))
      socket.write(bytes)
    })
  }

  it('HTTP/1.1 by ALPN is served on the wire, and handed over in the middle', async () => {
    const { port, byNode } = await secure()
    const last = get('/2', 'Connection: close\r\n')
    expect(bodies(await ask(port, ['http/1.1'], get('/1') + last))).toEqual(['</1>', '</2>'])
    expect(byNode()).toBe(0)
    expect(bodies(await ask(port, ['http/1.1'], get('/1') + get('http://a.test/x') + last))).toEqual([
      '</1>',
      '</x>',
      '</2>',
    ])
    expect(byNode()).toBe(2)
  })

  it('clients without ALPN are served, and HTTP/2 is what it was', async () => {
    const { port, byNode } = await secure()
    expect(bodies(await ask(port, [], get('/2', 'Connection: close\r\n')))).toEqual(['</2>'])
    expect(byNode()).toBe(0)
    if (kind === 'https') return
    const two = await request2(session2(`https://127.0.0.1:${port}`), { ':path': '/h2' })
    expect(two.body).toBe('</h2>')
  })
})

describe('the limits of the server hold', () => {
  async function limited(set: Partial<Server>, outcomes: Outcome[] = []) {
    const app = pipeline()
      .use({ name: 'watch', onDone: (_cx, outcome) => void outcomes.push(outcome) })
      .handle(cx => reply(200, `<${cx.request.target}>`))
    const made = await counted({}, app)
    Object.assign(made.http, set)
    return made
  }

  it('keepAliveTimeout closes what is idle, and is told to clients', async () => {
    const { port } = await limited({ keepAliveTimeout: 300 })
    const socket = openSocket(port)
    let text = ''
    socket.on('data', chunk => {
      text += chunk
    })
    const ended = new Promise(resolve => socket.on('end', resolve))
    socket.write(get('/1'))
    await until('an answer', () => text.endsWith('</1>'))
    expect(text).toMatch(/Connection: keep-alive\r\nKeep-Alive: timeout=0\r\n/)
    await ended
  })

  it.each([
    ['no byte', '', 0],
    ['half a head', 'GET / HTTP/1.1\r\nHost: a', 0],
    ['half a head behind a request', `${get('/1')}GET / HT`, 1],
  ])('headersTimeout: %s is answered 408, and heard', async (_what, bytes, before) => {
    const outcomes: Outcome[] = []
    const { port } = await limited({ headersTimeout: 300 }, outcomes)
    const { text, closed } = await exchangeBytes(port, bytes || Buffer.alloc(0), 5000)
    expect(text.match(/HTTP\/1\.1 \d+/g)?.slice(before)).toEqual(['HTTP/1.1 408'])
    expect(closed).toBe(true)
    expect(outcomes.at(-1)?.error?.code).toBe('request-timeout')
  })

  it('requestTimeout: half a body is answered 408', async () => {
    const outcomes: Outcome[] = []
    const { port, http } = await counted(
      {},
      pipeline()
        .use({ name: 'watch', onDone: (_cx, outcome) => void outcomes.push(outcome) })
        .use({ name: 'read', holdBody: () => 100, onRequestBody: () => undefined })
        .handle(() => reply(200)),
    )
    http.requestTimeout = 300
    const { text, closed } = await exchangeBytes(
      port,
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc',
      5000,
    )
    expect(text).toMatch(/^HTTP\/1\.1 408/)
    expect(closed).toBe(true)
    expect(outcomes.map(one => one.error?.code)).toEqual(['request-timeout'])
  })

  it('maxRequestsPerSocket', async () => {
    const { port } = await limited({ maxRequestsPerSocket: 2 })
    const { text, closed } = await exchangeBytes(port, get('/1') + get('/2') + get('/3'), 2000)
    expect(bodies(text)).toEqual(['</1>', '</2>'])
    expect(text.match(/Connection: close/g)).toHaveLength(1)
    expect(closed).toBe(true)
  })

  it('timeout: silence in both directions ends the connection', async () => {
    const { port } = await limited({ timeout: 200 })
    expect((await exchangeBytes(port, get('/1'), 3000)).closed).toBe(true)
  })

  it('close() ends idle connections, closeAllConnections() all', async () => {
    const { port, http } = await limited({ keepAliveTimeout: 60_000 })
    const idle = openSocket(port)
    const ended = new Promise(resolve => idle.on('end', resolve))
    let text = ''
    idle.on('data', chunk => {
      text += chunk
    })
    idle.write(get('/1'))
    await until('an answer', () => text.includes('</1>'))
    const fresh = openSocket(port)
    const cut = new Promise(resolve => fresh.on('close', resolve))
    await new Promise(resolve => fresh.on('connect', resolve))
    const closed = new Promise(resolve => http.close(resolve))
    await ended
    http.closeAllConnections()
    await cut
    await closed
  })
})

it('an Upgrade that the host listens for is the host’s', async () => {
  const server = createServer()
  server.on('upgrade', (_req, socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nmine'),
  )
  const attached = attach(server, echo, { wire: true })
  const port = await listen(server)
  onTestFinished(() => attached.drain(0))
  const { text } = await exchangeBytes(
    port,
    get('/1') + get('/2', 'Connection: upgrade\r\nUpgrade: x\r\n'),
    2000,
  )
  expect(bodies(text)).toEqual(['</1>'])
  expect(text.endsWith('mine')).toBe(true)
})

it('a client that half-closes in the middle of a head is told, and one in the middle of a body is gone', async () => {
  const { port } = await counted()
  for (const [bytes, answer] of [
    ['GET / HT', /^HTTP\/1\.1 400/],
    ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab', /^(?:HTTP\/1\.1 200[\s\S]*)?$/],
  ] as const) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let text = ''
    socket.on('data', chunk => {
      text += chunk
    })
    socket.on('error', () => {})
    const closed = new Promise(resolve => socket.on('end', resolve).on('close', resolve))
    socket.end(bytes)
    await closed
    expect(text).toMatch(answer)
    socket.destroy()
  }
})

it('options that cannot work are refused', () => {
  expect(() => attach(createServer(), echo, { wire: 'yes' } as never)).toThrow(/attach\.wire/)
  const taken = createServer()
  taken.removeAllListeners('connection')
  taken.on('connection', () => {})
  expect(() => attach(taken, echo, { wire: true })).toThrow(/attach\.wire/)
})
