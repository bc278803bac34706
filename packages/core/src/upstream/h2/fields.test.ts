import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../errors.ts'
import { receivedFields, requestFields, trailerFields } from './fields.ts'

const request = (headers: string[], upgrade?: string): Parameters<typeof requestFields>[0] => ({
  method: 'GET',
  target: '/a?b',
  headers,
  body: null,
  ...(upgrade === undefined ? {} : { upgrade }),
})

describe('requestFields', () => {
  test('pseudo-fields, lower case, no field of a connection', () => {
    const headers = [
      'X-A',
      '1',
      'Host',
      'a.test',
      'Connection',
      'x',
      'Keep-Alive',
      '5',
      'Upgrade',
      'y',
      'TE',
      'trailers',
    ]
    expect({ ...requestFields(request(headers), 'https') }).toEqual({
      ':method': 'GET',
      ':scheme': 'https',
      ':authority': 'a.test',
      ':path': '/a?b',
      'x-a': '1',
      te: 'trailers',
    })
  })

  test('an upgrade is an extended CONNECT without a key', () => {
    const headers = [
      'Host',
      'a',
      'Sec-WebSocket-Key',
      'k',
      'Sec-WebSocket-Version',
      '13',
      'Connection',
      'Upgrade',
    ]
    expect({ ...requestFields(request(headers, 'websocket'), 'http') }).toEqual({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'http',
      ':authority': 'a',
      ':path': '/a?b',
      'sec-websocket-version': '13',
    })
  })

  test.each([
    [['Cookie', 'a=1'], 'a=1'],
    [
      ['Cookie', 'a=1; b=2;c=3'],
      ['a=1', 'b=2;c=3'],
    ],
    [
      ['Cookie', 'a=1; b=2', 'cookie', 'c=3'],
      ['a=1', 'b=2', 'c=3'],
    ],
  ])('crumbs of %j', (headers, crumbs) => {
    expect(requestFields(request(headers), 'http').cookie).toEqual(crumbs)
  })

  test('several lines: a list is joined, an ambiguity refused, the rest kept apart', () => {
    expect(requestFields(request(['If-Match', '"a"', 'if-match', '"b"']), 'http')['if-match']).toBe(
      '"a", "b"',
    )
    expect(requestFields(request(['X', '1', 'x', '2', 'X', '3']), 'http').x).toEqual(['1', '2', '3'])
    for (const name of ['Content-Type', 'Authorization', 'Range', 'Content-Length']) {
      expect(() => requestFields(request([name, '1', name, '1']), 'http')).toThrow(ProxyError)
    }
  })

  test('an illegal name or value never reaches a session', () => {
    const anything = fc.string({ unit: 'binary', maxLength: 12 })
    fc.assert(
      fc.property(fc.array(fc.tuple(anything, anything), { maxLength: 6 }), lines => {
        let fields: ReturnType<typeof requestFields>
        try {
          fields = requestFields(request(lines.flat()), 'http')
        } catch (error) {
          expect(error).toBeInstanceOf(ProxyError)
          return
        }
        for (const name of Object.keys(fields)) {
          expect(name).toMatch(/^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/)
          for (const value of [fields[name]].flat())
            expect(String(value)).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/)
        }
      }),
    )
  })
})

test('receivedFields leaves the pseudo-fields out, and nothing else', () => {
  expect(receivedFields([':status', '200', 'a', '1', 'a', '2'])).toEqual(['a', '1', 'a', '2'])
  expect(receivedFields([':status', '200'])).toEqual([])
})

test('trailerFields takes what says nothing about the message', () => {
  const raw = [
    'X-Sum',
    '1',
    'x-sum',
    '2',
    'Grpc-Status',
    '0',
    'Host',
    'h',
    'Set-Cookie',
    'a',
    'Content-Type',
    'b',
  ]
  const more = [
    'X-Forwarded-For',
    '1',
    'x_forwarded_for',
    '1',
    'Trailer',
    'x',
    'Bad Name',
    '1',
    'Bad',
    'a\nb',
  ]
  expect({ ...trailerFields([...raw, ...more]) }).toEqual({ 'x-sum': ['1', '2'], 'grpc-status': '0' })
})
