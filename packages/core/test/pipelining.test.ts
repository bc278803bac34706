/** Requests that were sent ahead on one HTTP/1.1 connection: bounded, in order, and none is forgotten. */
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { concurrencyLimit, type Filter, type Outcome, pipeline, proxy, reply } from '../src/index.ts'
import { MOST_PIPELINED } from '../src/transport/node/connection1.ts'
import { exchangeBytes, openSocket, openTls } from './support/clients.ts'
import { edge, rawOrigin, testUpstream, until } from './support/servers.ts'

const get = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: a.test\r\n\r\n`

function watching(outcomes: Outcome[], signals: AbortSignal[] = []): Filter {
  return {
    name: 'watch',
    onRequest: cx => void signals.push(cx.signal),
    onDone: (_cx, outcome) => void outcomes.push(outcome),
  }
}

/** Answers requests only when told; counts those that run. */
function held() {
  const open: (() => void)[] = []
  const targets: string[] = []
  return {
    open,
    targets,
    handler: (cx: { request: { target: string } }) => {
      targets.push(cx.request.target)
      return new Promise<ReturnType<typeof reply>>(resolve =>
        open.push(() => resolve(reply(200, cx.request.target))),
      )
    },
  }
}

describe('a client that leaves', () => {
  it('ends every request that it had sent ahead: abort and onDone, once each', async () => {
    const outcomes: Outcome[] = []
    const signals: AbortSignal[] = []
    const { handler } = held()
    const { port } = await edge(pipeline().use(watching(outcomes, signals)).handle(handler))
    const socket = openSocket(port)
    socket.write(get('/1') + get('/2') + get('/3'))
    await until('all to run', () => signals.length === 3)
    socket.destroy()
    await until('all to end', () => outcomes.length === 3)
    expect(signals.map(signal => signal.aborted)).toEqual([true, true, true])
    expect(outcomes.map(one => [one.status, one.error?.code])).toEqual(
      new Array(3).fill([499, 'client-closed']),
    )
  })

  it('frees the upstream connections of those behind, too', async () => {
    const up = await rawOrigin(() => {})
    const { port } = await edge(pipeline().handle(proxy(testUpstream(up.url))))
    const socket = openSocket(port)
    socket.write(get('/1') + get('/2') + get('/3'))
    await until('three at the upstream', () => (up.received().match(/GET/g) ?? []).length === 3)
    socket.resetAndDestroy()
    await until('three to be cut', () => up.closed() === 3)
  })

  it('leaves no place taken in concurrencyLimit', async () => {
    const { handler, targets } = held()
    const outcomes: Outcome[] = []
    const { port } = await edge(
      pipeline()
        .use(watching(outcomes))
        .use(concurrencyLimit({ total: 3 }))
        .route('GET /now', r => r.handle(() => reply(200)))
        .handle(handler),
    )
    const socket = openSocket(port)
    socket.write(get('/1') + get('/2') + get('/3'))
    await until('three to run', () => targets.length === 3)
    expect((await exchangeBytes(port, get('/now'))).text).toMatch(/^HTTP\/1\.1 503/)
    socket.destroy()
    await until('all to end', () => outcomes.length === 4)
    expect((await exchangeBytes(port, get('/now'))).text).toMatch(/^HTTP\/1\.1 200/)
  })
})

describe('more requests than run at a time', () => {
  it('wait, are answered in order, and stop the reading', async () => {
    const { handler, open, targets } = held()
    const { port } = await edge(pipeline().handle(handler))
    const socket = openSocket(port)
    let got = ''
    socket.on('data', chunk => {
      got += chunk
    })
    const count = 5000
    let all = ''
    for (let i = 0; i < count; i++) all += get(`/${i}`)
    socket.write(all)
    await until('a full house', () => targets.length === MOST_PIPELINED)
    await new Promise(resolve => setTimeout(resolve, 100))
    expect(targets).toHaveLength(MOST_PIPELINED)
    for (let i = 0; i < count; i++) {
      if (open[i] === undefined) await until(`request ${i}`, () => open[i] !== undefined)
      open[i]!()
      expect(targets.length - i).toBeLessThanOrEqual(MOST_PIPELINED)
    }
    await until('the last answer', () => got.endsWith(`/${count - 1}`))
    const bodies = [...got.matchAll(/\r\n\r\n(\/\d+)/g)].map(match => match[1])
    expect(bodies).toEqual(Array.from({ length: count }, (_, i) => `/${i}`))
  })

  it.each(['http', 'https'] as const)('are not read further than what was on its way (%s)', async kind => {
    const { handler, targets } = held()
    const { port, server } = await edge(pipeline().handle(handler), kind)
    let taken: Socket | null = null
    server.on(kind === 'http' ? 'connection' : 'secureConnection', (socket: Socket) => {
      taken = socket
    })
    const read = (): number => taken?.bytesRead ?? 0
    const socket = kind === 'http' ? openSocket(port) : await openTls(port)
    const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
    socket.write(request.repeat(100_000))
    await until('a full house', () => targets.length === MOST_PIPELINED)
    let before = -1
    while (before !== read()) {
      before = read()
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    // One read is 64 KiB.
    expect(read()).toBeLessThan(5000 * request.length)
  })

  it('are dropped unopened when the client is found to have left', async () => {
    const { handler, targets, open } = held()
    const outcomes: Outcome[] = []
    const { port } = await edge(pipeline().use(watching(outcomes)).handle(handler))
    const socket = openSocket(port)
    socket.write(get('/').repeat(MOST_PIPELINED + 50))
    await until('a full house', () => targets.length === MOST_PIPELINED)
    socket.resetAndDestroy()
    await new Promise(resolve => setTimeout(resolve, 50))
    // Nothing is read from a full connection: the first answer finds out.
    open[0]!()
    await until('all to end', () => outcomes.length >= MOST_PIPELINED)
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(outcomes).toHaveLength(targets.length)
    expect(targets.length).toBeLessThanOrEqual(MOST_PIPELINED + 1)
  })

  it('may have bodies', async () => {
    const { handler, open, targets } = held()
    const { port } = await edge(pipeline().handle(handler))
    const socket = openSocket(port)
    let got = ''
    socket.on('data', chunk => {
      got += chunk
    })
    const post = 'POST /b HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello'
    socket.write(post.repeat(MOST_PIPELINED + 10))
    await until('a full house', () => targets.length === MOST_PIPELINED)
    for (let i = 0; i < MOST_PIPELINED + 10; i++) {
      await until('the next', () => open[i] !== undefined)
      open[i]!()
    }
    await until('all', () => got.match(/\/b/g)?.length === MOST_PIPELINED + 10)
  })
})

describe('what follows on the connection', () => {
  const slow = () =>
    pipeline().handle(() => new Promise(resolve => setTimeout(resolve, 50, reply(200, 'good'))))

  it('garbage is answered 400, behind the answers that are due', async () => {
    const { port } = await edge(slow())
    const { text, closed, reset } = await exchangeBytes(
      port,
      `${get('/1') + get('/2')}gar bage\r\n\r\n`,
      2000,
    )
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400'])
    expect([closed, reset]).toEqual([true, false])
  })

  it('garbage behind more than run at a time comes last, too', async () => {
    const { port } = await edge(slow())
    const many = MOST_PIPELINED * 2
    const { text } = await exchangeBytes(port, `${get('/').repeat(many)}gar bage\r\n\r\n`, 2000)
    const answers = text.match(/HTTP\/1\.1 \d+/g)
    expect(answers).toEqual([...new Array(many).fill('HTTP/1.1 200'), 'HTTP/1.1 400'])
  })

  it('a refused head ends the connection for what waits behind it', async () => {
    const { port } = await edge(slow())
    const bad = 'GET /../x HTTP/1.1\r\nHost: a.test\r\n\r\n'
    const { text } = await exchangeBytes(
      port,
      get('/').repeat(MOST_PIPELINED) + bad + get('/').repeat(5),
      2000,
    )
    const answers = text.match(/HTTP\/1\.1 \d+/g)
    expect(answers).toEqual([...new Array(MOST_PIPELINED).fill('HTTP/1.1 200'), 'HTTP/1.1 400'])
  })

  it('bytes behind Connection: close are ignored', async () => {
    const { port } = await edge(slow())
    const last = 'GET /2 HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n'
    const { text, closed, reset } = await exchangeBytes(
      port,
      `${get('/1') + last}gar bage\r\n\r\n${get('/3')}`,
      2000,
    )
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
    expect(text).toMatch(/good$/)
    expect([closed, reset]).toEqual([true, false])
  })

  it('a CONNECT is answered in its turn', async () => {
    const { port } = await edge(slow())
    const { text, closed } = await exchangeBytes(
      port,
      `${get('/1')}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`,
      2000,
    )
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 405'])
    expect(closed).toBe(true)
  })

  it('a broken chunk ends its own request with 400, in order', async () => {
    const up = await rawOrigin(() => {})
    const { port } = await edge(
      pipeline()
        .route('GET /1', r =>
          r.handle(() => new Promise(resolve => setTimeout(resolve, 50, reply(200, 'good')))),
        )
        .handle(proxy(testUpstream(up.url))),
    )
    const post = 'POST /2 HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n'
    const { text, closed } = await exchangeBytes(port, get('/1') + post, 2000)
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
    expect(closed).toBe(true)
    await until('the upstream to be cut', () => up.closed() >= 1)
    expect(up.received()).not.toContain('\r\n0\r\n\r\n')
  })

  it('100 Continue of a request that waits comes behind the answer before it, and before its own', async () => {
    const up = await rawOrigin(socket =>
      socket.on('data', () => {
        const size = 40_000
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n${'b'.repeat(size)}`)
      }),
    )
    const { port } = await edge(
      pipeline()
        .route('GET /slow', r =>
          r.handle(() => new Promise(resolve => setTimeout(resolve, 200, reply(200, 'good')))),
        )
        .handle(proxy(testUpstream(up.url))),
    )
    const post = 'POST /2 HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello'
    const { text } = await exchangeBytes(port, get('/slow') + post, 500)
    const lines = text.match(/HTTP\/1\.1 \d+/g)
    expect(lines![0]).toBe('HTTP/1.1 200')
    expect(text).toMatch(/b{40000}$/)
    // The body came without waiting: 100 may be left out, but never stands inside an answer.
    expect(lines!.slice(1).join()).toMatch(/^(?:HTTP\/1\.1 100,)?HTTP\/1\.1 200$/)
    expect(text).toMatch(/good(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 200 OK\r\n/)
  })
})
