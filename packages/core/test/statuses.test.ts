/** A reply is what RFC 9110 lets it be, whatever a handler returns, and the same on every transport. */
import { describe, expect, it } from 'vitest'
import {
  type App,
  type Filter,
  type Flow,
  HeaderList,
  type Outcome,
  ProxyError,
  pipeline,
  proxy,
  type Reply,
  reply,
  type Sink,
} from '../src/index.ts'
import { exchangeBytes, openSocket, request2, session2 } from './support/clients.ts'
import { edge, proxyEdge, scripted, testUpstream, until } from './support/servers.ts'
import { connect2, HANDSHAKE } from './support/websocket.ts'

interface Answer {
  status: number
  length: string | undefined
  body: string
}

/** The same request over h1, h2 and in memory. */
async function everywhere(make: () => Reply): Promise<{ answers: Answer[]; outcomes: Outcome[] }> {
  const outcomes: Outcome[] = []
  const app: App = pipeline()
    .use({ name: 'watch', onDone: (_cx, outcome) => void outcomes.push(outcome) })
    .handle(make)
  const h1 = await edge(app)
  const get = 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n'
  // Twice on one connection: a body that is not announced would stand in front of the second answer.
  const { text } = await exchangeBytes(h1.port, get + get)
  const [first, second] = text.split(/(?=HTTP\/1\.1 )/)
  expect(second?.slice(0, 12)).toBe(first?.slice(0, 12))
  const cut = first!.indexOf('\r\n\r\n')
  const h2 = await edge(app, 'h2c')
  const over2 = await request2(session2(h2.url), { ':path': '/' })
  const injected = await app.inject()
  await until('all outcomes', () => outcomes.length === 4)
  return {
    outcomes,
    answers: [
      {
        status: Number(first!.slice(9, 12)),
        length: /content-length: (\d+)/i.exec(first!.slice(0, cut))?.[1],
        body: first!.slice(cut + 4),
      },
      {
        status: over2.status,
        length: over2.headers['content-length'] as string | undefined,
        body: over2.body,
      },
      { status: injected.status, length: injected.headers.get('content-length'), body: injected.text() },
    ],
  }
}

const made = (status: number, body: Reply['body'], raw: string[] = []): Reply => ({
  status,
  headers: new HeaderList(raw),
  body,
})

describe('statuses without content', () => {
  const bytes = Buffer.from('xx')
  it.each([
    ['reply(204, text)', () => reply(204, 'xx'), 204, undefined],
    ['204 by hand', () => made(204, bytes, ['Content-Length', '2']), 204, undefined],
    ['reply(205, text)', () => reply(205, 'xx'), 205, '0'],
    ['reply(205)', () => reply(205), 205, '0'],
    ['205 by hand', () => made(205, bytes, ['Content-Length', '2']), 205, '0'],
    ['reply(304, text)', () => reply(304, 'xx'), 304, undefined],
    ['304 with the length of the 200', () => made(304, null, ['Content-Length', '500']), 304, '500'],
    [
      '204 with a source',
      () =>
        made(204, {
          length: null,
          start: sink => {
            sink.write(Buffer.from('xx'))
            sink.end()
            return { pause() {}, resume() {}, cancel() {} }
          },
        }),
      204,
      undefined,
    ],
  ] as [string, () => Reply, number, string | undefined][])('%s', async (_what, make, status, length) => {
    const { answers, outcomes } = await everywhere(make)
    expect(answers).toEqual(new Array(3).fill({ status, length, body: '' }))
    expect(outcomes.map(one => one.error)).toEqual(new Array(4).fill(null))
  })

  it('a 205 of an upstream has no content either', async () => {
    const up = await scripted('HTTP/1.1 205 Reset Content\r\nContent-Length: 2\r\n\r\nxx')
    const { port } = await proxyEdge(up.url)
    const { text } = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    expect(text).toMatch(/^HTTP\/1\.1 205/)
    expect(text).toMatch(/content-length: 0\r\n/i)
    expect(text).toMatch(/\r\n\r\n$/)
  })
})

describe('statuses that are none', () => {
  it.each([
    0,
    42,
    99,
    100,
    101,
    103,
    199,
    600,
    999,
    1000,
    200.5,
    Number.NaN,
    -200,
    'abc' as never,
    undefined as never,
  ])('%s of a handler is 500, and logged', async status => {
    const { answers, outcomes } = await everywhere(() => made(status, Buffer.from('body')))
    const body = '500 internal\n'
    expect(answers).toEqual(new Array(3).fill({ status: 500, length: String(body.length), body }))
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 500, error: { source: 'proxy', code: 'internal' } })
    }
  })

  it.each(['http', 'h2c'] as const)('above 599 of an upstream is 502 (%s)', async kind => {
    const up = await scripted('HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok')
    const { port, url } = await proxyEdge(up.url, kind)
    const status =
      kind === 'http'
        ? Number((await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')).text.slice(9, 12))
        : (await request2(session2(url), { ':path': '/' })).status
    expect(status).toBe(502)
  })
})

describe('what is no reply at all', () => {
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a string', 'hello'],
    ['fields as an object', { status: 200, headers: { a: 'b' }, body: null }],
    ['a body of text', { status: 200, headers: new HeaderList(), body: 'text' }],
    ['no body', { status: 200, headers: new HeaderList() }],
  ])('%s is 500, and logged', async (_what, value) => {
    for (const late of [false, true]) {
      const { answers, outcomes } = await everywhere(() => (late ? Promise.resolve(value) : value) as never)
      for (const answer of answers) expect([answer.status, answer.body]).toEqual([500, '500 internal\n'])
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ status: 500, error: { source: 'proxy', code: 'internal' } })
      }
    }
  })
})

it.each(['http', 'h2c'] as const)(
  'a filter that cannot make its state is 500, and the process lives (%s)',
  async kind => {
    const outcomes: Outcome[] = []
    let calls = 0
    const app = pipeline()
      .use({
        name: 'broken',
        state: () => {
          // The first call is made when the app is built.
          if (++calls > 1) throw new RangeError('no state')
          return { made: 1 }
        },
        onDone: (_, outcome) => void outcomes.push(outcome),
      })
      .handle(() => reply(200))
    const { port, url } = await edge(app, kind)
    const status =
      kind === 'http'
        ? Number((await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')).text.slice(9, 12))
        : (await request2(session2(url), { ':path': '/' })).status
    expect(status).toBe(500)
    await until('the outcome', () => outcomes.length > 0)
    expect(outcomes[0]?.error).toMatchObject({ code: 'internal' })
  },
)

describe('hooks that return what they should not', () => {
  const junk = 'junk' as never
  const cases: [string, Partial<Filter>][] = [
    ['onRequest', { onRequest: () => junk }],
    ['onRequest, later', { onRequest: () => Promise.resolve(junk) }],
    ['onReply', { onReply: () => junk }],
    ['onRequestBody', { onRequestBody: () => junk }],
    ['replyBody', { replyBody: () => junk }],
    ['holdBody', { holdBody: () => junk, onRequestBody: () => undefined }],
    ['onForward', { onForward: () => junk }],
    ['onDone', { onDone: () => junk }],
  ]
  it.each(cases)('%s: an answer or a closed connection, and the process lives', async (_what, hooks) => {
    const up = await scripted('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    const app = pipeline()
      .use({ name: 'junk', ...hooks })
      .handle(proxy(testUpstream(up.url)))
    const post = 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello'
    for (const kind of ['http', 'h2c'] as const) {
      const { port, url } = await edge(app, kind)
      if (kind === 'http') {
        const { text, closed } = await exchangeBytes(port, post, 2000)
        expect([/^(?:HTTP\/1\.1 (?:200|500)|$)/.test(text), closed]).toEqual([true, true])
      } else {
        const answer = await request2(session2(url), { ':path': '/', ':method': 'POST' }, 'hello')
        expect([0, 200, 500]).toContain(answer.status)
      }
    }
  })
})

describe('sources that misbehave', () => {
  const quiet = { pause() {}, resume() {}, cancel() {} }
  const text = Buffer.from('ok')
  it.each([
    [
      'throws when it is started',
      (): never => {
        throw new RangeError('no bytes')
      },
    ],
    [
      'goes on after its end and its failure',
      (sink: Sink) => {
        sink.write(text)
        setTimeout(() => {
          sink.end()
          sink.write(text)
          sink.end()
          sink.fail(new ProxyError({ source: 'proxy', phase: 'reply-body', code: 'internal' }))
          sink.write(text)
        }, 10)
        return quiet
      },
    ],
    [
      'ignores that its reader has left',
      (sink: Sink) => {
        let left = 200
        const timer = setInterval(() => {
          if (--left < 0) {
            clearInterval(timer)
            sink.end()
          } else sink.write(Buffer.alloc(65_536))
        }, 1)
        return quiet
      },
    ],
    [
      'ends with trailers that are none',
      (sink: Sink) => {
        setTimeout(() => {
          sink.write(text)
          sink.end(new HeaderList(['X\r\nEvil: 1', 'a\r\n']))
        }, 10)
        return quiet
      },
    ],
  ] as [string, (sink: Sink) => Flow][])(
    'one that %s: the process lives, every exchange ends',
    async (what, start) => {
      const outcomes: Outcome[] = []
      for (const late of [false, true]) {
        const make = (): Reply => ({ status: 200, headers: new HeaderList(), body: { length: null, start } })
        const app = pipeline()
          .use({ name: 'watch', onDone: (_cx, outcome) => void outcomes.push(outcome) })
          .handle(() => (late ? Promise.resolve(make()) : make()))
        for (const kind of ['http', 'h2c'] as const) {
          const before = outcomes.length
          const { port, url } = await edge(app, kind)
          if (what.startsWith('ignores')) {
            if (kind === 'http') {
              const socket = openSocket(port)
              socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
              socket.once('data', () => socket.destroy())
            } else {
              const stream = session2(url).request({ ':path': '/', ':authority': 'a.test' })
              stream.on('error', () => {})
              stream.once('data', () => stream.destroy())
            }
            await until('the outcome', () => outcomes.length === before + 1)
            await new Promise(resolve => setTimeout(resolve, 400))
          } else if (kind === 'http') {
            const got = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n', 100)
            expect(got.text).not.toMatch(/evil/i)
          } else await request2(session2(url), { ':path': '/' })
          await until('the outcome', () => outcomes.length === before + 1)
          expect(outcomes).toHaveLength(before + 1)
          if (!what.startsWith('goes on')) expect(outcomes.at(-1)!.error).not.toBeNull()
        }
      }
    },
  )
})

it('one reply given again and again keeps no trace of a connection that had to close', async () => {
  const same = reply(200, 'same')
  const { port } = await edge(pipeline().handle(() => same))
  const upload = 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000000\r\n\r\n'
  expect((await exchangeBytes(port, upload)).text).toMatch(/connection: close/i)
  const { text } = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
  expect(text).toMatch(/connection: keep-alive/i)
  expect(same.headers.has('connection')).toBe(false)
})

describe('a body that is not as long as its head says', () => {
  const source = (...chunks: string[]): Reply['body'] => ({
    length: null,
    start(sink) {
      let cancelled = false
      const step = (): void => {
        const next = chunks.shift()
        if (cancelled) return
        if (next === undefined) return sink.end()
        sink.write(Buffer.from(next))
        setImmediate(step)
      }
      step()
      return {
        pause() {},
        resume() {},
        cancel() {
          cancelled = true
        },
      }
    },
  })

  it('known bytes: 500, everywhere', async () => {
    const { answers } = await everywhere(() => made(200, Buffer.from('four'), ['Content-Length', '100']))
    expect(answers.map(one => one.status)).toEqual([500, 500, 500])
  })

  it.each([
    ['too short', '10', ['abc']],
    ['too long', '4', ['abc', 'def', 'ghi']],
    ['too long in its first chunk', '2', ['abcdef']],
    ['of a length that is none', 'abc', ['abc']],
  ])('%s: cut, and nobody takes it for whole', async (_what, length, chunks) => {
    const outcomes: Outcome[] = []
    const app = pipeline()
      .use({ name: 'watch', onDone: (_cx, outcome) => void outcomes.push(outcome) })
      .handle(() => made(200, source(...chunks), ['Content-Length', length]))
    const h1 = await edge(app)
    const get = 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n'
    const { text, closed } = await exchangeBytes(h1.port, get + get, 2000)
    expect(closed).toBe(true)
    expect(text.match(/HTTP\/1\.1/g)?.length ?? 0).toBeLessThanOrEqual(1)
    const body = text.slice(text.indexOf('\r\n\r\n') + 4)
    expect(body.length).toBeLessThan(Number.isNaN(Number(length)) ? 1 : Number(length) + 1)
    const h2 = await edge(app, 'h2c')
    expect((await request2(session2(h2.url), { ':path': '/' })).code).not.toBe(0)
    await until('the outcomes', () => outcomes.some(one => one.error?.code === 'internal'))
  })

  it('HEAD has none, whatever its head says', async () => {
    const app = pipeline().handle(() => made(200, source('abc'), ['Content-Length', '100']))
    const { port } = await edge(app)
    const head = 'HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n'
    const { text } = await exchangeBytes(port, head + head)
    expect(text.match(/Content-Length: 100\r\n/g)).toHaveLength(2)
    expect(text).not.toContain('abc')
  })
})

describe('an upgrade that is answered with what it should not be', () => {
  it.each([
    ['nothing', () => undefined as never],
    ['nothing, later', () => Promise.resolve(undefined as never)],
    ['an exception', () => Promise.reject(new RangeError('no'))],
    ['101 without a tunnel', () => made(101, null)],
    ['a string', () => 'hello' as never],
  ])('%s: 500 and logged, the process lives', async (_what, handler) => {
    const outcomes: Outcome[] = []
    const app = pipeline()
      .use({ name: 'watch', onDone: (_cx, outcome) => void outcomes.push(outcome) })
      .handle(handler)
    const h1 = await edge(app)
    expect((await exchangeBytes(h1.port, HANDSHAKE())).text).toMatch(/^HTTP\/1\.1 500/)
    const h2 = await edge(app, 'h2c')
    expect((await connect2(session2(h2.url))).status).toBe(500)
    await until('the outcomes', () => outcomes.length === 2)
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 500, error: { code: 'internal' } })
  })
})
