/** Tunnels that fail, fall silent, or outlive their server: B037, B041, B042. */
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Outcome, pipeline, proxy, toHandler, toUpgradeHandler } from '../src/index.ts'
import { openSocket, raw1, session2 } from './support/clients.ts'
import { edge, listen, proxyEdge, rawOrigin, scripted, testUpstream, until } from './support/servers.ts'
import { connect2, connectOrigin, HANDSHAKE, openWebSocket, socketOrigin } from './support/websocket.ts'

const SWITCH =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'

/** A client's end of a tunnel that is open. */
async function opened(port: number): Promise<{ socket: Socket; got: () => string; closed: () => boolean }> {
  const socket = openSocket(port)
  let got = ''
  let closed = false
  socket.on('data', bytes => {
    got += bytes.toString('latin1')
  })
  socket.on('close', () => {
    closed = true
  })
  socket.write(HANDSHAKE())
  await until('the tunnel', () => got.includes('\r\n\r\n'))
  expect(got).toMatch(/^HTTP\/1\.1 101 /)
  return { socket, got: () => got, closed: () => closed }
}

describe('B037: upstreams that fail', () => {
  it.each([
    ['nobody there', 'http://127.0.0.1:1', 502],
    ['no such name', 'http://no-such-name.invalid', 502],
  ])('%s', async (_name, target, status) => {
    const { port } = await proxyEdge(target)
    const got = await raw1(port, HANDSHAKE())
    expect([got.status, got.closed]).toEqual([status, true])
    const h2 = await proxyEdge(target, 'h2c')
    expect((await connect2(session2(h2.url))).status).toBe(status)
  })

  it('a reset before the 101', async () => {
    const up = await rawOrigin(socket => socket.once('data', () => socket.resetAndDestroy()))
    const { port } = await proxyEdge(up.url)
    expect((await raw1(port, HANDSHAKE())).status).toBe(502)
  })

  it('garbage, silence', async () => {
    const garbage = await scripted('SSH-2.0-OpenSSH\r\n\r\n')
    expect((await raw1((await proxyEdge(garbage.url)).port, HANDSHAKE())).status).toBe(502)
    const silent = await scripted('')
    const { port } = await proxyEdge(silent.url, 'http', { timeouts: { head: 80 } })
    expect((await raw1(port, HANDSHAKE())).status).toBe(504)
    await until('the upstream connection to close', () => silent.sockets.size === 0)
  })

  it.each(['http', 'h2c'] as const)('a reset after the 101 resets the client (%s)', async kind => {
    const outcomes: Outcome[] = []
    let cut: (() => void) | null = null
    const up = await rawOrigin(socket =>
      socket.once('data', bytes => {
        const key = /sec-websocket-key: (.*)\r\n/i.exec(bytes.toString())![1]!
        void answer(key).then(head => socket.write(head))
        cut = () => socket.resetAndDestroy()
      }),
    )
    const app = pipeline()
      .use({ name: 'see', onDone: (_cx, outcome) => void outcomes.push(outcome) })
      .handle(proxy(testUpstream(up.url)))
    const { port, url } = await edge(app, kind)
    if (kind === 'http') {
      const { closed } = await opened(port)
      cut!()
      await until('the close', closed)
    } else {
      const { stream, status } = await connect2(session2(url))
      expect(status).toBe(200)
      cut!()
      await until('the close', () => stream.destroyed)
      expect(stream.rstCode).toBe(8)
    }
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ source: 'upstream', phase: 'tunnel', code: 'upstream-reset' })
  })

  it('a refusal whose body breaks off', async () => {
    const up = await scripted('HTTP/1.1 502 Bad\r\nContent-Length: 100\r\n\r\npart', 'reset')
    const { port } = await proxyEdge(up.url)
    const got = await raw1(port, HANDSHAKE())
    expect([got.status, got.closed]).toEqual([502, true])
  })

  it('a client that is gone before the answer', async () => {
    let asked = false
    const up = await rawOrigin(socket =>
      socket.once('data', () => {
        asked = true
      }),
    )
    const outcomes: Outcome[] = []
    const app = pipeline()
      .use({ name: 'see', onDone: (_cx, outcome) => void outcomes.push(outcome) })
      .handle(proxy(testUpstream(up.url)))
    const { port } = await edge(app)
    const socket = openSocket(port)
    socket.write(HANDSHAKE())
    await until('the request', () => asked)
    socket.destroy()
    await until('the upstream connection to close', () => up.sockets.size === 0)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]).toMatchObject({ status: 499, error: { source: 'client', code: 'client-closed' } })
  })
})

async function answer(key: string): Promise<string> {
  const { acceptOf } = await import('../src/upgrade/websocket.ts')
  return SWITCH.replace(/Accept: .*\r\n/, `Accept: ${acceptOf(key)}\r\n`)
}

describe('B041: churn and silence', () => {
  it('300 connections, ended in every way, leave nothing behind', async () => {
    const up = await socketOrigin()
    const outcomes: Outcome[] = []
    const app = pipeline()
      .use({ name: 'see', onDone: (_cx, outcome) => void outcomes.push(outcome) })
      .handle(proxy(testUpstream(up.url)))
    const { port, attached } = await edge(app)
    for (let round = 0; round < 10; round++) {
      const sockets = await Promise.all(Array.from({ length: 30 }, () => opened(port)))
      sockets.forEach(({ socket }, i) => {
        if (i % 3 === 0) socket.destroy()
        else if (i % 3 === 1) socket.resetAndDestroy()
        else socket.end()
      })
      if (round % 2 === 1) for (const socket of up.sockets) socket.terminate()
    }
    await until('all to be over', () => outcomes.length === 300)
    await until('the upstream to notice', () => up.sockets.size === 0)
    expect(attached.tunnels).toBe(0)
    expect(outcomes.every(one => one.status === 101)).toBe(true)
  })

  it('a silent tunnel ends, one that is used does not', async () => {
    const up = await rawOrigin(socket =>
      socket.once('data', () => {
        socket.write(SWITCH)
        socket.on('data', bytes => socket.write(bytes))
      }),
    )
    const outcomes: Outcome[] = []
    const app = pipeline()
      .use({ name: 'see', onDone: (_cx, outcome) => void outcomes.push(outcome) })
      .handle(proxy(testUpstream(up.url, { timeouts: { tunnel: 150 } })))
    const { port } = await edge(app)
    const silent = await opened(port)
    const used = await opened(port)
    const chatter = setInterval(() => used.socket.write('x'), 20)
    onTestFinished(() => clearInterval(chatter))
    await until('the silent one to close', silent.closed)
    expect(used.closed()).toBe(false)
    expect(outcomes[0]!.error).toMatchObject({ source: 'proxy', phase: 'tunnel', code: 'idle-timeout' })
    await until('its upstream connection to close', () => up.sockets.size === 1)
  })

  it('their number is bounded', async () => {
    const up = await socketOrigin()
    const { port } = await proxyEdge(up.url, 'http', { tunnels: 2 })
    const first = await opened(port)
    await opened(port)
    expect((await raw1(port, HANDSHAKE())).status).toBe(503)
    first.socket.destroy()
    await until('the place to be free', () => up.sockets.size === 1)
    await opened(port)
  })

  it('a live tunnel counts as a request of its target until it ends', async () => {
    const up = await socketOrigin()
    const group = testUpstream(up.url)
    const { port } = await edge(pipeline().handle(proxy(group)))
    const { socket } = await opened(port)
    const running = (): number => group.stats().targets[0]!.inFlight
    expect(running()).toBe(1)
    socket.destroy()
    await until('the end', () => running() === 0)
  })
})

describe('B042: drain', () => {
  it.each(['http', 'h2c'] as const)('tunnels live until the limit (%s)', async kind => {
    const up = await connectOrigin()
    const app = pipeline().handle(proxy(testUpstream(up.url, { protocol: 'h2c' })))
    const { port, url, attached } = await edge(app, kind)
    let got = ''
    let gone = false
    let send: (text: string) => void
    if (kind === 'http') {
      const { socket } = await opened(port)
      socket.on('data', bytes => {
        got += bytes
      })
      socket.on('close', () => {
        gone = true
      })
      send = text => socket.write(text)
    } else {
      const { stream } = await connect2(session2(url))
      stream.on('data', bytes => {
        got += bytes
      })
      stream.on('close', () => {
        gone = true
      })
      send = text => stream.write(text)
    }
    expect(attached.tunnels).toBe(1)
    const drained = attached.drain(1500)
    // Longer than idle connections are given.
    await new Promise(resolve => setTimeout(resolve, 1200))
    send('still here')
    await until('the echo', () => got.endsWith('still here'))
    expect(gone).toBe(false)
    await drained
    await until('the cut', () => gone)
    expect(attached.tunnels).toBe(0)
  })

  it.each(['h1', 'h2c'] as const)(
    'WebSockets are told at the limit: 1001 on both sides (%s)',
    async protocol => {
      const up = await socketOrigin()
      // Over HTTP/2, an edge in between takes extended CONNECT.
      const between = await edge(pipeline().handle(proxy(testUpstream(up.url))), 'h2c')
      const group = testUpstream(protocol === 'h1' ? up.url : between.url, { protocol })
      const { port, attached } = await edge(pipeline().handle(proxy(group)))
      const socket = openWebSocket(`ws://127.0.0.1:${port}/hello`)
      await until('the greeting', () => socket.got.length === 1)
      await attached.drain(200)
      await until('both to hear', () => socket.closed !== null && up.closes.length === 1)
      expect([socket.closed, up.closes[0]]).toEqual([1001, 1001])
    },
  )

  it.each(['h1', 'h2c'] as const)('so are those of a target that is removed (%s)', async protocol => {
    const up = await socketOrigin()
    const between = await edge(pipeline().handle(proxy(testUpstream(up.url))), 'h2c')
    const url = protocol === 'h1' ? up.url : between.url
    const group = testUpstream([url, 'http://127.0.0.1:1'], { protocol, drainTimeout: 100 })
    const { port } = await edge(pipeline().handle(proxy(group)))
    const socket = openWebSocket(`ws://127.0.0.1:${port}/hello`)
    await until('the greeting', () => socket.got.length === 1)
    await group.remove(url)
    await until('both to hear', () => socket.closed !== null && up.closes.length === 1)
    expect([socket.closed, up.closes[0]]).toEqual([1001, 1001])
  })

  it('in the middle of a frame nothing is put in: it is cut', async () => {
    const up = await rawOrigin(socket =>
      socket.once('data', () => socket.write(`${SWITCH}\x01\x05par`, 'latin1')),
    )
    const { port, attached } = await proxyEdge(up.url)
    const { got, closed } = await opened(port)
    await until('the part', () => got().endsWith('par'))
    await attached.drain(100)
    await until('the cut', closed)
    expect(got().endsWith('par')).toBe(true)
  })

  it('a server that drains opens no new ones', async () => {
    const up = await socketOrigin()
    const { port, attached } = await proxyEdge(up.url)
    const first = await opened(port)
    const second = openSocket(port)
    let got = ''
    second.on('data', bytes => {
      got += bytes.toString('latin1')
    })
    await until('the connection', () => !second.connecting)
    const drained = attached.drain(5000)
    second.write(HANDSHAKE())
    await until('the answer', () => got.includes('\r\n\r\n'))
    expect(got).toMatch(/^HTTP\/1\.1 503 /)
    first.socket.destroy()
    await drained
  })

  it('ends at once when the last tunnel ends', async () => {
    const up = await socketOrigin()
    const { port, attached } = await proxyEdge(up.url)
    const socket = openWebSocket(`ws://127.0.0.1:${port}/`)
    await until('the socket', () => socket.readyState === 1)
    const started = attached.drain(60_000)
    socket.close()
    await started
  })
})

describe('B042, B065: a target that is removed', () => {
  it.each(['h1', 'h2c'] as const)('keeps its tunnels for its drain time (%s)', async protocol => {
    const [up, other] = await Promise.all([connectOrigin(), connectOrigin()])
    const sockets = await socketOrigin()
    const url = protocol === 'h1' ? sockets.url : up.url
    const group = testUpstream([url], { protocol, drainTimeout: 300 })
    const { port } = await edge(pipeline().handle(proxy(group)))
    const { closed } = await opened(port)
    group.add(other.url)
    const removed = group.remove(url)
    let settled = false
    void removed.then(() => {
      settled = true
    })
    await new Promise(resolve => setTimeout(resolve, 100))
    expect([closed(), settled]).toEqual([false, false])
    await removed
    await until('the cut', closed)
  })
})

describe('a host of its own', () => {
  it('mounts toUpgradeHandler', async () => {
    const up = await socketOrigin()
    const app = pipeline().handle(proxy(testUpstream(up.url)))
    const server = createServer(toHandler(app))
    server.on('upgrade', toUpgradeHandler(app))
    const port = await listen(server)
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const socket = openWebSocket(`ws://127.0.0.1:${port}/hello`)
    await until('the greeting', () => socket.got.length === 1)
    socket.terminate()
    const upload = await raw1(
      port,
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nhi',
    )
    expect([upload.status, upload.closed]).toEqual([400, true])
  })
})
