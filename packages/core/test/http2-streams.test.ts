/** Over HTTP/2 upstreams: events as they come, interim answers, Expect, replies without a body, waiting on both sides. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { accessLog, baseline, pipeline, proxy } from '../src/index.ts'
import { exchangeBytes, get1, openSocket, raw1, request2, session2 } from './support/clients.ts'
import { answer, END_HEADERS, END_STREAM, frameOrigin, HEADERS } from './support/frames.ts'
import { bodyOf, origin2 } from './support/http2-origin.ts'
import { edge, field, onWire, proxyEdge, testUpstream, until } from './support/servers.ts'

const h2c = { protocol: 'h2c' } as const

describe('event streams and long polling', () => {
  it.each(['http', 'https', 'h2c', 'h2'] as const)(
    'each event arrives before the next is sent, through gates and log (%s)',
    async kind => {
      let say: ((text: string) => void) | null = null
      const up = await origin2(stream => {
        stream.respond({ ':status': 200, 'content-type': 'text/event-stream' })
        say = text => stream.write(text)
      })
      const app = pipeline()
        .use(accessLog({ skip: () => true }))
        .use(baseline())
        .handle(proxy(testUpstream(up.url, h2c)))
      const { url } = await edge(app, kind)
      const stream = session2OrFetch(kind, url)
      let got = ''
      stream(text => {
        got += text
      })
      await until('the upstream', () => say !== null)
      for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
        say!(event)
        await until(event, () => got.includes(event))
      }
    },
  )

  it('a poll that waits is answered when there is something to say', async () => {
    let answerNow: (() => void) | null = null
    const up = await origin2(stream => {
      answerNow = () => {
        stream.respond({ ':status': 200 })
        stream.end('news')
      }
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    const reply = get1(port, '/')
    await until('the poll', () => answerNow !== null)
    await new Promise(resolve => setTimeout(resolve, 100))
    answerNow!()
    expect((await reply).body).toContain('news')
  })
})

/** Reads a stream over whatever the edge speaks. */
function session2OrFetch(kind: string, url: string): (onText: (text: string) => void) => void {
  if (kind.startsWith('h2')) {
    return onText => {
      const stream = session2(url).request({ ':path': '/', ':authority': new URL(url).host })
      stream.on('error', () => {})
      stream.on('data', bytes => onText(String(bytes)))
    }
  }
  return onText => {
    void import(kind === 'https' ? 'node:https' : 'node:http').then(({ get }) => {
      const request = get(url, { rejectUnauthorized: false }, (res: NodeJS.ReadableStream) => {
        res.on('data', bytes => onText(String(bytes)))
        res.on('error', () => {})
      })
      request.on('error', () => {})
    })
  }
}

describe('interim responses', () => {
  it('B018: 102 and 103 pass in order and leave no trace in the final head', async () => {
    const up = await origin2(stream => {
      stream.additionalHeaders({ ':status': 102 })
      stream.additionalHeaders({ ':status': 103, link: '</a>' })
      stream.additionalHeaders({ ':status': 103, link: '</b>' })
      stream.respond({ ':status': 200, x: '1' })
      stream.end('ok')
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    const { text } = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([102, 103, 103, 200].map(status => `HTTP/1.1 ${status}`))
    expect(text.slice(text.indexOf('HTTP/1.1 200'))).not.toContain('link')
    const h2 = await proxyEdge(up.url, 'h2c', h2c)
    const stream = session2(h2.url).request({ ':path': '/', ':authority': 'a' })
    const interim: unknown[] = []
    stream.on('headers', headers => interim.push([headers[':status'], headers.link]))
    await new Promise(resolve => stream.once('response', resolve))
    stream.resume()
    expect(interim).toEqual([
      [102, undefined],
      [103, '</a>'],
      [103, '</b>'],
    ])
  })

  it('B017: a 100 that nobody asked for is no answer', async () => {
    const up = await frameOrigin((one, socket) => {
      if (one.type !== HEADERS) return
      socket.write(answer(one.stream, 100))
      socket.write(answer(one.stream, 204, [], END_HEADERS | END_STREAM))
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    const { text } = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 204'])
  })
})

describe('Expect: 100-continue, end to end', () => {
  const POST =
    'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n'

  it('the client is told to go on when the upstream says so', async () => {
    let goOn: (() => void) | null = null
    const up = await origin2(async stream => {
      expect(stream.sentHeaders).toBeUndefined()
      goOn = () => stream.additionalHeaders({ ':status': 100 })
      const body = await bodyOf(stream)
      stream.respond({ ':status': 200 })
      stream.end(`got ${body}`)
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    const socket = openSocket(port)
    let got = ''
    socket.on('data', bytes => {
      got += bytes
    })
    socket.write(POST)
    await until('the request', () => goOn !== null)
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(got).toBe('')
    goOn!()
    await until('the 100', () => got.startsWith('HTTP/1.1 100'))
    socket.write('hi')
    await until('the answer', () => got.includes('got hi'))
  })

  it('a refusal comes instead, and no byte of the body is asked for', async () => {
    let received = 0
    const up = await origin2(stream => {
      stream.on('data', bytes => {
        received += bytes.length
      })
      stream.respond({ ':status': 401 })
      stream.end('who?')
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    const got = await raw1(port, POST)
    expect([got.status, got.closed]).toEqual([401, true])
    expect(got.body).toContain('who?')
    expect(received).toBe(0)
  })

  it('an upstream that says nothing gets the body all the same', async () => {
    const up = await origin2(async stream => {
      const body = await bodyOf(stream)
      stream.respond({ ':status': 200 })
      stream.end(`got ${body}`)
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    const socket = openSocket(port)
    let got = ''
    socket.on('data', bytes => {
      got += bytes
      if (String(bytes).includes(' 100 ')) socket.write('hi')
    })
    socket.write(POST)
    await until('the answer', () => got.includes('got hi'))
  })
})

describe('replies without a body', () => {
  const heads: [string, number, Record<string, string>][] = [
    ['GET', 204, { etag: '"a"' }],
    ['GET', 205, {}],
    ['GET', 304, { etag: '"a"', 'content-length': '500' }],
    ['HEAD', 200, { 'content-length': '12345', 'content-encoding': 'gzip', etag: '"a"' }],
    ['HEAD', 404, {}],
  ]
  it.each(heads)('B019, B020: %s %i', async (method, status, fields) => {
    const up = await frameOrigin((one, socket) => {
      if (one.type !== HEADERS) return
      socket.write(answer(one.stream, status, Object.entries(fields), END_HEADERS | END_STREAM))
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    // Two on one connection: the first ends where it should.
    const one = `${method} / HTTP/1.1\r\nHost: a\r\n\r\n`
    const { text } = await exchangeBytes(port, one + one)
    const heads1 = text.split('\r\n\r\n')
    expect(heads1).toHaveLength(3)
    expect(heads1[2]).toBe('')
    for (const head of heads1.slice(0, 2)) {
      expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      for (const [name, value] of Object.entries(fields)) expect(head).toContain(`\r\n${name}: ${value}`)
      expect(head).not.toMatch(/transfer-encoding/i)
    }
    const h2 = await proxyEdge(up.url, 'h2c', h2c)
    const reply = await request2(session2(h2.url), { ':method': method, ':path': '/' })
    expect([reply.status, reply.body, reply.code]).toEqual([status, '', 0])
    for (const [name, value] of Object.entries(fields)) expect(reply.headers[name]).toBe(value)
  })

  it('an empty 200 is an empty 200', async () => {
    const up = await origin2(stream => stream.respond({ ':status': 200, 'x-a': '1' }, { endStream: true }))
    const { port } = await proxyEdge(up.url, 'http', h2c)
    const got = await get1(port, '/')
    // Nothing said how long it is: node:http sends the last chunk alone, the wire a length of 0.
    const empty = onWire ? '' : '0\r\n\r\n'
    expect([got.status, got.body, field(got.raw, 'x-a')]).toEqual([200, empty, '1'])
  })
})

describe('B045: backpressure', () => {
  const SIZE = 32 << 20

  it.each(['http', 'h2c'] as const)('a client that does not read stops the upstream (%s)', async kind => {
    let sent = 0
    const up = await origin2(stream => {
      stream.respond({ ':status': 200, 'content-length': SIZE })
      const chunk = Buffer.alloc(65_536)
      const pump = (): void => {
        while (sent < SIZE && !stream.destroyed) {
          sent += chunk.length
          if (!stream.write(chunk)) return void stream.once('drain', pump)
        }
        stream.end()
      }
      pump()
    })
    const { port, url } = await proxyEdge(up.url, kind, h2c)
    let received = 0
    const readable =
      kind === 'http' ? openSocket(port) : session2(url).request({ ':path': '/', ':authority': 'a' })
    readable.on('error', () => {})
    readable.pause()
    if (kind === 'http') openedWrite(readable, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await settled(() => sent)
    expect(sent).toBeLessThan(SIZE / 2)
    // Others on the same session go on meanwhile: their streams have windows of their own.
    readable.on('data', bytes => {
      received += bytes.length
    })
    readable.resume()
    for (let i = 0; i < 200 && received < SIZE; i++) await new Promise(resolve => setTimeout(resolve, 50))
    expect(received).toBeGreaterThanOrEqual(SIZE)
  })

  it('one slow reader does not stop the others of its session', async () => {
    const up = await origin2((stream, headers) => {
      stream.respond({ ':status': 200 })
      if (headers[':path'] !== '/large') return void stream.end('small')
      const chunk = Buffer.alloc(65_536)
      const pump = (): void => {
        while (!stream.destroyed) if (!stream.write(chunk)) return void stream.once('drain', pump)
      }
      pump()
    })
    const { url } = await proxyEdge(up.url, 'h2c', h2c)
    const slow = Array.from({ length: 30 }, () => {
      const stream = session2(url).request({ ':path': '/large', ':authority': 'a' })
      stream.on('error', () => {})
      stream.pause()
      return stream
    })
    await Promise.all(slow.map(stream => new Promise(resolve => stream.once('response', resolve))))
    await new Promise(resolve => setTimeout(resolve, 200))
    expect((await request2(session2(url), { ':path': '/' })).body).toBe('small')
    expect(up.opened()).toBe(1)
  })

  it.each(['http', 'h2c'] as const)('an upstream that does not read stops the client (%s)', async kind => {
    const up = await origin2(stream => stream.pause())
    const { port, url } = await proxyEdge(up.url, kind, { ...h2c, timeouts: { idle: 60_000 } })
    const writable =
      kind === 'http'
        ? openSocket(port)
        : session2(url).request({ ':path': '/', ':method': 'POST', ':authority': 'a' })
    writable.on('error', () => {})
    if (kind === 'http')
      openedWrite(writable, `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${SIZE}\r\n\r\n`)
    let sent = 0
    const chunk = Buffer.alloc(65_536)
    const pump = (): void => {
      while (sent < SIZE) {
        sent += chunk.length
        if (!writable.write(chunk)) return void writable.once('drain', pump)
      }
    }
    pump()
    await settled(() => sent)
    expect(sent).toBeLessThan(SIZE / 2)
    writable.destroy()
  })

  it('20 MB go up and come back whole', async () => {
    const up = await origin2(stream => {
      stream.respond({ ':status': 200 })
      stream.pipe(stream)
    })
    const { url } = await proxyEdge(up.url, 'h2c', h2c)
    const stream = session2(url).request({ ':path': '/', ':method': 'POST', ':authority': 'a' })
    const sent = createHash('sha256')
    const chunk = Buffer.alloc(65_521)
    let left = 320
    const pump = (): void => {
      while (left-- > 0) {
        chunk.fill(left & 255)
        sent.update(chunk)
        if (!stream.write(Buffer.from(chunk))) return void stream.once('drain', pump)
      }
      stream.end()
    }
    pump()
    const got = createHash('sha256')
    stream.on('data', bytes => got.update(bytes))
    await new Promise(resolve => stream.on('close', resolve))
    expect(stream.rstCode).toBe(0)
    expect(got.digest('hex')).toBe(sent.digest('hex'))
  })
})

function openedWrite(stream: NodeJS.WritableStream | { write(text: string): unknown }, text: string): void {
  stream.write(text)
}

/** Waits until a number has not changed for a while. */
async function settled(read: () => number): Promise<void> {
  let before = -1
  let calm = 0
  while (calm < 6) {
    await new Promise(resolve => setTimeout(resolve, 50))
    const now = read()
    calm = now > 0 && now === before ? calm + 1 : 0
    before = now
  }
}
