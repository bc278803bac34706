/** B071: a server that ends takes nothing new, finishes what runs, and is gone in time. */
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ConfigError, pipeline, proxy, reply } from '../src/index.ts'
import { openSocket, openTls, request2, session2 } from './support/clients.ts'
import { edge, type Kind, origin, rawOrigin, testUpstream, until } from './support/servers.ts'
import { HANDSHAKE } from './support/websocket.ts'

async function slowEdge(kind: Kind) {
  const up = await origin((res, seen) => setTimeout(() => res.end('done'), seen.target === '/slow' ? 300 : 0))
  const app = pipeline()
    .route('/state', r => r.handle(cx => reply(200, String(cx.draining))))
    .handle(proxy(testUpstream(up.url)))
  return { up, ...(await edge(app, kind)) }
}

describe('HTTP/1.1', () => {
  it('finishes what runs with Connection: close, and refuses new connections', async () => {
    const { port, attached, up } = await slowEdge('http')
    const socket = openSocket(port)
    let got = ''
    let closed = false
    socket.on('data', chunk => {
      got += chunk
    })
    socket.on('close', () => {
      closed = true
    })
    socket.write('GET /slow HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await until('the request', () => up.seen.length === 1)
    const drained = attached.drain()
    expect(attached.draining).toBe(true)
    let refused = false
    openSocket(port).on('error', () => {
      refused = true
    })
    await drained
    await until('the connection to close', () => closed)
    expect(got).toMatch(/^HTTP\/1\.1 200/)
    expect(got).toMatch(/\r\nConnection: close\r\n/)
    expect(got).toMatch(/done$/)
    expect(refused).toBe(true)
  })

  it('closes the connection behind its last answer', async () => {
    const { port, attached, up } = await slowEdge('http')
    const socket = openSocket(port)
    let got = ''
    let closed = false
    socket.on('data', chunk => {
      got += chunk
    })
    socket.on('close', () => {
      closed = true
    })
    socket.write('GET /slow HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await until('the request', () => up.seen.length === 1)
    await attached.drain()
    await until('the connection to close', () => closed)
    expect(got.match(/HTTP\/1\.1 200/g)).toHaveLength(1)
  })

  it('is over at the limit, whatever still runs', async () => {
    const up = await rawOrigin(() => {})
    const { port, attached } = await edge(pipeline().handle(proxy(testUpstream(up.url))))
    let closed = false
    const socket = openSocket(port)
    socket.on('close', () => {
      closed = true
    })
    socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await until('the request', () => up.received().includes('GET /'))
    await attached.drain(200)
    await until('the client to be cut', () => closed)
    await until('the upstream to be cut', () => up.closed() === 1)
  })

  it('lets idle connections go at once', async () => {
    const { port, attached } = await slowEdge('http')
    const socket = openSocket(port)
    let got = ''
    socket.on('data', chunk => {
      got += chunk
    })
    socket.write('GET /state HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await until('the answer', () => got.includes('false'))
    await attached.drain()
  })
})

describe.each(['h2', 'h2c'] as const)('HTTP/2 (%s)', kind => {
  it('gets GOAWAY, finishes its streams and closes', async () => {
    const { url, attached, up } = await slowEdge(kind)
    const session = session2(url)
    let goaway = false
    let closed = false
    session.on('goaway', () => {
      goaway = true
    })
    session.on('close', () => {
      closed = true
    })
    const running = request2(session, { ':path': '/slow' })
    await until('the request', () => up.seen.length === 1)
    const drained = attached.drain()
    expect(await running).toMatchObject({ status: 200, body: 'done', code: 0 })
    await drained
    await until('the session to close', () => closed)
    expect(goaway).toBe(true)
  })

  it('is over at the limit', async () => {
    const { url, attached } = await slowEdge(kind)
    const session = session2(url)
    await request2(session, { ':path': '/state' })
    const running = request2(session, { ':path': '/slow' })
    await attached.drain(50)
    await running
  })
})

describe('the limit', () => {
  it.each([Number.NaN, -1, Number.NEGATIVE_INFINITY, '5' as never])(
    '%s is refused, and nothing is drained',
    async limit => {
      const { attached } = await slowEdge('http')
      expect(() => attached.drain(limit)).toThrow(ConfigError)
      expect(attached.draining).toBe(false)
    },
  )

  it.each([Number.POSITIVE_INFINITY, 1e12])('%s cuts nothing', async limit => {
    const { port, attached, up } = await slowEdge('http')
    const socket = openSocket(port)
    let got = ''
    socket.on('data', chunk => {
      got += chunk
    })
    socket.write('GET /slow HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await until('the request', () => up.seen.length === 1)
    await attached.drain(limit)
    expect(got).toMatch(/done$/)
  })
})

describe('onDone of what is cut at the limit is called before drain() resolves', () => {
  const requests = {
    'a waiting GET': 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n',
    'an upload': 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000\r\n\r\nabc',
    'a WebSocket': HANDSHAKE(),
  }
  const switching = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
  ]
  const all = (['http', 'https', 'h2'] as const).flatMap(kind =>
    Object.entries(requests).map(([name, bytes]) => [kind, name, bytes] as const),
  )
  it.each(all)('%s: %s', async (kind, _name, bytes) => {
    const up = await rawOrigin(socket =>
      socket.once('data', head => {
        if (/upgrade: websocket/i.test(String(head))) socket.write(`${switching.join('\r\n')}\r\n\r\n`)
      }),
    )
    let done = 0
    const app = pipeline()
      .use({ name: 'log', onDone: () => void done++ })
      .handle(proxy(testUpstream(up.url)))
    const { port, attached } = await edge(app, kind)
    for (let i = 0; i < 5; i++) (kind === 'http' ? openSocket(port) : await openTls(port)).write(bytes)
    await until('the requests', () => up.received().match(/ HTTP\/1\.1\r\n/g)?.length === 5)
    if (bytes === HANDSHAKE()) await until('the tunnels', () => attached.tunnels === 5)
    expect(done).toBe(0)
    await attached.drain(100)
    expect(done).toBe(5)
  })

  it.each(['h2', 'h2c'] as const)('%s: streams', async kind => {
    const up = await rawOrigin(() => {})
    let done = 0
    const app = pipeline()
      .use({ name: 'log', onDone: () => void done++ })
      .handle(proxy(testUpstream(up.url)))
    const { url, attached } = await edge(app, kind)
    const session = session2(url)
    for (let i = 0; i < 5; i++) void request2(session, { ':path': '/' })
    await until('the requests', () => up.received().match(/ HTTP\/1\.1\r\n/g)?.length === 5)
    await attached.drain(100)
    expect(done).toBe(5)
  })
})

describe('connections without a request', () => {
  it.each(['http', 'https', 'h2', 'h2c'] as const)('do not hold it up (%s)', async kind => {
    const { port, attached, server } = await slowEdge(kind)
    const silent = [openSocket(port)]
    if (kind === 'https' || kind === 'h2') silent.push(await openTls(port))
    if (kind === 'h2' || kind === 'h2c') session2(`${kind === 'h2' ? 'https' : 'http'}://127.0.0.1:${port}`)
    const all = silent.length + (kind === 'h2' || kind === 'h2c' ? 1 : 0)
    await until('the connections', () => (server as unknown as { _connections: number })._connections === all)
    let over = false
    // The limit of the option, 15 s, is far beyond what is waited for here.
    void attached.drain().then(() => {
      over = true
    })
    await until('the end', () => over, 6000)
  })
})

it('under load on kept-alive connections every request is answered or finds a closed connection, none is reset', async () => {
  const { port, attached } = await slowEdge('http')
  const faults: string[] = []
  const served = new Set<number>()
  let last = 0
  const client = (which: number): Promise<void> =>
    new Promise(resolve => {
      const socket = connect(port, '127.0.0.1')
      let text = ''
      let asked = false
      const ask = (): void => {
        asked = true
        socket.write('GET /state HTTP/1.1\r\nHost: a.test\r\n\r\n')
      }
      socket.on('connect', ask)
      socket.on('error', error => faults.push(String(error)))
      socket.on('data', chunk => {
        text += chunk
        if (!/\r\n\r\n(?:true|false)$/.test(text)) return
        served.add(which)
        asked = false
        const closes = /connection: close/i.test(text)
        text = ''
        if (closes) last++
        else setTimeout(ask, 1)
      })
      socket.on('close', () => {
        if (asked) faults.push('closed without an answer')
        resolve()
      })
    })
  const clients = Array.from({ length: 50 }, (_, which) => client(which))
  await until('load on all', () => served.size === 50)
  await attached.drain()
  await Promise.all(clients)
  expect(faults).toEqual([])
  expect(last).toBe(50)
})

it('a request on its way when the drain begins is answered with Connection: close', async () => {
  const { port, attached } = await slowEdge('http')
  const socket = openSocket(port)
  let got = ''
  socket.on('data', chunk => {
    got += chunk
  })
  socket.write('GET /state HTTP/1.1\r\nHost: a.test\r\n\r\n')
  await until('the answer', () => got.includes('false'))
  const drained = attached.drain()
  await new Promise(resolve => setTimeout(resolve, 200))
  socket.write('GET /state HTTP/1.1\r\nHost: a.test\r\n\r\n')
  await until('the second answer', () => got.includes('true'))
  expect(got).toMatch(/connection: close/i)
  await drained
})

it('requests that were sent ahead are all answered, the last with Connection: close', async () => {
  const { port, attached, up } = await slowEdge('http')
  const socket = openSocket(port)
  let got = ''
  socket.on('data', chunk => {
    got += chunk
  })
  const get = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: a.test\r\n\r\n`
  socket.write(get('/slow') + get('/state') + get('/slow'))
  await until('the requests', () => up.seen.length === 2)
  await attached.drain()
  expect(got.match(/HTTP\/1\.1 200/g)).toHaveLength(3)
  expect(got.match(/connection: close/gi)).toHaveLength(1)
})
