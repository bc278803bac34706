/** Fields that HTTP/2 allows once, and interim responses: what an upstream says twice or early must not cost its answer. */
import { describe, expect, it } from 'vitest'
import { HeaderList, pipeline, reply } from '../src/index.ts'
import { exchangeBytes, request2, session2 } from './support/clients.ts'
import { edge, fields, proxyEdge, scripted } from './support/servers.ts'

const TWICE = [
  'X-Content-Type-Options: nosniff',
  'X-Content-Type-Options: nosniff',
  'ETag: "a"',
  'ETag: "b"',
  'Content-Type: text/plain',
  'Content-Type: text/html',
  'Location: /a',
  'Location: /b',
  'Age: 1',
  'Age: 2',
  'Content-Language: de',
  'Content-Language: en',
  'Retry-After: 1',
  'Retry-After: 2',
  'Set-Cookie: a=1',
  'Set-Cookie: b=2',
  'Vary: A',
  'Vary: B',
].join('\r\n')

describe('fields that an upstream repeats', () => {
  it('pass over h1 as they are', async () => {
    const up = await scripted(`HTTP/1.1 200 OK\r\n${TWICE}\r\nContent-Length: 2\r\n\r\nok`)
    const { port } = await proxyEdge(up.url)
    const { text } = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    expect(text).toContain(`HTTP/1.1 200 OK\r\n${TWICE}\r\n`)
  })

  it('are merged over h2: lists are joined, single values are the first', async () => {
    const up = await scripted(`HTTP/1.1 200 OK\r\n${TWICE}\r\nContent-Length: 2\r\n\r\nok`)
    const { url } = await proxyEdge(up.url, 'h2c')
    const answer = await request2(session2(url), { ':path': '/' })
    expect(answer).toMatchObject({ status: 200, body: 'ok', code: 0 })
    expect(answer.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      etag: '"a"',
      'content-type': 'text/plain',
      location: '/a',
      age: '1',
      'content-language': 'de, en',
      'retry-after': '1',
      'set-cookie': ['a=1', 'b=2'],
    })
    expect(fields(answer.raw, 'vary')).toEqual(['A', 'B'])
  })

  it('in a 103 leave the final reply alone', async () => {
    const up = await scripted(
      'HTTP/1.1 103 Early Hints\r\nETag: "a"\r\nETag: "b"\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    )
    const { url } = await proxyEdge(up.url, 'h2c')
    const stream = session2(url).request({ ':path': '/', ':authority': 'a.test' })
    const interim: unknown[] = []
    stream.on('headers', head => interim.push([head[':status'], head.etag, head.link]))
    const head = await new Promise<{ ':status'?: number }>(resolve => stream.once('response', resolve))
    stream.resume()
    expect([head[':status'], interim]).toEqual([200, [[103, '"a"', '</a>']]])
  })

  it('in trailers are merged, too', async () => {
    const up = await scripted(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nETag: "a"\r\nETag: "b"\r\n\r\n',
    )
    const { url } = await proxyEdge(up.url, 'h2c')
    const stream = session2(url).request({ ':path': '/', ':authority': 'a.test' })
    stream.resume()
    const trailers = await new Promise<Record<string, unknown>>(resolve => stream.once('trailers', resolve))
    expect(trailers.etag).toBe('"a"')
  })
})

describe('interim responses', () => {
  const SCRIPT =
    'HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /up\r\n\r\nHTTP/1.1 199 Own\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

  it('of any number but 100 and 101 pass over h1', async () => {
    const up = await scripted(SCRIPT)
    const { port } = await proxyEdge(up.url)
    const { text } = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 104', 'HTTP/1.1 199', 'HTTP/1.1 200'])
    expect(text).toContain('Location: /up\r\n\r\nHTTP/1.1 199')
  })

  it('and over h2', async () => {
    const up = await scripted(SCRIPT)
    const { url } = await proxyEdge(up.url, 'h2c')
    const stream = session2(url).request({ ':path': '/', ':authority': 'a.test' })
    const seen: unknown[] = []
    stream.on('headers', head => seen.push(head[':status']))
    await new Promise(resolve => stream.once('response', resolve))
    stream.resume()
    expect(seen).toEqual([104, 199])
  })

  const telling = (status: number, list: HeaderList) =>
    pipeline().handle(cx => {
      try {
        cx.inform(status, list)
        return reply(200, 'told')
      } catch (error) {
        return reply(200, `${(error as Error).name}: ${(error as Error).message}`)
      }
    })

  it('inform(100) is sent', async () => {
    const app = telling(100, new HeaderList())
    const { port } = await edge(app)
    const { text } = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200/)
    const { url } = await edge(app, 'h2c')
    const stream = session2(url).request({ ':path': '/', ':authority': 'a.test' })
    let asked = 0
    stream.on('continue', () => {
      asked++
    })
    await new Promise(resolve => stream.once('response', resolve))
    stream.resume()
    expect(asked).toBe(1)
    expect((await app.inject()).interim.map(one => one.status)).toEqual([100])
  })

  it.each([
    ['a status of 101', 101, []],
    ['a final status', 200, []],
    ['a fraction', 103.5, []],
    ['a name that ends its line', 103, ['X\r\nEvil: 1\r\nY', '1']],
    ['a value that ends its line', 103, ['Link', '</a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n']],
    ['a length', 103, ['Content-Length', '5']],
  ] as const)('%s is refused where it is made, and nothing of it is written', async (_what, status, raw) => {
    const app = telling(status, new HeaderList([...raw]))
    const { port } = await edge(app)
    const { text } = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
    expect(text).not.toMatch(/evil/i)
    expect(text).toMatch(/\r\n\r\nTypeError: /)
    const { url } = await edge(app, 'h2c')
    const stream = session2(url).request({ ':path': '/', ':authority': 'a.test' })
    const interim: unknown[] = []
    stream.on('headers', head => interim.push(head))
    const head = await new Promise<{ ':status'?: number }>(resolve => stream.once('response', resolve))
    stream.resume()
    expect([head[':status'], interim]).toEqual([200, []])
    const injected = await app.inject()
    expect([injected.text().slice(0, 10), injected.interim]).toEqual(['TypeError:', []])
  })
})
