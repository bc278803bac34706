import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MORE } from '../message/field-lines.ts'
import { CHUNKED, HeadReader, NOT_OURS } from './head.ts'

const reader = new HeadReader()

function read(text: string): number {
  const bytes = Buffer.from(text, 'latin1')
  return reader.read(bytes, 0, bytes.length)
}

const head = (lines: readonly string[], first = 'GET /a?b HTTP/1.1'): string =>
  [first, 'Host: a.test', ...lines, '', ''].join('\r\n')

describe('a plain head', () => {
  it('is read to its end, order, case and duplicates kept', () => {
    const text = head(['x: 1', 'X:\t a b \t', 'Y:', 'Connection: Close'])
    expect(read(`${text}rest`)).toBe(text.length)
    expect([reader.method, reader.target, reader.host]).toEqual(['GET', '/a?b', 'a.test'])
    expect(reader.fields).toEqual(['Host', 'a.test', 'x', '1', 'X', 'a b', 'Y', '', 'Connection', 'Close'])
    expect([reader.length, reader.hasBody, reader.close, reader.expects]).toEqual([0, false, true, false])
  })

  it.each([
    [['Content-Length: 0'], 0, false],
    [['Content-Length: 15'], 15, true],
    [['Transfer-Encoding: chunked'], CHUNKED, true],
  ] as const)('%j frames a body', (lines, length, hasBody) => {
    expect(read(head(lines))).toBeGreaterThan(0)
    expect([reader.length, reader.hasBody]).toEqual([length, hasBody])
  })

  it('says the same of the next head, whatever the one before said', () => {
    read(head(['Connection: close', 'Expect: 100-continue', 'Content-Length: 5']))
    expect([reader.close, reader.expects, reader.length]).toEqual([true, true, 5])
    read(head([]))
    expect([reader.close, reader.expects, reader.length]).toEqual([false, false, 0])
  })
})

it.each([
  ...['get / HTTP/1.1', 'GET  / HTTP/1.1', 'GET * HTTP/1.1', 'GET http://a/ HTTP/1.1', 'GET /#a HTTP/1.1'],
  ...['GET / HTTP/1.0', 'GET / HTTP/1.1 ', 'GET /\x80 HTTP/1.1', 'CONNECT / HTTP/1.1', 'GETS / HTTP/1.1', ''],
])('%j is not ours', first => {
  expect(read(head([], first))).toBe(NOT_OURS)
})

it.each([
  ...['Host: b', 'Content-Length: 05', 'Content-Length: 5 ', 'Content-Length: 5,5', 'Content-Length: +5'],
  ...['Content-Length: 1\r\nContent-Length: 1', 'Content-Length: 1\r\nTransfer-Encoding: chunked'],
  ...['Transfer-Encoding: Chunked', 'Transfer-Encoding: chunked ', 'Transfer-Encoding: gzip, chunked'],
  ...['Connection: x', 'Connection: close\r\nConnection: close', 'Proxy-Connection: close', 'Upgrade: x'],
  ...[
    'Expect: 100-continue',
    'Expect: x',
    'X : a',
    ' X: a',
    'X: a\nY: b',
    'X: a\0',
    'X: a\r\n b',
    'X',
    ': a',
  ],
])('%j is not ours', line => {
  expect(read(head([line]))).toBe(NOT_OURS)
})

it('whole and in pieces are the same: every beginning of a plain head wants more, every one of another does or is not ours', () => {
  const piece = fc.constantFrom(
    ...[
      'GET',
      'POST',
      ' ',
      '/',
      'a',
      ' HTTP/1.1',
      '\r\n',
      'Host: a',
      'X: b',
      'X:',
      'Content-Length: 5',
      '\r',
      '\n',
    ],
    ...['Transfer-Encoding: chunked', 'Connection: close', '\x80', '\0', ':'],
  )
  const text = fc.oneof(
    fc.array(piece, { maxLength: 14 }).map(parts => parts.join('')),
    fc.array(piece, { maxLength: 3 }).map(parts => `GET /x HTTP/1.1\r\nHost: a\r\n${parts.join('')}\r\n\r\n`),
  )
  fc.assert(
    fc.property(text, all => {
      if (all === '') return
      const whole = read(all)
      const fields = whole > 0 ? [...reader.fields] : []
      let before = MORE
      for (let end = 1; end <= all.length; end++) {
        const found = read(all.slice(0, end))
        // Once it is decided, more bytes change nothing.
        if (before !== MORE) expect(found).toBe(before)
        before = found
      }
      expect(before).toBe(whole)
      if (whole > 0) expect(reader.fields).toEqual(fields)
    }),
    { numRuns: 2000 },
  )
})
