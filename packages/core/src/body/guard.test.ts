import { describe, expect, test } from 'vitest'
import { ProxyError } from '../errors.ts'
import type { Flow, Sink, Source } from '../pipeline/contract.ts'
import { bytesSource, readSource } from '../testing/source.ts'
import { discard, guardReply, guardRequest } from './guard.ts'

const gone = new ProxyError({ source: 'client', phase: 'reply-body', code: 'client-closed' })
const boom = (): never => {
  throw new Error('bug')
}

/** A source in the hands of the test. */
function manual(flow: Partial<Flow> = {}): { source: Source; sink: () => Sink; log: string[] } {
  const log: string[] = []
  let inside: Sink | undefined
  const source: Source = {
    length: null,
    start(sink) {
      inside = sink
      return {
        pause: () => void log.push('pause'),
        resume: () => void log.push('resume'),
        cancel: error => void log.push(`cancel ${error.code}`),
        ...flow,
      }
    },
  }
  return { source, sink: () => inside!, log }
}

function reader(edit: Partial<Sink> = {}): { sink: Sink; log: string[] } {
  const log: string[] = []
  const sink: Sink = {
    write: bytes => log.push(String(Buffer.from(bytes))) > 0,
    end: () => void log.push('end'),
    fail: error => void log.push(`fail ${error.code}`),
    ...edit,
  }
  return { sink, log }
}

describe('guardReply', () => {
  test('a well-behaved source passes as it is', async () => {
    const { bytes } = await readSource(guardReply(bytesSource('a', 'b')))
    expect(String(bytes)).toBe('ab')
    expect(guardReply({ length: 7, start: boom }).length).toBe(7)
    expect(guardReply({ start: boom } as never).length).toBeNull()
  })

  test('one of this package is not guarded: no call more a chunk', () => {
    const own = { length: null, start: boom, keepsTheRules: true }
    expect(guardReply(own)).toBe(own)
  })

  test.each([
    ['end, end', (sink: Sink) => [sink.end(), sink.end()], ['end']],
    ['end, write', (sink: Sink) => [sink.end(), sink.write(Buffer.from('x'))], ['end']],
    ['end, fail', (sink: Sink) => [sink.end(), sink.fail(gone)], ['end']],
    ['fail, fail', (sink: Sink) => [sink.fail(gone), sink.fail(gone)], ['fail client-closed']],
    ['fail, end', (sink: Sink) => [sink.fail(gone), sink.end()], ['fail client-closed']],
    ['fail with another error', (sink: Sink) => [sink.fail(new Error('x') as never)], ['fail internal']],
    ['write of a string', (sink: Sink) => [sink.write('x' as never)], ['fail internal']],
  ] as const)('%s', (_, act, expected) => {
    const { source, sink } = manual()
    const { sink: out, log } = reader()
    guardReply(source).start(out)
    act(sink())
    expect(log).toEqual(expected)
  })

  test.each([
    ['throws', boom],
    ['gives nothing', () => undefined],
    ['gives no flow', () => ({ pause() {} })],
  ])('a start that %s is a failure, and the flow can be used all the same', (_, start) => {
    const { sink, log } = reader()
    const flow = guardReply({ length: null, start: start as never }).start(sink)
    flow.pause()
    flow.resume()
    flow.cancel(gone)
    expect(log).toEqual(['fail internal'])
  })

  test('a start that ended and gave no flow was a whole body', () => {
    const { sink, log } = reader()
    const start = (out: Sink): never => out.end() as never
    guardReply({ length: null, start }).start(sink)
    expect(log).toEqual(['end'])
  })

  test('a flow that throws is a failure, but for a cancel, which nobody waits for', () => {
    for (const name of ['pause', 'resume', 'cancel'] as const) {
      const { source } = manual({ [name]: boom })
      const { sink, log } = reader()
      const flow = guardReply(source).start(sink)
      flow[name](gone)
      expect(log, name).toEqual(name === 'cancel' ? [] : ['fail internal'])
    }
  })

  test('after a cancel nothing comes out, and the source hears of it once it has given its flow', () => {
    const made = manual()
    const { sink, log } = reader()
    const eager: Source = {
      length: null,
      start(inside) {
        inside.write(Buffer.from('a'))
        return made.source.start(inside)
      },
    }
    const guarded = guardReply(eager)
    const flow = guarded.start({
      ...sink,
      write: bytes => (guarded as unknown as Flow).cancel(gone) ?? sink.write(bytes),
    })
    expect(made.sink().write(Buffer.from('b'))).toBe(false)
    made.sink().end()
    flow.resume()
    expect([log, made.log]).toEqual([['a'], ['cancel client-closed']])
  })
})

describe('guardRequest', () => {
  test('starts once, and only with a sink', () => {
    const body = guardRequest(bytesSource('a'))
    expect(() => body.start(undefined as never)).toThrow(TypeError)
    const once = guardRequest(bytesSource('a'))
    once.start(reader().sink)
    expect(() => once.start(reader().sink)).toThrow('once')
  })

  test.each([
    ['write', (sink: Sink) => sink.write(Buffer.from('x')), ['fail internal'], ['cancel internal']],
    ['end', (sink: Sink) => sink.end(), ['fail internal'], []],
    ['fail', (sink: Sink) => sink.fail(gone), [], []],
  ] as const)(
    'a reader that throws in %s hears of a failure, the source of a cancel',
    (name, act, told, source) => {
      const made = manual()
      const { sink, log } = reader({ [name]: boom })
      guardRequest(made.source).start(sink)
      act(made.sink())
      act(made.sink())
      expect([log, made.log]).toEqual([told, source])
    },
  )

  test('a sink of this package gets the source itself', () => {
    const made = manual()
    const own = { ...reader().sink, keepsTheRules: true }
    guardRequest(made.source).start(own)
    expect(made.sink()).toBe(own)
  })
})

test.each([
  ['null', null],
  ['a string', 'start'],
  ['bytes', new Uint8Array(1)],
  ['a source that throws', { start: boom }],
  ['a source without a flow', { start: () => undefined }],
])('discard of %s does nothing', (_, body) => {
  expect(() => discard(body, gone)).not.toThrow()
})

test('discard cancels', () => {
  const { source, log } = manual()
  discard(source, gone)
  expect(log).toEqual(['cancel client-closed'])
})
