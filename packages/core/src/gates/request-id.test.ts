import { describe, expect, test } from 'vitest'
import { ConfigError } from '../errors.ts'
import { HeaderList } from '../headers/list.ts'
import type { ForwardHead } from '../pipeline/contract.ts'
import { testContext } from '../testing/context.ts'
import { type RequestIdOptions, requestId } from './request-id.ts'

const MADE = /^[0-9a-f]{32}$/

describe('takes over or makes', () => {
  test.each([
    { accept: undefined, trusted: false, sent: ['client-id-1'], taken: false },
    { accept: undefined, trusted: true, sent: ['client-id-1'], taken: true },
    { accept: 'always', trusted: false, sent: ['client-id-1'], taken: true },
    { accept: 'never', trusted: true, sent: ['client-id-1'], taken: false },
    { accept: 'always', trusted: false, sent: [], taken: false },
    { accept: 'always', trusted: false, sent: ['client-id-1', 'client-id-1'], taken: false },
    { accept: 'always', trusted: false, sent: ['0af7651916cd43dd8448eb211c80319c'], taken: true },
    { accept: 'always', trusted: false, sent: ['A.z_0~9-'], taken: true },
    { accept: 'always', trusted: false, sent: ['short-1'], taken: false },
    { accept: 'always', trusted: false, sent: ['x'.repeat(128)], taken: true },
    { accept: 'always', trusted: false, sent: ['x'.repeat(129)], taken: false },
    ...[
      'client id 1',
      'client-id;1',
      'client-id\t1',
      'client-id-\xe9',
      '"client-id"',
      '$jndi:ldap',
      'client/id/1',
    ].map(value => ({ accept: 'always' as const, trusted: true, sent: [value], taken: false })),
  ] as const)(
    'accept $accept, trusted $trusted, sent $sent: taken $taken',
    ({ accept, trusted, sent, taken }) => {
      const gate = requestId(accept ? { accept } : {})
      const headers = { 'x-request-id': sent }
      const cx = testContext({ headers, peerTrusted: trusted }, gate.state!())
      gate.onRequest?.(cx)
      if (taken) expect(cx.state.requestId).toBe(sent[0])
      else expect(cx.state.requestId).toMatch(MADE)
    },
  )
})

test('origin and client get the id in place of all other spellings', () => {
  const gate = requestId()
  const cx = testContext({}, gate.state!())
  gate.onRequest?.(cx)
  const out = {
    headers: new HeaderList([
      'x-request-id',
      'evil-evil',
      'Accept',
      '*/*',
      'X_Request_ID',
      'evil',
      'x.request-id',
      'e',
    ]),
  }
  gate.onForward?.(cx, out as ForwardHead)
  expect(out.headers.raw).toEqual(['Accept', '*/*', 'X-Request-ID', cx.state.requestId])
  const head = { status: 200, headers: new HeaderList(['X-Request-Id', 'of-origin']) }
  gate.onReply?.(cx, head)
  expect(head.headers.raw).toEqual(['X-Request-ID', cx.state.requestId])
})

test('a refused head, which no request hook saw, has an id too', () => {
  const gate = requestId()
  const cx = testContext({}, gate.state!())
  const head = { status: 400, headers: new HeaderList() }
  gate.onReply?.(cx, head)
  expect(head.headers.get('x-request-id')).toMatch(MADE)
  expect(head.headers.get('x-request-id')).toBe(cx.state.requestId)
})

test('name and generator are options', () => {
  let count = 0
  const gate = requestId({ header: 'Trace-Key', generate: () => `number-${++count}` })
  const cx = testContext({}, gate.state!())
  gate.onRequest?.(cx)
  const head = { status: 200, headers: new HeaderList() }
  gate.onReply?.(cx, head)
  expect(head.headers.raw).toEqual(['Trace-Key', 'number-1'])
})

test('what a generator makes is checked before it is written anywhere', () => {
  const gate = requestId({ generate: () => 'bad\r\nSet-Cookie: a=b' })
  expect(() => gate.onRequest?.(testContext({}, gate.state!()))).toThrow(TypeError)
})

test.each([
  { header: 'Content-Length' },
  { header: 'Host' },
  { header: 'Cookie' },
  { header: 'X-Forwarded-For' },
  { header: 'X_Request_ID' },
  { header: 'a b' },
  { header: '' },
  { accept: 'sometimes' },
  { generate: 'uuid' },
])('%j is refused', options => {
  expect(() => requestId(options as RequestIdOptions)).toThrow(ConfigError)
})
