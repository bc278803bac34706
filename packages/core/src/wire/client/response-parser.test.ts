import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutAt, type ReadAnswer, readAnswer } from './read-answer.ts'
import { MOST_HEAD, MOST_LINES, ResponseParser } from './response-parser.ts'

function read(text: string, method = 'GET', closed = false, cuts: readonly number[] = []): ReadAnswer {
  return readAnswer(cutAt(Buffer.from(text, 'latin1'), cuts), method, closed)
}

const OK = 'HTTP/1.1 200 OK\r\n'

describe('how a body ends (RFC 9112, 6.3)', () => {
  it.each<[string, string, string, Partial<ReadAnswer>]>([
    ['a length', `${OK}Content-Length: 3\r\n\r\nabcX`, 'GET', { body: 'abc', rest: 1 }],
    ['a length of 0', `${OK}Content-Length: 0\r\n\r\nX`, 'GET', { body: '', rest: 1 }],
    ['leading zeros', `${OK}Content-Length: 003\r\n\r\nabc`, 'GET', { body: 'abc' }],
    [
      'chunks',
      `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nX`,
      'GET',
      { body: 'abc', rest: 1 },
    ],
    [
      'chunks and trailers',
      `${OK}transfer-encoding: CHUNKED\r\n\r\n0\r\nA: b\r\n\r\n`,
      'GET',
      { trailers: ['A', 'b'] },
    ],
    ['HEAD with a length', `${OK}Content-Length: 3\r\n\r\nX`, 'HEAD', { body: '', rest: 1 }],
    ['HEAD with chunks', `${OK}Transfer-Encoding: chunked\r\n\r\nX`, 'HEAD', { body: '', rest: 1 }],
    ['HEAD with neither', `${OK}\r\nX`, 'HEAD', { body: '', rest: 1 }],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\nX', 'GET', { rest: 1 }],
    ['204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nX', 'GET', { rest: 1 }],
    [
      '304 with the length of the 200',
      'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\nX',
      'GET',
      { rest: 1 },
    ],
    ['205 with a length', 'HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\nX', 'GET', { rest: 1 }],
    ['no reason phrase', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', 'GET', { status: 200 }],
    ['an empty reason phrase', 'HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n', 'GET', { status: 200 }],
    ['a status above 599', 'HTTP/1.1 999 x\r\nContent-Length: 0\r\n\r\n', 'GET', { status: 999 }],
  ])('%s', (_, text, method, expected) => {
    expect(read(text, method)).toMatchObject({ what: 'whole', rest: 0, ...expected })
  })

  it('without a length: the end of the connection, and only an orderly one', () => {
    expect(read(`${OK}\r\nabc`)).toMatchObject({ what: 'more', body: 'abc', persistent: false })
    expect(read(`${OK}\r\nabc`, 'GET', true)).toMatchObject({ what: 'whole', body: 'abc' })
    expect(read('HTTP/1.0 200 OK\r\n\r\n', 'GET', true)).toMatchObject({ what: 'whole', body: '' })
    expect(read('HTTP/1.1 205 x\r\n\r\n')).toMatchObject({ what: 'more', status: 205 })
  })

  it.each([
    ['a head', `${OK}Content-Length: 3\r\n`],
    ['a body with a length', `${OK}Content-Length: 3\r\n\r\nab`],
    ['a chunk', `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nab`],
    ['chunks without the last one', `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`],
    ['chunks without the last line', `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n`],
    ['nothing', ''],
    ['an interim answer', 'HTTP/1.1 103 x\r\n\r\n'],
  ])('%s that the connection cuts is never whole', (_, text) => {
    expect(read(text).what).toBe('more')
    expect(read(text, 'GET', true).what).toBe('bad')
  })
})

it('interim answers come one by one; they have no body, whatever they say', () => {
  const text = `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nLink: a\r\nContent-Length: 5\r\n\r\n${OK}Content-Length: 1\r\n\r\nz`
  expect(read(text)).toMatchObject({
    what: 'whole',
    body: 'z',
    interim: [
      { status: 100, headers: [] },
      { status: 103, headers: ['Link', 'a', 'Content-Length', '5'] },
    ],
  })
})

it.each([
  ['HTTP/1.1', '', true],
  ['HTTP/1.1', 'Connection: close\r\n', false],
  ['HTTP/1.1', 'Connection: a, CLOSE ,b\r\n', false],
  ['HTTP/1.1', 'Connection: keep-alive\r\nConnection: close\r\n', false],
  ['HTTP/1.1', 'Connection: close\r\nConnection: keep-alive\r\n', false],
  ['HTTP/1.1', 'Connection: closed\r\n', true],
  ['HTTP/1.0', '', false],
  ['HTTP/1.0', 'Connection: Keep-Alive\r\n', true],
  ['HTTP/1.0', 'Connection: keep-alive, close\r\n', false],
])('%s with %j leaves the connection usable: %s', (version, line, persistent) => {
  expect(read(`${version} 200 OK\r\n${line}Content-Length: 0\r\n\r\n`)).toMatchObject({ persistent })
})

it.each([
  ['Keep-Alive: timeout=5', 5],
  ['keep-alive: max=10, timeout=17', 17],
  ['Keep-Alive: timeout="3"', 3],
  ['Keep-Alive: timeout=0', 0],
  ['Keep-Alive: x', -1],
  ['X: timeout=5', -1],
])('%s: kept for %i seconds', (line, seconds) => {
  const parser = new ResponseParser()
  readAnswer([Buffer.from(`${OK}${line}\r\nContent-Length: 0\r\n\r\n`)], 'GET', false, parser)
  expect(parser.keepAlive).toBe(seconds)
})

it.each(['identity', 'arizqhypgxofwne'])(
  'takes what is coded as %s up to the end of the connection',
  coding => {
    const answer = `${OK}Transfer-Encoding: ${coding}\r\n\r\n5\r\nabcde`
    expect(read(answer)).toMatchObject({ what: 'more', persistent: false })
    expect(read(answer, 'GET', true)).toMatchObject({ what: 'whole', body: '5\r\nabcde' })
    expect(read(`${OK}Transfer-Encoding: ${coding}\r\n\r\n`, 'HEAD')).toMatchObject({ persistent: false })
  },
)

describe('refuses', () => {
  it.each([
    ['both length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
    ['both chunks and length', 'Transfer-Encoding: chunked\r\nContent-Length: 5'],
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 5'],
    ['two other lengths', 'Content-Length: 5\r\nContent-Length: 6'],
    ['a list of lengths', 'Content-Length: 5, 5'],
    ['a signed length', 'Content-Length: +5'],
    ['a negative length', 'Content-Length: -1'],
    ['an empty length', 'Content-Length:'],
    ['a length in hexadecimal', 'Content-Length: 0x5'],
    ['a length with a tab behind it', 'Content-Length: 5 \t'],
    ['a length of 16 digits', 'Content-Length: 1000000000000000'],
    ['another coding', 'Transfer-Encoding: gzip'],
    ['another coding by its old name', 'Transfer-Encoding: X-GZIP'],
    ['a coding that begins like chunks', 'Transfer-Encoding: chunkedx'],
    ['a coding that ends like chunks', 'Transfer-Encoding: xchunked'],
    ['an unknown coding with a length', 'Transfer-Encoding: thing\r\nContent-Length: 5'],
    ['two unknown codings', 'Transfer-Encoding: thing, thong'],
    ['an unknown coding with more behind it', 'Transfer-Encoding: thing thong'],
    ['another coding before chunked', 'Transfer-Encoding: gzip, chunked'],
    ['chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'],
    ['chunked twice in a line', 'Transfer-Encoding: chunked, chunked'],
    ['chunked with a parameter', 'Transfer-Encoding: chunked;a=b'],
    ['chunked spelt with a vertical tab', 'Transfer-Encoding: \x0bchunked'],
    ['a coding with a tab behind it', 'Transfer-Encoding: chunked\t'],
    ['an empty coding', 'Transfer-Encoding:'],
    ['a space before the colon', 'Content-Length : 5'],
    ['a folded line', 'A: b\r\n c'],
    ['a folded length', 'Content-Length:\r\n 5'],
    ['NUL', 'A: b\0c'],
    ['a bare CR', 'A: b\rContent-Length: 5'],
    ['a bare LF', 'A: b\nContent-Length: 5'],
  ])('%s, also for HEAD', (_, lines) => {
    for (const method of ['GET', 'HEAD']) expect(read(`${OK}${lines}\r\n\r\nabcde`, method).what).toBe('bad')
  })

  it.each([
    ['HTTP/1.0 with chunks', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['101 that nobody asked for', 'HTTP/1.1 101 x\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n'],
    ['an interim answer of HTTP/1.0', `HTTP/1.0 103 x\r\n\r\n${OK}\r\n`],
    ['an interim answer that is the last', `HTTP/1.1 103 x\r\nConnection: close\r\n\r\n${OK}\r\n`],
    ['an empty line in front', `\r\n${OK}\r\n`],
    ['a LF in front', `\n${OK}\r\n`],
    ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
    ['HTTP/1.2', 'HTTP/1.2 200 OK\r\n\r\n'],
    ['HTTP/11.1', 'HTTP/11.1 200 OK\r\n\r\n'],
    ['http/1.1', 'http/1.1 200 OK\r\n\r\n'],
    ['another protocol', 'SSH-2.0-x\r\n'],
    ['HTTP/0.9', '<html>'],
    ['two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a status of 0', 'HTTP/1.1 099 OK\r\n\r\n'],
    ['two spaces', 'HTTP/1.1  200 OK\r\n\r\n'],
    ['a tab', 'HTTP/1.1\t200 OK\r\n\r\n'],
    ['a start line with LF', 'HTTP/1.1 200 OK\n\r\n'],
    ['NUL in the reason phrase', 'HTTP/1.1 200 O\0K\r\n\r\n'],
    ['a request', 'GET / HTTP/1.1\r\n\r\n'],
  ])('%s', (_, text) => {
    expect(read(text).what).toBe('bad')
    for (let cut = 0; cut <= text.length; cut++) expect(read(text, 'GET', false, [cut]).what).toBe('bad')
  })

  it('what has no bounds', () => {
    const head = (bytes: number): string => `${OK}A: ${'b'.repeat(bytes - OK.length - 7)}\r\n\r\n`
    expect(head(100)).toHaveLength(100)
    for (const cuts of [[], [50], [20, 32_000]]) {
      expect(read(head(MOST_HEAD), 'HEAD', false, cuts).what).toBe('whole')
      expect(read(head(MOST_HEAD + 1), 'HEAD', false, cuts).what).toBe('bad')
      expect(read(head(MOST_HEAD + 5000).slice(0, -4), 'HEAD', false, cuts).what).toBe('bad')
    }
    expect(read(`${OK}${'a:\r\n'.repeat(MOST_LINES)}\r\n`, 'HEAD').what).toBe('whole')
    expect(read(`${OK}${'a:\r\n'.repeat(MOST_LINES + 1)}\r\n`, 'HEAD').what).toBe('bad')
    expect(read('HTTP/1.1 102 x\r\n\r\n'.repeat(64)).what).toBe('more')
    expect(read('HTTP/1.1 102 x\r\n\r\n'.repeat(65)).what).toBe('bad')
  })
})

it('is used again: nothing of one answer is left for the next', () => {
  const parser = new ResponseParser()
  const one = (text: string, method = 'GET'): ReadAnswer =>
    readAnswer([Buffer.from(text)], method, false, parser)
  one(`HTTP/1.0 200 OK\r\nContent-Length: 5\r\nKeep-Alive: timeout=1\r\n\r\nabcde`)
  expect(one(`${OK}Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n`)).toMatchObject({
    persistent: true,
    body: '',
    trailers: ['A', 'b'],
  })
  expect([parser.keepAlive, one(`${OK}Content-Length: 1\r\n\r\nx`).trailers]).toEqual([-1, []])
  expect(one(`${OK}Content-Length: 1\r\n\r\nx`, 'HEAD')).toMatchObject({ body: '', rest: 1 })
})

it('reads the same, whole and cut anywhere, byte by byte too', () => {
  const line = fc.constantFrom(
    ...['Content-Length: 4', 'Content-Length: 4', 'Transfer-Encoding: chunked', 'Connection: close', 'A: b'],
    ...[
      'content-length : 4',
      'X-Y:',
      'A:  \x85 ',
      ' folded',
      'Transfer-Encoding: x',
      'Keep-Alive: timeout=3',
    ],
  )
  const body = fc.constantFrom(
    'abcd',
    'abcdef',
    '4\r\nabcd\r\n0\r\n\r\n',
    '1;a=b\r\na\r\n0\r\nT: u\r\n\r\nX',
    '0',
    '',
  )
  const start = fc.constantFrom(
    OK,
    OK,
    'HTTP/1.0 200 OK\r\n',
    'HTTP/1.1 204\r\n',
    'HTTP/1.1 103 E\r\nL: m\r\n\r\nHTTP/1.1 304 \r\n',
  )
  fc.assert(
    fc.property(
      start,
      fc.array(line, { maxLength: 4 }),
      body,
      fc.constantFrom('GET', 'HEAD'),
      fc.boolean(),
      fc.array(fc.nat(), { maxLength: 6 }),
      (first, lines, text, method, closed, cuts) => {
        const all = `${first}${lines.map(one => `${one}\r\n`).join('')}\r\n${text}`
        const whole = read(all, method, closed)
        expect(read(all, method, closed, cuts)).toEqual(whole)
        expect(
          read(
            all,
            method,
            closed,
            Array.from(all, (_, i) => i),
          ),
        ).toEqual(whole)
      },
    ),
    { numRuns: 2000 },
  )
})
