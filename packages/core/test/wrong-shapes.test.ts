/** Whatever a handler or hook gives back, a client gets an answer, the log hears of it, and the process lives on. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type App,
  type Filter,
  HeaderList,
  type Outcome,
  ProxyError,
  pipeline,
  reply,
  type Sink,
  type Source,
} from '../src/index.ts'
import { bytesSource } from '../src/testing/source.ts'
import { get1, raw1, request2, session2 } from './support/clients.ts'
import { edge, until } from './support/servers.ts'

const boom = (): never => {
  throw new Error('bug')
}
const headers = (): HeaderList => new HeaderList()
type AnySink = { write(anything: unknown): boolean }
const idle = { pause() {}, resume() {}, cancel() {} }
// biome-ignore lint/suspicious/noThenProperty: that is what is tested.
const thenable = (value: unknown) => ({ then: (done: (value: unknown) => void) => done(value) })
// biome-ignore lint/suspicious/noThenProperty: see above.
const rejecting = { then: (_: unknown, failed: (error: Error) => void) => failed(new Error('bug')) }

/** What is no reply. */
const WRONG: [string, unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['a string', 'hello'],
  ['a number', 200],
  ['true', true],
  ['an array', []],
  ['an empty object', {}],
  ['a function', () => reply(200)],
  ['a reply with a string body', { status: 200, headers: headers(), body: 'hello' }],
  ['a reply without a body', { status: 200, headers: headers() }],
  ['a reply with a body of another kind', { status: 200, headers: headers(), body: {} }],
  ['a reply with a source that cannot start', { status: 200, headers: headers(), body: { start: 1 } }],
  ['a reply with plain headers', { status: 200, headers: { a: 'b' }, body: null }],
  ['a reply without headers', { status: 200, body: null }],
  ['a reply without a status', { headers: headers(), body: null }],
  ['a reply with a status in words', { status: '200', headers: headers(), body: null }],
  ['a reply with an interim status', { status: 103, headers: headers(), body: null }],
  ['a reply with a status beyond all', { status: 1000, headers: headers(), body: null }],
  ['a reply with another error', { status: 500, headers: headers(), body: null, error: new Error('x') }],
  ['a thenable that rejects', rejecting],
  ['a thenable of nothing', thenable(undefined)],
  ['a thenable of a string', thenable('hello')],
]

/** Hooks that break their contract, each answered with 500. */
const HOOKS: [string, Partial<Filter>][] = [
  ['onRequest gives null', { onRequest: () => null }],
  ['onRequest gives false', { onRequest: () => false }],
  ['onRequest gives a string later', { onRequest: async () => 'no' }],
  ['onRequest gives a thenable that rejects', { onRequest: () => rejecting }],
  ['onReply gives null', { onReply: () => null }],
  ['onReply gives a string later', { onReply: async () => 'no' }],
  ['onReply leaves a status in words', { onReply: (_, head) => void ((head.status as unknown) = 'ok') }],
  ['onReply takes the headers away', { onReply: (_, head) => void ((head.headers as unknown) = null) }],
  ['replyBody gives a promise', { replyBody: async () => undefined }],
  ['replyBody gives no transform', { replyBody: () => ({ chunk() {} }) }],
  ['onRequestBody gives null', { onRequestBody: () => null }],
  ['onRequestBody gives a string later', { onRequestBody: async () => 'no' }],
  ['holdBody gives no number', { onRequestBody: () => undefined, holdBody: () => 'all' }],
] as [string, Partial<Filter>][]

type Ask = (method: 'GET' | 'POST') => Promise<{ status: number; whole: boolean }>

/** The same question to one app over all transports, and what `onDone` heard of each. */
async function everywhere(app: App): Promise<[string, Ask][]> {
  const plain = await edge(app)
  const session = session2((await edge(app, 'h2c')).url)
  const body = 'some bytes'
  return [
    [
      'inject',
      async method => {
        const options =
          method === 'POST' ? { method, body: [Buffer.from('some'), Buffer.from(' bytes')] } : {}
        const answer = await app.inject(options).catch(() => null)
        return { status: answer?.status ?? 0, whole: answer !== null }
      },
    ],
    [
      'h1',
      async method => {
        const start = `${method} / HTTP/1.1\r\nHost: edge.test\r\nConnection: close\r\n`
        const text = method === 'GET' ? `${start}\r\n` : `${start}Content-Length: 10\r\n\r\n${body}`
        const { status, reset, head, body: got } = await raw1(plain.port, text)
        const cut = /^transfer-encoding: chunked/im.test(head) && !got.endsWith('0\r\n\r\n')
        return { status, whole: !reset && !cut }
      },
    ],
    [
      'h2',
      async method => {
        const { status, code } = await request2(
          session,
          { ':method': method },
          method === 'POST' ? body : undefined,
        )
        return { status, whole: code === 0 }
      },
    ],
  ]
}

async function answersWith500(app: App, outcomes: Outcome[], method: 'GET' | 'POST'): Promise<void> {
  for (const [transport, ask] of await everywhere(app)) {
    outcomes.length = 0
    expect(await ask(method), transport).toEqual({ status: 500, whole: true })
    await until('onDone', () => outcomes.length > 0)
    expect(outcomes, transport).toMatchObject([{ status: 500, error: { code: 'internal', source: 'proxy' } }])
    expect(outcomes[0]!.error, transport).toBeInstanceOf(ProxyError)
    expect(outcomes[0]!.error!.cause, transport).toBeInstanceOf(Error)
  }
}

function watch(outcomes: Outcome[]): Filter {
  return { name: 'watch', onDone: (_, outcome) => void outcomes.push(outcome) }
}

/** The same, without a hook that looks at replies. */
const quiet: Filter = { name: 'quiet', onReply: () => undefined }

describe('a handler that gives', () => {
  it.each(WRONG)('%s: 500', async (_, value) => {
    const outcomes: Outcome[] = []
    await answersWith500(
      pipeline()
        .use(watch(outcomes))
        .handle((() => value) as never),
      outcomes,
      'GET',
    )
  })

  it.each(WRONG)('%s, later and past a reply hook: 500', async (_, value) => {
    const outcomes: Outcome[] = []
    const app = pipeline().use(watch(outcomes)).use(quiet)
    await answersWith500(app.handle((async () => value) as never), outcomes, 'GET')
  })

  it.each(WRONG)('%s to a filterless pipeline: 500', async (_, value) => {
    const { outcome, status } = await pipeline()
      .handle((async () => value) as never)
      .inject()
    expect([status, outcome.error?.code]).toEqual([500, 'internal'])
  })

  it('a thenable of a reply is waited for', async () => {
    const app = pipeline().handle((() => thenable(reply(200, 'waited'))) as never)
    for (const [, ask] of await everywhere(app))
      expect(await ask('GET')).toEqual({ status: 200, whole: true })
  })
})

describe('a hook where', () => {
  it.each(HOOKS)('%s: 500', async (_, hooks) => {
    const outcomes: Outcome[] = []
    const app = pipeline()
      .use(watch(outcomes))
      .use({ name: 'bad', ...hooks } as Filter)
    const whole = app.handle(async cx => {
      if (cx.body) await readAll(cx.body)
      return reply(200, 'ok')
    })
    await answersWith500(whole, outcomes, 'POST')
  })

  it.each([
    ['throws', boom],
    ['gives nothing', () => undefined],
    ['gives a string', () => 'state'],
  ])(
    'state() %s from the first request on: 500, and onDone has the state of the others',
    async (_, broken) => {
      let built = false
      const outcomes: Outcome[] = []
      const seen: unknown[] = []
      const app = pipeline()
        .use({ name: 'fine', state: () => ({ fine: 1 }), onDone: cx => void seen.push(cx.state.fine) })
        .use({ name: 'bad', state: () => (built ? (broken() as never) : { bad: 1 }) })
        .use(watch(outcomes))
        .handle(() => reply(200))
      built = true
      await answersWith500(app, outcomes, 'GET')
      expect(seen).toEqual([1, 1, 1])
    },
  )

  it.each([
    ['throws', boom],
    ['gives null', () => null],
  ])('state() %s when the app is built: a fault of the configuration', (_, state) => {
    const app = pipeline().use({ name: 'bad', state } as never)
    expect(() => app.handle(() => reply(200))).toThrow(/^filter bad: state\(\)/)
  })

  it.each([
    ['throws', boom],
    ['rejects', async () => boom()],
    ['gives a thenable that rejects', () => rejecting],
  ])('onDone %s: the answer stands, and one warning tells of all of them', async (kind, onDone) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const app = pipeline()
      .use({ name: `late ${kind}`, onDone } as Filter)
      .handle(() => reply(200, 'ok'))
    for (const [, ask] of await everywhere(app))
      expect(await ask('GET')).toEqual({ status: 200, whole: true })
    await until('the warning', () => warn.mock.calls.length > 0)
    await new Promise(setImmediate)
    expect(warn.mock.calls).toHaveLength(1)
    expect(warn.mock.calls[0]![0]).toBe(`filter 'late ${kind}' (onDone) failed: Error: bug`)
  })
})

describe('a source of a reply', () => {
  const source = (start: unknown) => () => ({
    status: 200,
    headers: headers(),
    body: { length: null, start },
  })

  it.each([
    ['throws in start', source(boom)],
    ['gives no flow', source(() => undefined)],
    ['writes a string', source((sink: AnySink) => sink.write('text') || idle)],
    [
      'throws in cancel after it wrote a number',
      source((sink: AnySink) => sink.write(1) || { ...idle, cancel: boom }),
    ],
  ] as [string, () => never][])(
    'that %s ends in a broken reply, never in a whole one',
    async (_, handler) => {
      const outcomes: Outcome[] = []
      const app = pipeline().use(watch(outcomes)).handle(handler)
      for (const [transport, ask] of await everywhere(app)) {
        outcomes.length = 0
        expect((await ask('GET')).whole, transport).toBe(false)
        await until('onDone', () => outcomes.length > 0)
        expect(outcomes, transport).toMatchObject([{ error: { code: 'internal', phase: 'reply-body' } }])
      }
    },
  )

  it('that goes on after its end changes nothing', async () => {
    const app = pipeline().handle(() => ({
      status: 200,
      headers: headers(),
      body: {
        length: null,
        start(sink) {
          setTimeout(() => {
            sink.write(Buffer.from('all'))
            sink.end()
            sink.end()
            sink.write(Buffer.from('more'))
            sink.fail(new ProxyError({ source: 'proxy', phase: 'reply-body', code: 'internal' }))
          })
          return { pause: boom, resume: boom, cancel: boom }
        },
      },
    }))
    const { port } = await edge(app)
    expect((await get1(port, '/')).body).toContain('all')
    expect((await get1(port, '/')).body).not.toContain('more')
    const { status, body, code } = await request2(session2((await edge(app, 'h2c')).url), {})
    expect([status, body, code]).toEqual([200, 'all', 0])
  })

  it('whose flow throws when the client leaves harms nobody else', async () => {
    const outcomes: Outcome[] = []
    const app = pipeline()
      .use(watch(outcomes))
      .handle(() => ({
        status: 200,
        headers: headers(),
        body: {
          length: null,
          start(sink) {
            sink.write(Buffer.from('x'))
            return { pause: boom, resume: boom, cancel: boom }
          },
        },
      }))
    const session = session2((await edge(app, 'h2c')).url)
    const stream = session.request({ ':path': '/', ':authority': 'edge.test' })
    stream.on('error', () => {})
    stream.on('data', () => stream.close(8))
    await until('onDone', () => outcomes.length > 0)
    expect(outcomes[0]!.error?.code).toBe('client-closed')
    expect((await request2(session, { ':method': 'HEAD' })).status).toBe(200)
  })

  it('behind a transform that gives promises is broken, whatever they come to', async () => {
    for (const edit of [{ chunk: async () => boom() }, { chunk() {}, end: async () => {} }]) {
      const app = pipeline()
        .use({ name: 'async', replyBody: () => ({ end() {}, ...edit }) })
        .handle(() => ({ status: 200, headers: headers(), body: bytesSource('a', 'b') }))
      for (const [transport, ask] of await everywhere(app))
        expect((await ask('GET')).whole, transport).toBe(false)
    }
  })
})

describe('a reader of the request', () => {
  it.each([
    ['throws in write', { write: boom }],
    ['throws in end', { end: boom }],
    ['throws in everything', { write: boom, end: boom, fail: boom }],
  ] as [string, Partial<Sink>][])('that %s breaks the body, and nothing else', async (_, edit) => {
    const failed: unknown[] = []
    const app = pipeline().handle(cx => {
      if (cx.body === null) return reply(200)
      return new Promise(resolve => {
        const fail = (error: unknown) => {
          failed.push(error)
          resolve(reply(500, 'broken'))
        }
        cx.body!.start({ write: () => true, end() {}, fail, ...edit })
        if (edit.fail) setTimeout(() => resolve(reply(500, 'broken')), 20)
      })
    })
    for (const [transport, ask] of await everywhere(app)) {
      expect((await ask('POST')).status, transport).toBe(500)
      expect((await ask('GET')).status, transport).toBe(200)
    }
  })

  it('that starts it twice gets a 500', async () => {
    const outcomes: Outcome[] = []
    const app = pipeline().use(watch(outcomes))
    const twice = app.handle(async cx => {
      await readAll(cx.body!)
      await readAll(cx.body!)
      return reply(200)
    })
    await answersWith500(twice, outcomes, 'POST')
  })
})

function readAll(body: Source): Promise<void> {
  return new Promise((resolve, reject) => {
    body.start({ write: () => true, end: () => resolve(), fail: reject })
  })
}
