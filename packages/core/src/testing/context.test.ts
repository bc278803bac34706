import { expect, test } from 'vitest'
import { ProxyError } from '../errors.ts'
import { HeaderList } from '../headers/list.ts'
import { testContext } from './context.ts'
import { readSource } from './source.ts'

test('a literal is enough; the rest has plain defaults', () => {
  const cx = testContext({ path: '/a/%2e%2e/x?y=1' })
  expect(cx.request).toMatchObject({
    method: 'GET',
    scheme: 'http',
    authority: 'localhost',
    target: '/a/%2e%2e/x?y=1',
    path: '/x',
    query: 'y=1',
    version: '1.1',
    upgrade: null,
    peerTrusted: false,
    clientAddress: '127.0.0.1',
  })
  expect(cx.request.headers.size).toBe(0)
  expect(cx.body).toBeNull()
  expect(cx.draining).toBe(false)
})

test('takes headers as a record or a list, and state as it is', async () => {
  const state = { user: 'x' }
  const cx = testContext({ headers: { Host: 'a.example', Accept: ['x/y', 'z/*'] }, body: 'abc' }, state)
  expect(cx.request.authority).toBe('a.example')
  expect(cx.request.headers.all('accept')).toEqual(['x/y', 'z/*'])
  expect(cx.state).toBe(state)
  expect(Buffer.from((await readSource(cx.body!)).bytes).toString()).toBe('abc')
  const list = new HeaderList(['a', 'b'])
  expect(testContext({ headers: list }).request.headers).toBe(list)
})

test('collects interim responses', () => {
  const cx = testContext()
  cx.inform(103, HeaderList.from({ Link: '</a.css>' }))
  expect(cx.informed).toMatchObject([{ status: 103 }])
})

test('aborts with a reason', () => {
  const cx = testContext()
  const gone = new ProxyError({ source: 'client', phase: 'head', code: 'client-closed' })
  cx.abort(gone)
  expect(cx.signal.reason).toBe(gone)
})

test('a path that no server lets through is a mistake of the test', () => {
  expect(() => testContext({ path: '/a b' })).toThrow(TypeError)
  expect(() => testContext({ path: '/..' })).toThrow(TypeError)
})
