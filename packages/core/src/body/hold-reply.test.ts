import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { ProxyError } from '../errors.ts'
import { HeaderList } from '../headers/list.ts'
import type { Flow, Reply, Sink, Source } from '../pipeline/contract.ts'
import { pipeline } from '../pipeline/pipeline.ts'
import { reply } from '../reply.ts'
import { bytesSource, readSource } from '../testing/source.ts'
import { holdReplyBody } from './hold-reply.ts'

const never = (): AbortSignal => new AbortController().signal
const replyOf = (body: Reply['body']): Reply => ({ status: 200, headers: new HeaderList(), body })

/** A source that a test drives by hand. */
function byHand(): { source: Source; sink: () => Sink; cancelled: ProxyError[] } {
  let sink: Sink | null = null
  const cancelled: ProxyError[] = []
  const flow: Flow = { pause() {}, resume() {}, cancel: error => void cancelled.push(error) }
  const source: Source = {
    length: null,
    start(given) {
      sink = given
      return flow
    },
  }
  return { source, sink: () => sink!, cancelled }
}

describe('holdReplyBody', () => {
  test('what is held and what follows is the body, whatever the chunks and the limit', async () => {
    const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(chunks, fc.integer({ min: 0, max: 200 }), async (parts, limit) => {
        const body = Buffer.concat(parts)
        const made = replyOf(bytesSource(...parts))
        const held = await holdReplyBody(made, limit, never())
        expect(held.whole || held.bytes.length > limit).toBe(true)
        expect(Buffer.from(held.bytes)).toEqual(body.subarray(0, held.bytes.length))
        if (body.length <= limit) expect(held.bytes.length).toBe(body.length)
        expect((await readSource(made.body as Source)).bytes).toEqual(body)
      }),
      { numRuns: 200 },
    )
  })

  test('bytes and nothing are there at once', async () => {
    const bytes = Buffer.from('abc')
    expect(await holdReplyBody(replyOf(bytes), 1, never())).toEqual({ bytes, whole: true })
    expect((await holdReplyBody(replyOf(null), 1, never())).bytes).toHaveLength(0)
  })

  test('trailers are kept', async () => {
    const { source, sink } = byHand()
    const made = replyOf(source)
    const held = holdReplyBody(made, 10, never())
    sink().write(Buffer.from('a'))
    sink().end(HeaderList.from({ 'X-Sum': '1' }))
    expect((await held).whole).toBe(true)
    expect((await readSource(made.body as Source)).trailers?.get('x-sum')).toBe('1')
  })

  test('a body that breaks rejects, and the hook answers as its code says', async () => {
    const { source, sink } = byHand()
    const app = pipeline()
      .use({ name: 'look', onReply: (cx, made) => holdReplyBody(made, 10, cx.signal).then(() => undefined) })
      .handle(() => replyOf(source))
    const answer = app.inject()
    await vi.waitFor(() => expect(sink()).not.toBeNull())
    sink().write(Buffer.from('half'))
    sink().fail(new ProxyError({ source: 'upstream', phase: 'reply-body', code: 'upstream-reset' }))
    const { status, body } = await answer
    expect([status, Buffer.from(body).toString()]).toEqual([502, '502 upstream reset\n'])
  })

  test('a client that leaves cancels what is read', async () => {
    const { source, cancelled } = byHand()
    const controller = new AbortController()
    const held = holdReplyBody(replyOf(source), 10, controller.signal)
    controller.abort()
    await expect(held).rejects.toMatchObject({ code: 'client-closed' })
    expect(cancelled).toHaveLength(1)
    const late = byHand()
    await expect(holdReplyBody(replyOf(late.source), 10, controller.signal)).rejects.toMatchObject({
      code: 'client-closed',
    })
    expect(late.cancelled).toHaveLength(1)
  })

  test('a refused reply leaves nothing running', async () => {
    const { source, sink, cancelled } = byHand()
    const app = pipeline()
      .use({
        name: 'look',
        onReply: (cx, made) => holdReplyBody(made, 3, cx.signal).then(() => reply(403, 'no')),
      })
      .handle(() => replyOf(source))
    const answer = app.inject()
    await vi.waitFor(() => expect(sink()).not.toBeNull())
    sink().write(Buffer.from('long enough'))
    expect((await answer).text()).toBe('no')
    expect(cancelled).toHaveLength(1)
  })

  test('a source that breaks the rules is no danger', async () => {
    const bad: Source = {
      length: null,
      start() {
        throw new Error('bad')
      },
    }
    await expect(holdReplyBody(replyOf(bad), 3, never())).rejects.toMatchObject({ code: 'internal' })
  })
})
