/** One port: TLS, cleartext, PROXY headers, gates, relays; and connections that never say what they are. */
import { connect as connectH2 } from 'node:http2'
import { connect, createServer, type Socket } from 'node:net'
import { createServer as createTls } from 'node:tls'
import { type App, pipeline, reply } from '@postern/core'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { clientIdentity, type Front, fingerprints, type ListenOptions, listen, tlsOf } from '../src/index.ts'
import { authority } from './support/authority.ts'
import { chromeHello, splitRecords } from './support/hello.ts'
import { client, get1, get2, listen as listenOn, restOf, store, until } from './support/servers.ts'

// Handshakes and keys take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const ca = authority('Root')
const pem = [ca.issue({ names: ['a.test'] }), ca.issue({ names: ['b.test'] })]
const who = pipeline().handle(cx => {
  const { peer, scheme } = cx.request
  return reply(200, `${scheme} ${peer.address}:${peer.port} ${tlsOf(cx)?.hello?.ja4 ?? '-'}`)
})

async function front(
  options: Partial<ListenOptions> = {},
  app: App = who,
  more: object = {},
): Promise<Front> {
  const { tls } = await store({ pem, ...more })
  const made = await listen(tls, app, { port: 0, host: '127.0.0.1', helloTimeout: 400, ...options })
  onTestFinished(() => made.drain(0))
  return made
}

function raw(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return socket
}

/** One HTTP/1.1 request in the clear, behind `prefix`. */
async function clear(port: number, prefix = '', path = '/', host = 'a.test'): Promise<string> {
  const socket = raw(port)
  socket.write(`${prefix}GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  return restOf(socket)
}

test('serves HTTP/2 and HTTP/1.1 over TLS, and tells the JA4', async () => {
  const { port, counts } = await front()
  const one = await get1(port, 'a.test')
  expect(one).toMatch(/^200 https 127\.0\.0\.1:\d+ t13d\d{4}h1_[0-9a-f]{12}_[0-9a-f]{12}$/)
  const [two] = await get2(port, 'a.test', [{}])
  expect(two).toMatch(/t13d\d{4}h2_/)
  expect(counts).toMatchObject({ accepted: 2, tls: 2, malformed: 0 })
})

test('with wire, HTTP/1.1 is served on the raw socket, over TLS and in the clear, and HTTP/2 as before', async () => {
  const { port } = await front({ wire: true, cleartext: who })
  expect(await get1(port, 'a.test')).toMatch(/^200 https 127\.0\.0\.1:\d+ t13d\d{4}h1_/)
  const [two] = await get2(port, 'a.test', [{}])
  expect(two).toMatch(/t13d\d{4}h2_/)
  const text = await clear(port)
  expect(text).toMatch(/^HTTP\/1\.1 200[\s\S]*http 127\.0\.0\.1:\d+ -$/)
  await expect(listen((await store({ pem })).tls, who, { port: 0, wire: 1 } as never)).rejects.toThrow(
    /listen\.wire/,
  )
})

test('a ClientHello that comes byte by byte, and one in many records, reach OpenSSL whole', async () => {
  const { port } = await front({ helloTimeout: 20_000 })
  for (const change of [(bytes: Buffer) => bytes, (bytes: Buffer) => splitRecords(bytes, 40)]) {
    // A client whose first flight is cut up by a small proxy.
    const middle = await pieces(port, change)
    expect(await get1(middle, 'a.test')).toMatch(/^200 https/)
  }
})

describe('cleartext', () => {
  test('is redirected: the same host and target, the method kept', async () => {
    const { port } = await front({ redirectPort: 8443 })
    expect(await clear(port, '', '/x?y=%20', 'a.test:80')).toMatch(
      /^HTTP\/1\.1 308 [\s\S]*\r\nLocation: https:\/\/a\.test:8443\/x\?y=%20\r\n/,
    )
    const plain = await front()
    expect(await clear(plain.port)).toMatch(/\r\nLocation: https:\/\/a\.test\/\r\n/)
    const session = connectH2(`http://127.0.0.1:${plain.port}`)
    onTestFinished(() => session.destroy())
    const stream = session.request({ ':path': '/deep', ':authority': 'b.test' })
    const head = await new Promise<Record<string, unknown>>(resolve => stream.on('response', resolve))
    expect(head).toMatchObject({ ':status': 308, location: 'https://b.test/deep' })
    expect(plain.counts).toMatchObject({ cleartext: 2, tls: 0 })
  })

  test('a redirect never leads where a forged host says', async () => {
    const { port } = await front()
    for (const host of ['a.test@evil.example', 'evil.example/x', 'a.test\tx', 'a.test, evil.example', '']) {
      expect(await clear(port, '', '/', host)).toMatch(/^HTTP\/1\.1 400 /)
    }
    expect(await clear(port, '', '//evil.example/')).toMatch(
      /Location: https:\/\/a\.test\/\/evil\.example\/\r\n/,
    )
  })

  test('is closed, or served by an app of its own', async () => {
    const refuse = await front({ cleartext: 'refuse' })
    expect(await clear(refuse.port)).toBe('')
    const own = await front({ cleartext: pipeline().handle(cx => reply(200, `clear ${cx.request.version}`)) })
    expect(await clear(own.port)).toMatch(/clear 1\.1$/)
    const session = connectH2(`http://127.0.0.1:${own.port}`)
    onTestFinished(() => session.destroy())
    const stream = session.request({ ':path': '/' })
    let text = ''
    for await (const chunk of stream) text += chunk
    expect(text).toBe('clear 2.0')
  })
})

describe('first bytes that are nothing', () => {
  test('are closed and counted', async () => {
    const { port, counts } = await front()
    for (const bytes of [
      '\x00\x01\x02',
      'get / HTTP/1.1\r\n\r\n',
      '\x16\x03\x01\x00\x02\x02\x00',
      '\x80\x2e\x01\x03\x01',
    ]) {
      const socket = raw(port)
      socket.write(Buffer.from(bytes, 'latin1'))
      await restOf(socket)
    }
    expect(counts.malformed).toBe(4)
  })

  test('silence, drops and half a hello are closed in time; leaving early is no fault', async () => {
    const { port, counts, server } = await front()
    const hello = chromeHello()
    const sockets = [raw(port), raw(port), raw(port)]
    sockets[1]!.write(hello.subarray(0, 200))
    let at = 0
    const timer = setInterval(() => sockets[2]!.write(hello.subarray(at, ++at)), 5)
    onTestFinished(() => clearInterval(timer))
    await Promise.all(sockets.map(restOf))
    expect(counts.timedOut).toBe(3)
    raw(port).end()
    raw(port).destroy()
    await until('all are gone', async () => {
      const open = await new Promise<number>((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      )
      return open === 0
    })
  })

  test('never more than 16 KB are held', async () => {
    const { port, counts } = await front({ helloTimeout: 20_000 })
    const long = splitRecords(Buffer.concat([chromeHello().subarray(0, 9), Buffer.alloc(65_000)]), 1000)
    long.writeUIntBE(0x00fff0, 6, 3)
    const socket = raw(port)
    socket.write(long)
    await restOf(socket)
    expect(counts.malformed).toBe(1)
  })
})

test('a head that comes drop by drop is ended, in TLS and in the clear', async () => {
  const { port } = await front({ headersTimeout: 300, requestTimeout: 600, cleartext: who })
  const secure = async () =>
    (await client(port, { servername: 'a.test', ALPNProtocols: ['http/1.1'] })).socket
  for (const open of [secure, async () => raw(port)]) {
    const socket = await open()
    socket.write('GET / HTTP/1.1\r\nHost: a.test\r\nX-Slow: ')
    const drip = setInterval(() => socket.write('X'), 50)
    expect(await restOf(socket)).toMatch(/^HTTP\/1\.1 408 /)
    clearInterval(drip)
  }
})

describe('PROXY protocol', () => {
  const V1 = 'PROXY TCP4 192.0.2.9 198.51.100.7 5000 443\r\n'
  const trusting = { proxyProtocol: { trust: ['loopback'] } }

  test('from a trusted peer tells the client, before TLS and in the clear, in both versions', async () => {
    const { port } = await front({ ...trusting, cleartext: who })
    const v2 = Buffer.from(
      '0d0a0d0a000d0a515549540a2121002420010db800000000000000000000000100000000000000000000000000000001138801bb',
      'hex',
    )
    for (const [header, expected] of [
      [V1, '192.0.2.9:5000'],
      [v2.toString('latin1'), '2001:db8::1:5000'],
    ] as const) {
      expect(await get1(await prefixed(port, header), 'a.test')).toMatch(
        new RegExp(`^200 https ${expected} t13d`),
      )
      const [answer] = await get2(await prefixed(port, header), 'a.test', [{}])
      expect(answer).toMatch(new RegExp(`^200 https ${expected} t13d`))
    }
    expect(await clear(port, V1)).toMatch(/http 192\.0\.2\.9:5000 -$/)
  })

  test('is required of a trusted peer, and rubbish from any other', async () => {
    const trusted = await front(trusting)
    expect(await get1(trusted.port, 'a.test')).toBe('closed')
    const open = await front()
    expect(await get1(await prefixed(open.port, V1), 'a.test')).toBe('closed')
    expect(await clear(open.port, V1)).not.toContain('200 OK')
    expect(trusted.counts.malformed).toBe(1)
  })

  test('LOCAL keeps the address of the proxy', async () => {
    const { port } = await front(trusting)
    const local = Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex').toString('latin1')
    expect(await get1(await prefixed(port, local), 'a.test')).toMatch(/^200 https 127\.0\.0\.1:/)
  })
})

describe('gates', () => {
  test('deny and allow by fingerprint, before the handshake', async () => {
    const open = await front()
    const own = (await get1(open.port, 'a.test')).split(' ').at(-1)!
    const prefix = `${own.slice(0, 10)}*`
    for (const [options, passes] of [
      [{ deny: [own] }, false],
      [{ deny: [prefix] }, false],
      [{ allow: [own] }, true],
      [{ allow: ['t13d1516h2_8daaf6152771_e5627efa2ab1'] }, false],
      [{ allow: [prefix], deny: [own] }, false],
    ] as const) {
      const { port, counts } = await front({ gate: fingerprints(options) })
      expect(await get1(port, 'a.test')).toMatch(passes ? /^200/ : /^closed$/)
      expect(counts.denied).toBe(passes ? 0 : 1)
    }
  })

  test('limit the rate of a fingerprint', async () => {
    let now = 0
    const { port } = await front({ gate: fingerprints({ perSecond: 1, burst: 2, clock: () => now }) })
    const answers: string[] = []
    for (let i = 0; i < 4; i++) answers.push((await get1(port, 'a.test')).slice(0, 3))
    expect(answers).toEqual(['200', '200', 'clo', 'clo'])
    now += 1000
    expect(await get1(port, 'a.test')).toMatch(/^200/)
  })

  test('refuse what is no fingerprint', () => {
    expect(() => fingerprints({ deny: ['curl'] })).toThrow(/"curl" is no fingerprint/)
    expect(() => fingerprints({ perSecond: 0 })).toThrow(/perSecond/)
  })
})

describe('relay', () => {
  async function origin(name: string): Promise<number> {
    const made = authority('Elsewhere').issue({ names: [name] })
    const server = createTls({ key: made.key, cert: made.cert }, socket => {
      socket.on('error', () => {})
      socket.pipe(socket)
    })
    const port = await listenOn(server)
    onTestFinished(() => void server.close())
    return port
  }

  test('passes named connections on unopened, and those of names that are not ours', async () => {
    const target = { host: '127.0.0.1', port: await origin('c.test') }
    const outer = { host: '127.0.0.1', port: await origin('outer.example') }
    const { port, counts } = await front({ relay: { 'c.test': target, '*.d.test': target, '*': outer } })
    for (const [servername, expected] of [
      ['c.test', 'c.test'],
      ['x.d.test', 'c.test'],
      ['outer.example', 'outer.example'],
      ['a.test', 'a.test'],
    ]) {
      const { socket } = await client(port, { servername: servername! })
      expect(socket.getPeerCertificate().subject.CN).toBe(expected)
      socket.destroy()
    }
    expect(counts).toMatchObject({ relayed: 3, tls: 1 })
    const { socket } = await client(port, { servername: 'c.test' })
    const sent = Buffer.alloc(3_000_000, 'x')
    let got = 0
    socket.on('data', chunk => {
      got += chunk.length
    })
    socket.write(sent)
    await until('all came back', () => got === sent.length)
  })

  test('a target that is away ends the connection', async () => {
    const { port } = await front({ relay: { 'c.test': { host: '127.0.0.1', port: 1 } }, connectTimeout: 300 })
    await expect(client(port, { servername: 'c.test' })).rejects.toThrow()
  })
})

test('client certificates work as on a plain server', async () => {
  const root = authority('Clients')
  const alice = root.issue({ subject: 'alice', client: true })
  const app = pipeline()
    .use(clientIdentity())
    .handle(cx => reply(200, cx.state.client?.subject ?? 'nobody'))
  const { port } = await front({}, app, { clients: { 'b.test': { mode: 'required', ca: root.cert } } })
  expect(await get1(port, 'b.test')).toBe('closed')
  expect(await get1(port, 'b.test', { cert: alice.cert, key: alice.key })).toBe('200 CN=alice')
  expect(await get2(port, 'a.test', [{}, { ':authority': 'b.test' }])).toEqual([
    '200 nobody',
    '421 421 misdirected',
  ])
})

test('drain finishes what runs, takes nothing new, and ends', async () => {
  let release: () => void = () => {}
  const slow = new Promise<void>(resolve => {
    release = resolve
  })
  const app = pipeline().handle(async () => {
    await slow
    return reply(200, 'late')
  })
  const made = await front({}, app)
  const idle = await client(made.port, { servername: 'a.test', ALPNProtocols: ['h2'] })
  const running = get1(made.port, 'a.test')
  await until('it runs', () => made.counts.tls === 2)
  await new Promise(resolve => setTimeout(resolve, 50))
  const drained = made.drain(5000)
  await expect(client(made.port, { servername: 'a.test' })).rejects.toThrow()
  release()
  expect(await running).toBe('200 late')
  idle.socket.resume()
  await drained
})

test('options that cannot work are refused', async () => {
  const { tls } = await store({ pem })
  const bad: [object, RegExp][] = [
    [{ port: -1 }, /listen\.port/],
    [{ port: 1, cleartext: 'serve' }, /"serve" is no choice/],
    [{ port: 1, proxyProtocol: { trust: [] } }, /names no peer/],
    [{ port: 1, proxyProtocol: { trust: ['x'] } }, /'x' is no address/],
    [{ port: 1, relay: { 'a b': { host: 'x', port: 1 } } }, /no server name/],
    [{ port: 1, relay: { a: { host: '', port: 1 } } }, /no target/],
    [{ port: 1, tls: true }, /no such option/],
  ]
  for (const [options, problem] of bad)
    await expect(listen(tls, who, options as never)).rejects.toThrow(problem)
  await expect(listen({} as never, who, { port: 1 })).rejects.toThrow(/no certificate store/)
})

/** A port that sends `header` first and then whatever its client sends. */
async function prefixed(port: number, header: string): Promise<number> {
  return between(port, (upstream, chunk, first) => {
    upstream.write(first ? Buffer.concat([Buffer.from(header, 'latin1'), chunk]) : chunk)
  })
}

/** A port that sends the first flight of its client changed and byte by byte. */
async function pieces(port: number, change: (bytes: Buffer) => Buffer): Promise<number> {
  return between(port, (upstream, chunk, first) => {
    if (!first) return void upstream.write(chunk)
    const bytes = change(chunk)
    let at = 0
    const timer = setInterval(() => {
      if (at >= bytes.length) clearInterval(timer)
      else upstream.write(bytes.subarray(at, (at += 7)))
    }, 1)
  })
}

async function between(
  port: number,
  send: (upstream: Socket, chunk: Buffer, first: boolean) => void,
): Promise<number> {
  const server = createServer(socket => {
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true })
    let first = true
    socket.on('data', (chunk: Buffer) => {
      send(upstream, chunk, first)
      first = false
    })
    upstream.pipe(socket)
    socket.on('close', () => upstream.destroy())
    for (const one of [socket, upstream]) one.on('error', () => socket.destroy())
  })
  const made = await listenOn(server)
  onTestFinished(() => void server.close())
  return made
}

test('connections of one client are capped as they are accepted; who speaks PROXY carries many', async () => {
  const made = await front({
    helloTimeout: 20_000,
    proxyProtocol: { trust: ['127.0.0.7'] },
    attach: { maxConnectionsPerClient: 2, exemptClients: [] },
  })
  const from = (localAddress: string): { socket: Socket; closed: () => boolean } => {
    const socket = connect({ port: made.port, host: '127.0.0.1', localAddress })
    let closed = false
    socket.on('error', () => {})
    socket.on('close', () => {
      closed = true
    })
    onTestFinished(() => void socket.destroy())
    return { socket, closed: () => closed }
  }
  const held = [from('127.0.0.2'), from('127.0.0.2')]
  await until('it', () => made.stats().connections.open === 2)
  const more = from('127.0.0.2')
  await until('it', more.closed)
  const proxied = Array.from({ length: 5 }, () => from('127.0.0.7'))
  await until('it', () => made.stats().connections.open === 7)
  expect([...held, ...proxied].some(one => one.closed())).toBe(false)
  expect(made.stats()).toMatchObject({ connections: { refusedPerClient: 1, refusedTotal: 0 }, tunnels: 0 })
  held[0]!.socket.destroy()
  await until('it', () => made.stats().connections.open === 6)
  const again = from('127.0.0.2')
  await until('it', () => made.stats().connections.open === 7)
  expect(again.closed()).toBe(false)
})

test('swap() changes the app behind TLS; that for cleartext stays', async () => {
  const made = await front({ cleartext: pipeline().handle(() => reply(200, 'in the clear')) })
  const { retired } = await made.swap(pipeline().handle(() => reply(200, 'new')))
  await retired
  expect(await get1(made.port, 'a.test')).toMatch(/new$/)
  expect(await get2(made.port, 'a.test', [{}])).toEqual([expect.stringMatching(/new$/)])
  expect(await clear(made.port)).toMatch(/in the clear$/)
  await expect(made.swap({} as App)).rejects.toThrow(/not an app/)
  expect(await get1(made.port, 'a.test')).toMatch(/new$/)
})

test('options of attach() are passed on and checked there; what it gives can be reached', async () => {
  const { tls } = await store({ pem })
  const bad = { port: 0, attach: { sendTimeout: -1 } }
  await expect(listen(tls, who, bad)).rejects.toThrow(/attach\.sendTimeout/)
  const made = await front({ attach: { sendTimeout: 5000 } })
  expect([made.secure.tunnels, made.secure.draining]).toEqual([0, false])
  expect(made.cleartext).toHaveLength(2)
  expect((await front({ cleartext: 'refuse' })).cleartext).toEqual([])
  expect(() => made.drain(-1)).toThrow(/drain\(timeout\)/)
  expect(() => made.drain(Number.NaN)).toThrow(/no time/)
  await made.drain(Number.POSITIVE_INFINITY)
  expect(made.secure.draining).toBe(true)
})
