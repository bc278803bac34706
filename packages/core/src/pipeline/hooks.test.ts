import { describe, expect, test, vi } from 'vitest'
import {
  type BodyTransform,
  type Filter,
  HeaderList,
  type Outcome,
  ProxyError,
  pipeline,
  type Reply,
  reply,
  type Source,
} from '../index.ts'
import { testHead } from '../testing/context.ts'
import { readSource } from '../testing/source.ts'

const ok = () => reply(200, 'ok')
const link = { draining: false, bytesReceived: 0, inform() {} }
const BUG = /^500 internal\n$/

/** A source that tells when it is cancelled. */
function watched(): { source: Source; cancels: ProxyError[] } {
  const cancels: ProxyError[] = []
  const flow = { pause() {}, resume() {}, cancel: (error: ProxyError) => void cancels.push(error) }
  return { source: { length: null, start: () => flow }, cancels }
}

describe('order', () => {
  const log: string[] = []
  const noisy = (name: string): Filter => ({
    name,
    onRequest: () => void log.push(`${name} request`) as undefined,
    onReply: () => void log.push(`${name} reply`) as undefined,
    onDone: () => void log.push(`${name} done`),
  })

  test('request hooks run forwards, reply hooks backwards, done forwards', async () => {
    log.length = 0
    await pipeline()
      .use(noisy('a'))
      .use(noisy('b'))
      .handle(() => {
        log.push('handler')
        return reply(200)
      })
      .inject()
    expect(log).toEqual(['a request', 'b request', 'handler', 'b reply', 'a reply', 'a done', 'b done'])
  })

  test('of what stands behind an early answer only done is run', async () => {
    log.length = 0
    const gate: Filter = { ...noisy('gate'), onRequest: () => reply(403, 'no') }
    const app = pipeline().use(noisy('a')).use(gate).use(noisy('b')).handle(ok)
    const { status, outcome } = await app.inject()
    expect([status, outcome.filter]).toEqual([403, 'gate'])
    expect(log).toEqual(['a request', 'gate reply', 'a reply', 'a done', 'gate done', 'b done'])
  })

  test('a bundle stands for its parts, and a class keeps its this', async () => {
    class Counting implements Filter {
      readonly name = 'counting'
      count = 0
      readonly onRequest = function count(this: Counting): undefined {
        this.count++
      }
    }
    const counting = new Counting()
    const inner = { name: 'inner', parts: [counting as Filter, noisy('x')] }
    log.length = 0
    await pipeline()
      .use({ name: 'outer', parts: [noisy('w'), inner] })
      .handle(ok)
      .inject()
    expect(log).toEqual(['w request', 'x request', 'x reply', 'w reply', 'w done', 'x done'])
    expect(counting.count).toBe(1)
  })

  test('wrappers: the first is the outermost, and they are applied once', async () => {
    const seen: string[] = []
    const wrap = (name: string) => (inner: () => Reply | Promise<Reply>) => {
      seen.push(`made ${name}`)
      return async () => {
        seen.push(`in ${name}`)
        const answer = await inner()
        seen.push(`out ${name}`)
        return answer
      }
    }
    const app = pipeline()
      .wrap(wrap('a') as never)
      .wrap(wrap('b') as never)
      .handle(ok)
    await app.inject()
    await app.inject()
    const round = ['in a', 'in b', 'out b', 'out a']
    expect(seen).toEqual(['made b', 'made a', ...round, ...round])
  })
})

describe('a throw', () => {
  const boom = (): never => {
    throw new Error('bug')
  }
  const reject = async (): Promise<never> => boom()
  const transform =
    (edit: Partial<BodyTransform>): Filter['replyBody'] =>
    () => ({
      chunk: (bytes, out) => void out.write(bytes),
      end: out => out.end(),
      ...edit,
    })

  test.each([
    ['onRequest', { onRequest: boom }],
    ['onRequest, later', { onRequest: reject }],
    ['holdBody', { holdBody: boom, onRequestBody: () => undefined }],
    ['onRequestBody', { onRequestBody: boom }],
    ['onRequestBody, later', { onRequestBody: reject }],
    ['onRequestBody while held', { onRequestBody: boom, holdBody: () => 10 }],
    ['onRequestBody while held, later', { onRequestBody: reject, holdBody: () => 10 }],
    ['onReply', { onReply: boom }],
    ['onReply, later', { onReply: reject }],
    ['replyBody', { replyBody: boom }],
  ] as [string, Partial<Filter>][])('in %s is a 500, and done is told once', async (_, hooks) => {
    const ends: Outcome[] = []
    const app = pipeline()
      .use({ name: 'watch', onDone: (_cx, outcome) => void ends.push(outcome) })
      .use({ name: 'bad', ...hooks })
      .handle(async cx => reply(200, (await readSource(cx.body!)).bytes))
    const { status, outcome, text } = await app.inject({ body: [Buffer.from('a'), Buffer.from('b')] })
    expect([status, outcome.error?.code]).toEqual([500, 'internal'])
    expect(text()).toMatch(BUG)
    expect(ends).toEqual([outcome])
  })

  test.each([
    ['chunk', { chunk: boom }],
    ['end', { end: boom }],
  ])("in a transform's %s breaks the body", async (_, edit) => {
    const done = vi.fn()
    const app = pipeline()
      .use({ name: 'bad', replyBody: transform(edit)!, onDone: done })
      .handle(ok)
    await expect(app.inject()).rejects.toMatchObject({ code: 'internal', phase: 'reply-body' })
    expect(done).toHaveBeenCalledTimes(1)
  })

  test.each([
    ['at once', boom],
    ['later', reject],
  ])('of the handler, %s, is a 500 that tells nothing', async (_, handler) => {
    const app = pipeline()
      .use({ name: 'watch', onDone: () => {} })
      .handle(handler)
    const { status, outcome, text } = await app.inject()
    expect([status, outcome.error]).toMatchObject([500, { code: 'internal', cause: { message: 'bug' } }])
    expect(text()).toMatch(BUG)
  })

  test('of a ProxyError has its own status', async () => {
    const error = new ProxyError({ source: 'upstream', phase: 'connect', code: 'connect-refused' })
    const app = pipeline().handle(() => {
      throw error
    })
    const { status, outcome } = await app.inject()
    expect([status, outcome.error]).toEqual([502, error])
  })

  test('in onDone is a warning, and the next filter still hears', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const done = vi.fn()
    const app = pipeline().use({ name: 'bad', onDone: boom }).use({ name: 'good', onDone: done }).handle(ok)
    expect((await app.inject()).status).toBe(200)
    expect(done).toHaveBeenCalledTimes(1)
    expect(warn).toHaveBeenCalledTimes(1)
    warn.mockRestore()
  })
})

describe('replies', () => {
  const answers = (status: number, body: Reply['body']): Reply => ({
    status,
    headers: new HeaderList(),
    body,
  })

  test.each([
    ['replaced', { onReply: () => reply(418) }, 418],
    ['replaced later', { onReply: async () => reply(418) }, 418],
    [
      'lost to a throw',
      {
        onReply: () => {
          throw new Error('bug')
        },
      },
      500,
    ],
    [
      'lost to a later throw',
      {
        onReply: async () => {
          throw new Error('bug')
        },
      },
      500,
    ],
    [
      'lost to a throw of replyBody',
      {
        replyBody: () => {
          throw new Error('bug')
        },
      },
      500,
    ],
  ] as [string, Partial<Filter>, number][])('that are %s cancel their source', async (_, hooks, status) => {
    const { source, cancels } = watched()
    const app = pipeline()
      .use({ name: 'other', ...hooks })
      .handle(() => answers(200, source))
    expect((await app.inject()).status).toBe(status)
    expect(cancels).toHaveLength(1)
  })

  test('a hook that returns the same reply keeps it', async () => {
    const app = pipeline()
      .use({
        name: 'same',
        onReply: (_, head) => {
          head.status = 201
          return head as Reply
        },
      })
      .handle(ok)
    const { status, outcome, text } = await app.inject()
    expect([status, text(), outcome.filter]).toEqual([201, 'ok', 'same'])
  })

  test('transforms see the body backwards, and Content-Length goes with the first', async () => {
    const mark = (name: string): Filter => ({
      name,
      replyBody: () => ({
        chunk: (bytes, out) => void out.write(Buffer.concat([Buffer.from(`<${name}>`), bytes])),
        end: (out, trailers) => {
          out.write(Buffer.from(`</${name}>`))
          out.end(trailers)
        },
      }),
    })
    const app = pipeline()
      .use(mark('a'))
      .use({ name: 'none', replyBody: () => undefined })
      .use(mark('b'))
      .handle(ok)
    const { headers, text } = await app.inject()
    expect(text()).toBe('<a><b>ok<a></b></a>')
    expect(headers.has('content-length')).toBe(false)
    const plain = await pipeline()
      .use({ name: 'none', replyBody: () => undefined })
      .handle(ok)
      .inject()
    expect(plain.headers.get('content-length')).toBe('2')
  })

  test('a reply without a body has nothing to transform', async () => {
    const replyBody = vi.fn()
    await pipeline()
      .use({ name: 'a', replyBody })
      .handle(() => reply(204))
      .inject()
    expect(replyBody).not.toHaveBeenCalled()
  })

  test('interim responses go out in order', async () => {
    const app = pipeline().handle(cx => {
      cx.inform(103, HeaderList.from({ Link: '</a>' }))
      cx.inform(102, new HeaderList())
      return reply(200)
    })
    expect((await app.inject()).interim.map(one => one.status)).toEqual([103, 102])
  })
})

describe('an exchange', () => {
  const gone = new ProxyError({ source: 'client', phase: 'reply-head', code: 'client-closed' })

  test.each(['before', 'after'])(
    'that is aborted %s the signal was asked for has the error as its reason',
    when => {
      let signal: AbortSignal | undefined
      const app = pipeline().handle(cx => {
        if (when === 'after') signal = cx.signal
        else queueMicrotask(() => (signal = cx.signal))
        return new Promise(() => {})
      })
      const exchange = app.open(testHead(), null, link)
      void exchange.run()
      exchange.abort(gone)
      exchange.abort(new ProxyError({ source: 'client', phase: 'head', code: 'internal' }))
      return Promise.resolve().then(() => {
        expect(signal?.aborted).toBe(true)
        expect(signal?.reason).toBe(gone)
      })
    },
  )

  test('is done once, whoever says so again', async () => {
    const done = vi.fn()
    const app = pipeline().use({ name: 'a', onDone: done }).handle(ok)
    const exchange = app.open(testHead(), null, link)
    await exchange.run()
    exchange.done(200, 2, null)
    exchange.done(500, 0, gone)
    exchange.abort(gone)
    expect(done).toHaveBeenCalledTimes(1)
    expect(exchange.outcome).toMatchObject({
      status: 200,
      bytesSent: 2,
      error: null,
      filter: null,
      reason: null,
    })
  })

  test('with a fault runs no gate; reply hooks and done hear of it', async () => {
    const log: string[] = []
    const app = pipeline()
      .use({
        name: 'a',
        onRequest: () => reply(200),
        onReply: (_, head) => void log.push(`reply ${head.status}`) as undefined,
        onDone: (_, outcome) => void log.push(`done ${outcome.error?.code}`),
      })
      .handle(ok)
    const { status } = await app.inject({ path: '/a/..%2f' })
    expect(status).toBe(400)
    expect(log).toEqual(['reply 400', 'done ambiguous-path'])
  })

  test('has state of its own, made from every filter', async () => {
    const app = pipeline()
      .use({ name: 'a', state: () => ({ seen: [] as number[] }) })
      .use({ name: 'b', state: () => ({ count: 0 }) })
      .handle(cx => {
        cx.state.seen.push(cx.state.count++)
        return reply(200, JSON.stringify(cx.state))
      })
    for (let i = 0; i < 2; i++) expect((await app.inject()).json()).toEqual({ seen: [0], count: 1 })
  })
})
