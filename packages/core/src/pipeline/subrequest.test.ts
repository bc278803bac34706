import { expect, test } from 'vitest'
import { ProxyError } from '../errors.ts'
import { HeaderList } from '../headers/list.ts'
import { reply } from '../reply.ts'
import { testContext } from '../testing/context.ts'
import { bytesSource, readSource } from '../testing/source.ts'
import type { Context, Handler } from './contract.ts'
import { pipeline } from './pipeline.ts'
import { subrequest } from './subrequest.ts'

const gone = new ProxyError({ source: 'client', phase: 'reply-head', code: 'client-closed' })

test.each(['in a pipeline', 'in a test'])('asks the inner handler with another head: %s', async place => {
  const seen: Context[] = []
  const inner: Handler = cx => {
    seen.push(cx)
    cx.inform(103, new HeaderList())
    return reply(200, 'inner')
  }
  const informed: number[] = []
  const outer: Handler = cx => {
    const { context } = subrequest(cx, {
      method: 'GET',
      target: '/x?y=2',
      authority: 'other.test',
      headers: HeaderList.from({ A: '1' }),
      inform: status => void informed.push(status),
    })
    return inner(context)
  }
  let state: object = {}
  if (place === 'in a pipeline') {
    const app = pipeline()
      .use({ name: 'user', state: () => ({ user: 'u' }), onRequest: cx => void (state = cx.state) })
      .wrap(() => outer)
      .handle()
    const answer = await app.inject({ path: '/x?y=1', method: 'POST', body: 'b', headers: { B: '2' } })
    expect(answer.text()).toBe('inner')
    expect(answer.interim).toEqual([])
  } else {
    const cx = testContext({ path: '/x?y=1', method: 'POST', body: 'b' }, state)
    await outer(cx)
    expect(cx.informed).toEqual([])
  }
  expect(informed).toEqual([103])
  const [{ request, body, state: its }] = seen as [Context]
  expect(its).toBe(state)
  expect(body).toBeNull()
  expect(request).toMatchObject({
    method: 'GET',
    target: '/x?y=2',
    path: '/x',
    query: 'y=2',
    authority: 'other.test',
  })
  expect(request.headers.raw).toEqual(['A', '1'])
})

test('what is not said is as it was; a body can be given', async () => {
  const cx = testContext({ path: '/a', scheme: 'https', headers: { Host: 'h' } })
  const { context } = subrequest(cx, { body: bytesSource('xyz') })
  expect(context.request).toMatchObject({ method: 'GET', target: '/a', scheme: 'https', authority: 'h' })
  expect(Buffer.from((await readSource(context.body!)).bytes).toString()).toBe('xyz')
})

test('outlives the client, and ends when it is told to', () => {
  const cx = testContext()
  const { context, abort } = subrequest(cx)
  cx.abort(gone)
  expect(context.signal.aborted).toBe(false)
  abort(gone)
  expect(context.signal.reason).toBe(gone)
})
