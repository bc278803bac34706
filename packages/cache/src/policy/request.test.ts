import { HeaderList } from '@postern/core'
import { expect, test } from 'vitest'
import { flavourOf, QuestionReader } from './request.ts'

const read = (fields: Record<string, string | string[]>, keyed: string[] = [], honour = true) =>
  new QuestionReader(keyed, honour).read(HeaderList.from(fields))

test('reads what concerns a cache, in any case', () => {
  expect(
    read({
      'CACHE-CONTROL': ['nothing-to-see-here', 'max-age=5'],
      'if-none-match': ['"a"', '"b"'],
      'If-Modified-Since': 'x',
      Range: 'bytes=0-1',
      'If-Range': '"a"',
      Cookie: 'a=b',
      Authorization: 'x',
      'If-Match': '*',
    }),
  ).toMatchObject({
    directives: { maxAge: 5 },
    ifNoneMatch: '"a", "b"',
    ifModifiedSince: 'x',
    range: 'bytes=0-1',
    ifRange: '"a"',
    hasCookie: true,
    hasAuthorization: true,
    hasPrecondition: true,
    override: null,
  })
  expect(read({ 'Cache-Control': 'no-cache' }, [], false).directives).toBeNull()
})

test.each([
  'X-HTTP-Method-Override',
  'x_http_method_override',
  'X-HTTP-Method',
  'X-Method-Override',
  'X-Original-URL',
  'X-Rewrite-URL',
  'X-Forwarded-Scheme',
  'X-Forwarded-Prefix',
  'X-Forwarded-Server',
  'X.Forwarded.Prefix',
  'X-Host',
  'X-Original-Host',
  'Front-End-Https',
])('%s may change the answer and is in no key', name => {
  expect(read({ [name]: 'x' }).override).toBe(name.toLowerCase())
})

test('a field that is in the key is no danger, nor is one that the edge writes', () => {
  expect(read({ 'X-Forwarded-Prefix': 'x' }, ['x-forwarded-prefix']).override).toBeNull()
  expect(read({ 'X-Forwarded-For': 'x', 'X-Forwarded-Host': 'x', X_Forwarded_For: 'x' }).override).toBeNull()
})

test('clients of different kinds do not wait for one another', () => {
  const flavours = [{}, { Cookie: 'a' }, { Authorization: 'a' }, { 'Cache-Control': 'no-store' }]
  expect(new Set(flavours.map(fields => flavourOf(read(fields)))).size).toBe(4)
})

test.each([
  ['keep-alive', null],
  ['close', null],
  ['Upgrade, HTTP2-Settings', null],
  ['TE', null],
  [', keep-alive ,', null],
  ['accept-language', 'connection'],
  ['keep-alive, X-Forwarded-For', 'connection'],
  ['close, keep-alive-not', 'connection'],
])('Connection: %s', (Connection, override) => {
  expect(read({ Connection }).override).toBe(override)
})
