import { describe, expect, test } from 'vitest'
import { ProxyError } from '../errors.ts'
import type { Reply, Sink, Source } from '../pipeline/contract.ts'
import { Exchange } from '../pipeline/exchange.ts'
import { makePlan } from '../pipeline/plan.ts'
import { testHead } from '../testing/context.ts'
import { Attempt } from './attempt.ts'
import { Deadlines } from './deadlines.ts'

const failure = new ProxyError({ source: 'upstream', phase: 'reply-body', code: 'upstream-reset' })
const gone = new ProxyError({ source: 'client', phase: 'reply-head', code: 'client-closed' })

/** An attempt, with what it tells the exchange, the call and the reader. */
function setUp(method = 'GET', deadlines: Deadlines | null = null) {
  const log: string[] = []
  const replies: Reply[] = []
  const link = {
    draining: false,
    bytesReceived: 0,
    inform: (status: number) => void log.push(`inform ${status}`),
  }
  const plan = makePlan('*', [], () => new Promise(() => {}))
  const exchange = new Exchange(plan, testHead({ method }), {}, null, link, null)
  const attempt = new Attempt(exchange, deadlines, reply => void replies.push(reply))
  attempt.call = {
    resume: () => void log.push('resume'),
    cancel: error => void log.push(`cancel ${error.code}`),
  }
  /** `takes` answers each chunk. */
  const sink = (...takes: boolean[]): Sink => ({
    write(bytes) {
      log.push(`write ${bytes.length < 9 ? Buffer.from(bytes) : bytes.length}`)
      return takes.shift() ?? true
    },
    end: trailers => void log.push(trailers ? `end ${[...trailers].join()}` : 'end'),
    fail: error => void log.push(`fail ${error.code}`),
  })
  return { log, replies, exchange, attempt, sink }
}

const bytes = (text: string): Uint8Array => Buffer.from(text)

describe('the head', () => {
  test.each([
    ['GET', 200, ['Content-Length', '5'], true, 5],
    ['GET', 200, [], true, null],
    ['HEAD', 200, ['Content-Length', '5'], false, null],
    ['GET', 204, [], false, null],
    ['GET', 304, ['Content-Length', '5'], false, null],
  ] as [string, number, string[], boolean, number | null][])(
    '%s, %i with %j',
    (method, status, fields, hasBody, length) => {
      const { replies, attempt } = setUp(method)
      attempt.onHead(status, [...fields])
      expect(replies).toHaveLength(1)
      const { body } = replies[0]!
      expect([replies[0]!.status, body !== null, attempt.length]).toEqual([status, hasBody, length])
      if (hasBody) expect(body as Source).toBe(attempt)
      expect(replies[0]!.headers.raw).toEqual(fields)
    },
  )

  test.each([
    [100, []],
    [101, []],
    [102, ['inform 102']],
    [103, ['inform 103']],
  ])('interim %i', (status, told) => {
    const { log, attempt } = setUp()
    attempt.onInterim(status, [])
    expect(log).toEqual(told)
  })
})

describe('the body', () => {
  test('that was whole before it is started leaves at once', () => {
    const { log, attempt, sink } = setUp()
    attempt.onHead(200, [])
    attempt.onData(bytes('a'))
    attempt.onData(bytes('b'))
    attempt.onEnd(['Sum', '1', 'Keep-Alive', 'x'])
    attempt.start(sink())
    expect(log).toEqual(['write a', 'write b', 'end Sum,1'])
  })

  test('that comes later is passed on as it comes', () => {
    const { log, attempt, sink } = setUp()
    attempt.onHead(200, [])
    attempt.start(sink(true, false))
    expect([attempt.onData(bytes('a')), attempt.onData(bytes('b'))]).toEqual([true, false])
    attempt.resume()
    attempt.onEnd([])
    expect(log).toEqual(['write a', 'write b', 'resume', 'end'])
  })

  test('is held to a bound, and the upstream resumed when all of it has gone', () => {
    const { log, attempt, sink } = setUp()
    attempt.onHead(200, [])
    expect(attempt.onData(new Uint8Array(65_535))).toBe(true)
    expect(attempt.onData(new Uint8Array(1000))).toBe(false)
    const flow = attempt.start(sink(false, false))
    expect(log).toEqual(['write 65535'])
    flow.resume()
    expect(log).toEqual(['write 65535', 'write 1000'])
    flow.resume()
    expect(log).toEqual(['write 65535', 'write 1000', 'resume'])
  })

  test('waits with its end for a reader that is full', () => {
    const { log, attempt, sink } = setUp()
    attempt.onHead(200, [])
    attempt.onData(bytes('a'))
    attempt.onEnd([])
    const flow = attempt.start(sink(false))
    expect(log).toEqual(['write a'])
    flow.resume()
    expect(log).toEqual(['write a', 'end'])
    flow.resume()
    expect(log.filter(entry => entry === 'end')).toHaveLength(1)
  })

  test('that breaks never ends', () => {
    const { log, attempt, sink } = setUp()
    attempt.onHead(200, [])
    attempt.start(sink())
    attempt.onData(bytes('a'))
    attempt.onError(failure)
    attempt.onError(failure)
    expect(log).toEqual(['write a', 'fail upstream-reset'])
  })

  test('that broke before it is started fails after what there was', () => {
    const { log, attempt, sink } = setUp()
    attempt.onHead(200, [])
    attempt.onData(bytes('a'))
    attempt.onError(failure)
    attempt.start(sink())
    expect(log).toEqual(['write a', 'fail upstream-reset'])
  })

  test('that nobody wants cancels the call', () => {
    const { log, attempt, sink } = setUp()
    attempt.onHead(200, [])
    attempt.onData(bytes('a'))
    attempt.start(sink(false)).cancel(gone)
    attempt.onError(failure)
    expect(log).toEqual(['write a', 'cancel client-closed'])
  })
})

describe('a failure before the head', () => {
  test('is the reply', () => {
    const { replies, attempt } = setUp()
    attempt.onError(failure)
    attempt.onError(failure)
    expect(replies.map(reply => [reply.status, reply.error])).toEqual([[502, failure]])
  })

  test('of the client cancels the call, and settles the reply', () => {
    const { log, replies, exchange } = setUp()
    exchange.abort(gone)
    expect(log).toEqual(['cancel client-closed'])
    expect(replies.map(reply => reply.error)).toEqual([gone])
  })

  test('of the client after the head is the reader’s affair', () => {
    const { log, exchange, attempt } = setUp()
    attempt.onHead(200, [])
    exchange.abort(gone)
    expect(log).toEqual([])
  })
})

describe('the total time', () => {
  const at = (setup: ReturnType<typeof setUp>) => setup.attempt.deadline.at

  test.each([
    [['Content-Length', '5'], true],
    [['Content-Length', '1048576'], true],
    [['Content-Length', '1048577'], false],
    [[], false],
    [['Content-Length', '5', 'Content-Type', 'text/event-stream'], false],
  ] as [string[], boolean][])('of a reply with %j counts on: %s', (fields, counts) => {
    const setup = setUp('GET', new Deadlines(1000))
    expect(at(setup)).toBeGreaterThan(0)
    setup.attempt.onHead(200, [...fields])
    expect(at(setup) > 0).toBe(counts)
    setup.attempt.onEnd([])
    expect(at(setup)).toBe(0)
  })

  test('is up before the head: 504', () => {
    const { log, replies, attempt } = setUp()
    attempt.onDeadline()
    expect(replies.map(reply => [reply.status, reply.error?.code, reply.error?.phase])).toEqual([
      [504, 'total-timeout', 'reply-head'],
    ])
    expect(log).toEqual(['cancel total-timeout'])
  })

  test('is up in the body: it breaks', () => {
    const { log, attempt, sink } = setUp()
    attempt.onHead(200, [])
    attempt.start(sink())
    attempt.onDeadline()
    expect(log).toEqual(['cancel total-timeout', 'fail total-timeout'])
  })
})
