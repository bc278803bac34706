import { describe, expect, it } from 'vitest'
import { bytesSource } from '../../testing/source.ts'
import type { OutgoingRequest } from '../../upstream/connector.ts'
import { requestHead, requestTrailers } from './request-head.ts'

function head(part: Partial<OutgoingRequest>): string {
  return requestHead({ method: 'GET', target: '/', headers: ['Host', 'a.test'], body: null, ...part }).text
}

const body = bytesSource(Buffer.from('abc'))

it('has Host first, and the other fields as they came', () => {
  const headers = ['X-A', '1', 'x-a', '2', 'Host', 'a.test', 'B', '\xff']
  expect(head({ headers, target: '/a?b=\xff' })).toBe(
    'GET /a?b=\xff HTTP/1.1\r\nHost: a.test\r\nX-A: 1\r\nx-a: 2\r\nB: \xff\r\n\r\n',
  )
})

it.each<[string, Partial<OutgoingRequest>, string]>([
  ['no body', {}, ''],
  ['no body, a method that means one', { method: 'POST' }, 'Content-Length: 0\r\n'],
  ['no body, but a length', { method: 'DELETE', headers: ['Content-Length', '7'] }, 'Content-Length: 0\r\n'],
  ['a body of known length', { body: { ...body, length: 3 } }, 'Content-Length: 3\r\n'],
  ['a body of unknown length', { body: { ...body, length: null } }, 'Transfer-Encoding: chunked\r\n'],
  [
    'fields that say otherwise',
    {
      body: { ...body, length: 3 },
      headers: ['Content-Length', '4', 'Transfer-Encoding', 'chunked', 'Connection', 'x', 'Keep-Alive', 'y'],
    },
    'Content-Length: 3\r\n',
  ],
])('frames by what the body is: %s', (_, part, framing) => {
  const text = head({ headers: [], ...part })
  expect(text.slice(text.indexOf('\r\n') + 2)).toBe(`${framing}\r\n`)
})

it('tells that a body waits for 100 Continue, where there is one', () => {
  const headers = ['Expect', '100-continue']
  const request = { method: 'POST', target: '/', headers, body: { ...body, length: 3 } }
  expect(requestHead(request)).toMatchObject({ expects: true, text: expect.stringContaining('Expect: ') })
  expect(requestHead({ ...request, body: null })).toMatchObject({ expects: false })
  expect(head({ headers })).not.toContain('Expect')
})

describe('refuses what would be read as something else', () => {
  const illegal = ['a\r\nb', 'a\nb', 'a\rb', 'a\0', '\u010a', '\u0a0d', 'a\x7f']
  it.each(illegal)('the value %j', value => {
    expect(() => head({ headers: ['A', value] })).toThrow(/bad forward/)
    expect(() => head({ headers: ['Host', value] })).toThrow(/bad forward/)
  })

  it.each([...illegal, '', ' a', 'a ', 'a b', 'a:', 'a:b'])('the name %j', name => {
    expect(() => head({ headers: [name, 'x'] })).toThrow(/bad forward/)
    expect(() => head({ method: name })).toThrow(/bad forward/)
  })

  it.each([...illegal.map(text => `/${text}`), '', 'a', '/ a', 'http://a/', '*a', '/\t'])(
    'the target %j',
    target => {
      expect(() => head({ target })).toThrow(/bad forward/)
    },
  )

  it('values that are no strings, and lengths that are none', () => {
    expect(() => head({ headers: ['A', { toString: () => 'b' } as unknown as string] })).toThrow(
      /bad forward/,
    )
    expect(() => head({ headers: [{ toString: () => 'b' } as unknown as string, 'a'] })).toThrow(
      /bad forward/,
    )
    for (const length of [-1, 1.5, Number.NaN, 2 ** 53]) {
      expect(() => head({ body: { ...body, length } })).toThrow(/bad forward/)
    }
  })

  it('two hosts, and CONNECT', () => {
    expect(() => head({ headers: ['Host', 'a', 'host', 'b'] })).toThrow(/bad forward/)
    expect(() => head({ method: 'CONNECT' })).toThrow(/bad forward/)
  })
})

it('trailers: none that frame, route, identify or describe', () => {
  const names = [
    'Sum',
    'Content-Length',
    'transfer-encoding',
    'HOST',
    'Authorization',
    'Cookie',
    'Set-Cookie',
    'TE',
  ]
  names.push('Content-Type', 'Trailer', 'X-Forwarded-For', 'X_Forwarded_For', 'grpc-status', 'If-Match')
  const raw = names.flatMap(name => [name, '1'])
  expect(requestTrailers(raw).filter((_, i) => i % 2 === 0)).toEqual(['Sum', 'grpc-status'])
  expect(requestTrailers(raw, (name, value) => name === 'Sum' && value === '1')).toEqual(['grpc-status', '1'])
})
