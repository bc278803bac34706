/** Faults of the past, each with the case that showed it. */
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { concurrencyLimit, type Filter, type Outcome, pipeline, proxy, reply } from '../src/index.ts'
import { exchangeBytes, get1, openSocket, request2, session2 } from './support/clients.ts'
import { edge, origin, rawOrigin, scripted, testUpstream, until } from './support/servers.ts'

function watch(): { outcomes: Outcome[]; filter: Filter } {
  const outcomes: Outcome[] = []
  return { outcomes, filter: { name: 'watch', onDone: (_cx, outcome) => void outcomes.push(outcome) } }
}

/** The beginning of an upload over h2 in frames made by hand: no library ends it politely. */
async function upload2(port: number): Promise<{ socket: Socket; reset(code?: number): void }> {
  const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
    const head = Buffer.alloc(9)
    head.writeUIntBE(payload.length, 0, 3)
    head[3] = type
    head[4] = flags
    head.writeUInt32BE(stream, 5)
    return Buffer.concat([head, payload])
  }
  const fields = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'a.test'],
  ]
  const block = fields.map(([name, value]) =>
    Buffer.concat([
      Buffer.from([0, name!.length]),
      Buffer.from(name!),
      Buffer.from([value!.length]),
      Buffer.from(value!),
    ]),
  )
  const socket = openSocket(port)
  socket.resume()
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  socket.write(frame(4, 0, 0, Buffer.alloc(0)))
  socket.write(frame(1, 4, 1, Buffer.concat(block)))
  socket.write(frame(0, 0, 1, Buffer.alloc(1000, 'a')))
  return { socket, reset: (code = 8) => void socket.write(frame(3, 0, 1, Buffer.from([0, 0, 0, code]))) }
}

describe('an upload over h2 that its client cuts', () => {
  it.each([8, 0])('with RST_STREAM(%i) while it is paused: ends at once', async code => {
    let begun = false
    const up = await rawOrigin(socket => socket.pause())
    const { filter, outcomes } = watch()
    const { port } = await edge(
      pipeline()
        .use(filter)
        .use({
          name: 'never',
          onRequestBody: () => {
            begun = true
            return new Promise(() => {})
          },
        })
        .handle(proxy(testUpstream(up.url))),
      'h2c',
    )
    const { reset } = await upload2(port)
    await until('the first chunk', () => begun)
    reset(code)
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]).toMatchObject({ status: 499, error: { code: 'client-closed' } })
  })

  it.each(['reset', 'closed', 'aborted'] as const)('%s: never looks whole to the upstream', async end => {
    const up = await rawOrigin(() => {})
    const { filter, outcomes } = watch()
    const { port } = await edge(
      pipeline()
        .use(filter)
        .handle(proxy(testUpstream(up.url))),
      'h2c',
    )
    const { socket, reset } = await upload2(port)
    await until('the upload', () => up.received().includes('aaa'))
    if (end === 'reset') reset()
    else if (end === 'closed') socket.end()
    else socket.resetAndDestroy()
    await until('the upstream to be cut', () => up.closed() === 1)
    expect(up.received()).not.toContain('\r\n0\r\n\r\n')
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]).toMatchObject({ status: 499, error: { code: 'client-closed' } })
  })
})

describe('a held body whose client leaves', () => {
  let held = 0
  const holding = (outcomes: Filter) => {
    held = 0
    return pipeline()
      .use(outcomes)
      .use({ name: 'hold', holdBody: () => 1 << 20, onRequestBody: () => void held++ })
      .handle(() => reply(200))
  }

  it('over h2: the process lives, and the exchange ends once', async () => {
    const { outcomes, filter } = watch()
    const { url, port } = await edge(holding(filter), 'h2c')
    for (const end of ['reset', 'closed'] as const) {
      const before = outcomes.length
      const seen = held
      const { socket, reset } = await upload2(port)
      await until('the first chunk', () => held > seen)
      if (end === 'reset') reset()
      else socket.destroy()
      await until('the outcome', () => outcomes.length === before + 1)
      expect(outcomes[before]).toMatchObject({ status: 499, error: { code: 'client-closed' } })
    }
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(outcomes).toHaveLength(2)
    expect((await request2(session2(url), { ':path': '/' })).status).toBe(200)
  })

  it('over h1', async () => {
    const { outcomes, filter } = watch()
    const { port } = await edge(holding(filter))
    const socket = openSocket(port)
    socket.write('POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000\r\n\r\nhalf')
    await until('the first chunk', () => held > 0)
    socket.destroy()
    await until('the outcome', () => outcomes.length === 1)
    expect((await get1(port, '/')).status).toBe(200)
    expect(outcomes.map(one => one.status)).toEqual([499, 200])
  })
})

describe('trailers over h2', () => {
  it('that are fields of a connection are left out, and the reply is whole', async () => {
    const up = await scripted(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nConnection: close\r\nTE: x\r\nKeep-Alive: 1\r\nX-Sum: 1\r\n\r\n',
    )
    const { filter, outcomes } = watch()
    const { url } = await edge(
      pipeline()
        .use(filter)
        .handle(proxy(testUpstream(up.url))),
      'h2c',
    )
    const stream = session2(url).request({ ':path': '/', ':authority': 'a.test' })
    stream.resume()
    const trailers = await new Promise<Record<string, unknown>>(resolve => stream.once('trailers', resolve))
    expect(Object.keys(trailers)).toEqual(['x-sum'])
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toBeNull()
  })

  it('that node:http2 refuses end in a reset, and in the log', async () => {
    const { filter, outcomes } = watch()
    const { HeaderList } = await import('../src/index.ts')
    const app = pipeline()
      .use(filter)
      .handle(() => ({
        status: 200,
        headers: new HeaderList(),
        body: {
          length: null,
          start(sink) {
            sink.write(Buffer.from('ok'))
            // A program that writes raw fields; the list takes them unchecked.
            sink.end(new HeaderList([':status', '200']))
            return { pause() {}, resume() {}, cancel() {} }
          },
        },
      }))
    const { url } = await edge(app, 'h2c')
    const answer = await request2(session2(url), { ':path': '/' })
    expect([answer.status, answer.code]).toEqual([200, 2])
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ code: 'bad-reply' })
  })
})

it('sockets of refused CONNECT requests are closed', async () => {
  const { port, server } = await edge(pipeline().handle(() => reply(200)))
  for (let i = 0; i < 20; i++) {
    const answer = await exchangeBytes(port, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\nmore', 2000)
    expect([answer.text.slice(9, 12), answer.closed]).toEqual(['405', true])
  }
  await until('all to be gone', () => (server as unknown as { _connections: number })._connections === 0)
})

describe('a filter that goes on after its client left', () => {
  it('frees the place in concurrencyLimit, and calls no upstream', async () => {
    const up = await origin()
    const { filter, outcomes } = watch()
    let entered = 0
    const go: (() => void)[] = []
    const { port } = await edge(
      pipeline()
        .use(filter)
        .use({
          name: 'slow',
          onRequest: () => {
            entered++
            return entered > 3 ? undefined : new Promise(resolve => go.push(() => resolve(undefined)))
          },
        })
        .use(concurrencyLimit({ total: 1 }))
        .handle(proxy(testUpstream(up.url))),
    )
    const sockets = [openSocket(port), openSocket(port), openSocket(port)]
    for (const socket of sockets) socket.write('GET /gone HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await until('all to be inside', () => go.length === 3)
    for (const socket of sockets) socket.destroy()
    await until('all to end', () => outcomes.length === 3)
    for (const next of go) next()
    await new Promise(resolve => setTimeout(resolve, 50))
    expect((await get1(port, '/')).status).toBe(200)
    expect(up.seen.map(one => one.target)).toEqual(['/'])
    expect(outcomes).toHaveLength(4)
  })
})

describe('one end for each exchange', () => {
  const endings: [string, (socket: Socket) => void][] = [
    ['an upstream that resets in the middle', socket => void setTimeout(() => socket.resetAndDestroy(), 20)],
    ['an upstream that ends in the middle', socket => void socket.end()],
    ['a client that leaves', () => {}],
  ]
  it.each(endings)('%s, with a held and a streamed upload', async (what, act) => {
    for (const hold of [0, 100]) {
      const ended: Outcome[] = []
      let started = false
      const up = await rawOrigin(socket =>
        socket.once('data', () => {
          started = true
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
          act(socket)
        }),
      )
      const { port } = await edge(
        pipeline()
          .use({
            name: 'watch',
            holdBody: () => hold,
            onRequestBody: () => undefined,
            onDone: (_cx, outcome) => void ended.push(outcome),
          })
          .handle(proxy(testUpstream(up.url))),
      )
      const socket = openSocket(port)
      socket.write(`POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000\r\n\r\n${'a'.repeat(200)}`)
      await until('the upstream', () => started)
      await new Promise(resolve => setTimeout(resolve, 20))
      if (what.startsWith('a client')) socket.destroy()
      await until('the end', () => ended.length === 1)
      await new Promise(resolve => setTimeout(resolve, 50))
      expect(ended).toHaveLength(1)
      expect(ended[0]!.error).not.toBeNull()
      await until('the upstream connection to close', () => up.closed() === 1)
    }
  })
})
