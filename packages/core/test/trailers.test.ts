/** Trailers end to end: requests and replies, HTTP/1.1 and HTTP/2 in front, HTTP/2 behind. */
import { expect, it } from 'vitest'
import { raw1, session2 } from './support/clients.ts'
import { bodyOf, origin2 } from './support/http2-origin.ts'
import { field, proxyEdge, rawOrigin } from './support/servers.ts'

/** An origin that keeps the trailers of requests, and answers with its own. */
async function trailing(kind: 'h2' | 'h2c' = 'h2c'): Promise<{ url: string; raw: () => string[] }> {
  let raw: string[] = []
  const up = await origin2(async stream => {
    stream.on('trailers', (...[, , lines]: unknown[]) => {
      raw = lines as string[]
    })
    await bodyOf(stream)
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '7', 'x-many': ['a', 'b'] }))
    stream.end('body')
  }, kind)
  return { url: up.url, raw: () => raw }
}

it('of an HTTP/1.1 client', async () => {
  const up = await trailing()
  const { port } = await proxyEdge(up.url, 'http', { protocol: 'h2c' })
  const reply = await raw1(
    port,
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\nTE: trailers\r\nConnection: close\r\n\r\n' +
      '2\r\nhi\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n',
  )
  expect(up.raw()).toEqual(['x-sum', '1', 'x-sum', '2'])
  expect(reply.body).toMatch(/0\r\nx-sum: 7\r\nx-many: a\r\nx-many: b\r\n\r\n$/)
})

it('of an HTTP/2 client', async () => {
  const up = await trailing()
  const { url } = await proxyEdge(up.url, 'h2c', { protocol: 'h2c' })
  const stream = session2(url).request(
    { ':method': 'POST', ':path': '/', ':authority': 'a' },
    { waitForTrailers: true },
  )
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 'ü' }))
  let raw: string[] = []
  stream.on('trailers', (_fields, _flags, lines: string[]) => {
    raw = lines
  })
  stream.end('hi')
  expect((await bodyOf(stream)).toString()).toBe('body')
  expect(up.raw()).toEqual(['x-sum', 'ü'])
  expect(raw).toEqual(['x-sum', '7', 'x-many', 'a', 'x-many', 'b'])
})

it('what frames, routes or identifies is no trailer (RFC 9110, 6.5.1)', async () => {
  const up = await trailing()
  const { port } = await proxyEdge(up.url, 'http', { protocol: 'h2c' })
  const reply = await raw1(
    port,
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nhi\r\n0\r\n' +
      'Host: evil\r\nX-Forwarded-For: 1.2.3.4\r\nX_Forwarded_For: 1\r\nAuthorization: x\r\nCookie: a=1\r\n' +
      'X-Ok: 1\r\n\r\n',
  )
  expect(reply.status).toBe(200)
  expect(up.raw()).toEqual(['x-ok', '1'])
  expect(field(reply.raw, 'x-sum')).toBeUndefined()
})

it('each answer keeps its own when the next one follows on the same upstream connection', async () => {
  const up = await rawOrigin(socket =>
    socket.on('data', (bytes: Buffer) => {
      const name = /^GET \/(\w+)/.exec(bytes.toString('latin1'))![1]
      const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n'
      socket.write(`${head}1\r\n${name}\r\n0\r\nX-Sum: sum-${name}\r\n\r\n`)
    }),
  )
  const { port } = await proxyEdge(up.url, 'http', { connections: 1 })
  const replies = await Promise.all(
    ['a', 'b', 'c'].map(name =>
      raw1(port, `GET /${name} HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: close, TE\r\n\r\n`),
    ),
  )
  expect(replies.map(one => one.body)).toEqual(
    ['a', 'b', 'c'].map(name => `1\r\n${name}\r\n0\r\nX-Sum: sum-${name}\r\n\r\n`),
  )
})
