/** What an exchange does when its client leaves, and when a body hook takes the answer over. */
import { describe, expect, test } from 'vitest'
import { holdSource } from '../body/hold.ts'
import {
  type Filter,
  HeaderList,
  ProxyError,
  pipeline,
  type Reply,
  reply,
  type Sink,
  type Source,
} from '../index.ts'
import { testHead } from '../testing/context.ts'
import { bytesSource, readSource } from '../testing/source.ts'

const link = { draining: false, bytesReceived: 0, inform() {} }
const gone = new ProxyError({ source: 'client', phase: 'reply-head', code: 'client-closed' })

function watched(): { reply: Reply; cancels: string[] } {
  const cancels: string[] = []
  const flow = { pause() {}, resume() {}, cancel: (error: ProxyError) => void cancels.push(error.code) }
  return {
    reply: { status: 200, headers: new HeaderList(), body: { length: null, start: () => flow } },
    cancels,
  }
}

/** A promise that the test settles. */
function gate<T>(): { promise: Promise<T>; open: (value: T) => void; shut: (error: Error) => void } {
  let open!: (value: T) => void
  let shut!: (error: Error) => void
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve
    shut = reject
  })
  return { promise, open, shut }
}

describe('a client that left', () => {
  /** Runs to where `hooks` or the handler wait, lets the client leave, and settles. Tells what still ran. */
  async function leave(
    hooks: Partial<Filter>,
    settle: () => void,
    handler: () => Reply | Promise<Reply> = () => reply(200),
    body: Source | null = null,
  ): Promise<{ ran: string[]; answer: Reply }> {
    const ran: string[] = []
    const app = pipeline()
      .use({ name: 'outer', onReply: () => void ran.push('outer onReply') as undefined })
      .use({ name: 'waits', ...hooks })
      .use({
        name: 'next',
        onRequest: () => void ran.push('next onRequest') as undefined,
        onDone: () => void ran.push('done'),
      })
      .handle(() => {
        ran.push('handler')
        return handler()
      })
    const exchange = app.open(testHead({ method: 'POST' }), body, link)
    const running = exchange.run()
    await new Promise(setImmediate)
    ran.length = 0
    exchange.abort(gone)
    settle()
    const answer = await running
    exchange.done(499, 0, gone)
    return { ran, answer }
  }

  test('without a word: done ends it too, and the outcome stays as it was', async () => {
    const { promise, open } = gate<undefined>()
    const { reply: late, cancels } = watched()
    const ran: string[] = []
    const app = pipeline()
      .use({ name: 'outer', onReply: () => void ran.push('outer') as undefined })
      .use({ name: 'waits', onReply: () => promise })
      .handle(() => late)
    const exchange = app.open(testHead(), null, link)
    const running = exchange.run()
    exchange.done(499, 0, gone)
    open(undefined)
    const answer = await running
    expect([ran, answer.error?.code, cancels]).toEqual([[], 'client-closed', ['internal']])
    expect(exchange.outcome).toMatchObject({ status: 499, error: gone })
  })

  test.each(['open', 'shut'] as const)('while onRequest waited (%s): no hook, no handler', async how => {
    const { promise, open, shut } = gate<undefined>()
    const settle = () => (how === 'open' ? open(undefined) : shut(new Error('bug')))
    const { ran, answer } = await leave({ onRequest: () => promise }, settle)
    expect([ran, answer.error]).toEqual([['done'], gone])
  })

  test.each(['open', 'shut'] as const)(
    'while the handler waited (%s): no reply hook, the source is told',
    async how => {
      const { promise, open, shut } = gate<Reply>()
      const { reply: late, cancels } = watched()
      const settle = () => (how === 'open' ? open(late) : shut(new Error('bug')))
      const { ran, answer } = await leave({}, settle, () => promise)
      expect([ran, answer.error, cancels]).toEqual([['done'], gone, how === 'open' ? ['internal'] : []])
    },
  )

  test.each(['kept', 'replaced', 'lost'])(
    'while onReply waited (%s): the next does not run, the source is told',
    async how => {
      const { promise, open, shut } = gate<Reply | undefined>()
      const { reply: late, cancels } = watched()
      const other = watched()
      const settle = () => {
        if (how === 'lost') shut(new Error('bug'))
        else open(how === 'kept' ? undefined : other.reply)
      }
      const { ran, answer } = await leave({ onReply: () => promise }, settle, () => late)
      expect([ran, answer.error, cancels]).toEqual([['done'], gone, ['internal']])
      expect(other.cancels).toEqual(how === 'replaced' ? ['internal'] : [])
    },
  )

  test('while the body was held: no handler', async () => {
    let inside: Sink | undefined
    const body: Source = {
      length: null,
      start(sink) {
        inside = sink
        return { pause() {}, resume() {}, cancel() {} }
      },
    }
    const hooks: Partial<Filter> = { onRequestBody: () => undefined, holdBody: () => 4 }
    const { ran, answer } = await leave(hooks, () => inside!.write(Buffer.from('enough')), undefined, body)
    expect([ran, answer.error]).toEqual([['done'], gone])
  })

  test('while onForward waited: the next forward hook does not run', async () => {
    const { promise, open } = gate<undefined>()
    const ran: string[] = []
    const app = pipeline()
      .use({ name: 'a', onForward: () => promise })
      .use({ name: 'b', onForward: () => void ran.push('b') })
      .handle(async cx => {
        await (cx as unknown as { forward(out: unknown): Promise<void> }).forward({})
        return reply(200)
      })
    const exchange = app.open(testHead(), null, link)
    const running = exchange.run()
    exchange.abort(gone)
    open(undefined)
    await running
    expect(ran).toEqual([])
  })
})

test('a body hook that answers takes over from the handler, whose source is told', async () => {
  const { reply: given, cancels } = watched()
  const app = pipeline()
    .use({ name: 'scan', onRequestBody: () => reply(403, 'no') })
    .handle(async cx => {
      await readSource(cx.body!).catch(() => {})
      return given
    })
  const { status, outcome } = await app.inject({ body: [Buffer.from('bad')] })
  expect([status, outcome.filter, cancels]).toEqual([403, 'scan', ['internal']])
})

test('the error of a reply that comes later is in the outcome, whatever filters there are', async () => {
  const error = new ProxyError({ source: 'upstream', phase: 'connect', code: 'connect-refused' })
  const failed: Reply = { status: 502, headers: new HeaderList(), body: null, error, reason: 'down' }
  for (const app of [pipeline(), pipeline().use({ name: 'a', onRequest: () => undefined })]) {
    const { outcome } = await app.handle(async () => failed).inject()
    expect([outcome.error, outcome.reason]).toEqual([error, 'down'])
  }
})

test('a held body that was cancelled passes nothing on', async () => {
  let inside: Sink | undefined
  const log: string[] = []
  const held = await holdSource(
    {
      length: null,
      start(sink) {
        inside = sink
        sink.write(Buffer.from('held'))
        return { pause() {}, resume() {}, cancel: () => void log.push('cancel') }
      },
    },
    2,
  )
  const flow = held.start({
    write: bytes => log.push(String(Buffer.from(bytes))) > 0,
    end: () => void log.push('end'),
    fail: () => void log.push('fail'),
  })
  flow.cancel(gone)
  expect(inside!.write(Buffer.from('more'))).toBe(false)
  inside!.end()
  inside!.fail(gone)
  flow.resume()
  flow.cancel(gone)
  expect(log).toEqual(['held', 'cancel'])
})

test('a held body that is cancelled while it is told again stops there', async () => {
  const log: string[] = []
  const held = await holdSource(bytesSource('a', 'b', 'c'), 3)
  held.start({
    write: bytes => {
      log.push(String(Buffer.from(bytes)))
      ;(held as unknown as { cancel(error: ProxyError): void }).cancel(gone)
      return true
    },
    end: () => void log.push('end'),
    fail: () => void log.push('fail'),
  })
  await new Promise(setImmediate)
  expect(log).toEqual(['a'])
})
