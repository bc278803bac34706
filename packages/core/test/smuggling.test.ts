/** B021 to B025, B027: there is one reading of where a message ends, or none. */
import { describe, expect, it } from 'vitest'
import { exchangeBytes, get1, raw1 } from './support/clients.ts'
import { field, fields, origin, proxyEdge, scripted } from './support/servers.ts'

const SECRET = 'GET /secret HTTP/1.1\r\nHost: edge.test\r\n\r\n'

function post(lines: readonly string[], body: string, version = '1.1'): string {
  return [`POST /x HTTP/${version}`, 'Host: edge.test', ...lines, '', body].join('\r\n')
}

const REFUSED: [string, string][] = [
  [
    'length and chunked (CL.TE)',
    post(['Content-Length: 13', 'Transfer-Encoding: chunked'], `0\r\n\r\n${SECRET}`),
  ],
  [
    'chunked and length (TE.CL)',
    post(['Transfer-Encoding: chunked', 'Content-Length: 4'], `0\r\n\r\n${SECRET}`),
  ],
  ['gzip, chunked', post(['Transfer-Encoding: gzip, chunked'], `0\r\n\r\n${SECRET}`)],
  ['chunked, identity', post(['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${SECRET}`)],
  ['an empty member before chunked', post(['Transfer-Encoding: ,chunked'], `0\r\n\r\n${SECRET}`)],
  ['an unknown coding', post(['Transfer-Encoding: xchunked'], `0\r\n\r\n${SECRET}`)],
  [
    'two codings on two lines',
    post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], `0\r\n\r\n${SECRET}`),
  ],
  ['a vertical tab in the coding', post(['Transfer-Encoding: \x0bchunked'], `0\r\n\r\n${SECRET}`)],
  ['a space before the colon', post(['Transfer-Encoding : chunked'], `0\r\n\r\n${SECRET}`)],
  ['a signed length', post(['Content-Length: +5'], `hello${SECRET}`)],
  ['an empty length', post(['Content-Length:'], SECRET)],
  ['a list of lengths', post(['Content-Length: 5, 5'], `hello${SECRET}`)],
  ['two equal lengths', post(['Content-Length: 5', 'Content-Length: 5'], `hello${SECRET}`)],
  ['two different lengths', post(['Content-Length: 5', 'Content-Length: 0'], `hello${SECRET}`)],
  ['a hexadecimal length', post(['Content-Length: 0x5'], `hello${SECRET}`)],
  ['a length beyond 2^64', post(['Content-Length: 18446744073709551621'], `hello${SECRET}`)],
  ['a bare LF after the chunk size', post(['Transfer-Encoding: chunked'], `5\nhello\r\n0\r\n\r\n${SECRET}`)],
  ['a bare LF after the last chunk', post(['Transfer-Encoding: chunked'], `0\n\r\n${SECRET}`)],
  ['a bare LF in an extension', post(['Transfer-Encoding: chunked'], `5;a=\nhello\r\n0\r\n\r\n${SECRET}`)],
  ['junk after the chunk size', post(['Transfer-Encoding: chunked'], `5 x\r\nhello\r\n0\r\n\r\n${SECRET}`)],
  [
    'a chunk that is too long for its size',
    post(['Transfer-Encoding: chunked'], `2\r\nhello\r\n0\r\n\r\n${SECRET}`),
  ],
  ['a folded header', post(['Content-Length: 5', ' 0'], `hello${SECRET}`)],
  ['a line without a colon', post(['Content-Length 5'], SECRET)],
  ['a bare CR in a value', post(['X: a\rTransfer-Encoding: chunked', 'Content-Length: 0'], SECRET)],
  ['NUL in a value', post(['X: a\0b', 'Content-Length: 0'], SECRET)],
]

describe('requests', () => {
  it.each(REFUSED)('%s: nothing behind it is ever a request', async (_what, text) => {
    const up = await origin()
    const { port } = await proxyEdge(up.url)
    const { text: got } = await exchangeBytes(port, text)
    expect(up.seen.map(one => one.target)).not.toContain('/secret')
    const statuses = got.match(/HTTP\/1\.1 \d{3}/g) ?? []
    for (const status of statuses) expect(status).toMatch(/ (?:400|413|501|502)$/)
  })

  it('refuses Transfer-Encoding of HTTP/1.0, or closes behind it', async () => {
    const up = await origin()
    const { port } = await proxyEdge(up.url)
    await exchangeBytes(port, post(['Transfer-Encoding: chunked'], `0\r\n\r\n${SECRET}`, '1.0'))
    expect(up.seen.map(one => one.target)).not.toContain('/secret')
  })

  it.each(['DELETE', 'OPTIONS', 'PATCH', 'GET', 'PROPFIND'])(
    'keeps the chunked body of %s a body',
    async method => {
      for (const connection of [
        'keep-alive',
        'keep-alive, Transfer-Encoding',
        'Transfer-Encoding, upgrade',
        'Content-Length',
      ]) {
        const up = await origin()
        const { port } = await proxyEdge(up.url)
        const chunk = `${SECRET.length.toString(16)}\r\n${SECRET}\r\n0\r\n\r\n`
        const head = `${method} /x HTTP/1.1\r\nHost: edge.test\r\nTransfer-Encoding: chunked\r\nConnection: ${connection}\r\n\r\n`
        await exchangeBytes(port, head + chunk)
        expect(
          up.seen.map(one => one.target),
          connection,
        ).toEqual(['/x'])
        expect(up.seen[0]!.body.toString()).toBe(SECRET)
      }
    },
  )

  it('never forwards chunk extensions', async () => {
    const up = await scripted('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    const { port } = await proxyEdge(up.url)
    await exchangeBytes(port, post(['Transfer-Encoding: chunked'], '5;secret=1\r\nhello\r\n0\r\n\r\n'))
    expect(up.received()).not.toContain('secret')
  })

  it('bounds chunk extensions and trailers', async () => {
    const up = await origin()
    const { port } = await proxyEdge(up.url)
    for (const body of [
      `5;${'a'.repeat(100_000)}\r\nhello\r\n0\r\n\r\n`,
      `5\r\nhello\r\n0\r\nX: ${'a'.repeat(1_000_000)}\r\n\r\n`,
    ]) {
      const { status } = await raw1(port, post(['Transfer-Encoding: chunked'], body))
      expect(Number.isNaN(status) || status >= 400).toBe(true)
    }
  })

  it('answers pipelined requests in order', async () => {
    const up = await origin((res, seen) =>
      setTimeout(() => res.end(seen.target), seen.target === '/1' ? 60 : 0),
    )
    const { port } = await proxyEdge(up.url)
    const requests = [1, 2, 3].map(n => `GET /${n} HTTP/1.1\r\nHost: edge.test\r\n\r\n`).join('')
    const { text } = await exchangeBytes(port, requests, 400)
    expect(text.match(/^\/\d/gm)).toEqual(['/1', '/2', '/3'])
  })
})

describe('replies', () => {
  it.each([
    [
      'length and chunked',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok'],
    ['two different lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok'],
    ['no status line', 'hello\r\n\r\n'],
    ['garbage', '\x00\x01\x02\x03\r\n\r\n'],
  ])('%s gives 502', async (_what, bytes) => {
    const up = await scripted(bytes, 'end')
    const { port } = await proxyEdge(up.url)
    const { status, raw } = await get1(port, '/')
    expect(status).toBe(502)
    expect(fields(raw, 'x')).toEqual([])
  })

  it.each([
    ['no reason phrase', 'HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok'],
    ['no length, ended by a close', 'HTTP/1.0 200 OK\r\nX: 1\r\n\r\nok'],
  ])('%s is legal', async (_what, bytes) => {
    const up = await scripted(bytes, 'end')
    const { port } = await proxyEdge(up.url)
    const { status, body } = await get1(port, '/')
    expect(status).toBe(200)
    expect(body).toContain('ok')
  })

  it('may come byte by byte', async () => {
    const text = 'HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok'
    const { rawOrigin } = await import('./support/servers.ts')
    const up = await rawOrigin(socket => {
      socket.setNoDelay(true)
      socket.once('data', async () => {
        for (const byte of text) {
          socket.write(byte)
          await new Promise(resolve => setTimeout(resolve, 1))
        }
      })
    })
    const { port } = await proxyEdge(up.url)
    const { status, body, raw } = await get1(port, '/')
    expect([status, body, field(raw, 'x-a')]).toEqual([200, 'ok', '1'])
  })
})
