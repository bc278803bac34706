/** B071: a server that ends takes nothing new, finishes what runs, and is gone in time. */
import { describe, expect, it } from 'vitest'
import { pipeline, proxy, reply } from '../src/index.ts'
import { openSocket, request2, session2 } from './support/clients.ts'
import { edge, type Kind, origin, rawOrigin, testUpstream, until } from './support/servers.ts'

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
