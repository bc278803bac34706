/** What HTTP/2 upstreams do wrong, or rightly refuse: nothing is lost, nothing sent twice, nothing cut looks whole. */
import { describe, expect, it } from 'vitest'
import { type Outcome, pipeline, proxy } from '../src/index.ts'
import { get1, openSocket, raw1, request2, session2 } from './support/clients.ts'
import {
  answer,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  frameOrigin,
  GOAWAY,
  goaway,
  HEADERS,
  RST_STREAM,
  rst,
  u32,
  WINDOW_UPDATE,
} from './support/frames.ts'
import { bodyOf, origin2 } from './support/http2-origin.ts'
import { edge, proxyEdge, testUpstream, until } from './support/servers.ts'

const h2c = { protocol: 'h2c' } as const
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const window = (stream: number, bytes: number): Buffer => frame(WINDOW_UPDATE, 0, stream, u32(bytes))
const text = (stream: number, body: string, flags = 0): Buffer =>
  frame(DATA, flags, stream, Buffer.from(body))

describe('B003: GOAWAY', () => {
  it('after an answer: the next requests go to a new session', async () => {
    const up = await frameOrigin((one, socket) => {
      if (one.type !== HEADERS) return
      socket.write(
        Buffer.concat([answer(one.stream, 200), text(one.stream, 'ok', END_STREAM), goaway(one.stream)]),
      )
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    for (let i = 0; i < 10; i++) expect((await get1(port, '/')).status).toBe(200)
    expect(up.connections()).toBe(10)
  })

  it('streams up to the last one go on, the others are sent again', async () => {
    const first: number[] = []
    const up = await frameOrigin((one, socket, connection) => {
      if (one.type !== HEADERS) return
      if (connection > 1) {
        socket.write(Buffer.concat([answer(one.stream, 200), text(one.stream, 'two', END_STREAM)]))
        return
      }
      first.push(one.stream)
      if (first.length < 6) return
      // Three of six are taken; they are answered a little later.
      socket.write(goaway(first[2]!))
      setTimeout(() => {
        for (const id of first.slice(0, 3)) {
          socket.write(Buffer.concat([answer(id, 200), text(id, 'one', END_STREAM)]))
        }
      }, 30)
    })
    const { url } = await proxyEdge(up.url, 'h2c', h2c)
    const client = session2(url)
    const replies = await Promise.all(Array.from({ length: 6 }, () => request2(client, { ':path': '/' })))
    expect(replies.map(reply => reply.body).sort()).toEqual(['one', 'one', 'one', 'two', 'two', 'two'])
    expect(up.connections()).toBe(2)
  })

  it('a small upload is sent again, whole and with its trailers', async () => {
    const up = await frameOrigin((one, socket, connection) => {
      if (connection === 1) {
        // Part of the body is here.
        if (one.type === DATA) socket.write(goaway(0))
      } else if (one.flags & END_STREAM && one.type !== 4) {
        socket.write(answer(one.stream, 204, [], END_HEADERS | END_STREAM))
      }
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    const socket = openSocket(port)
    let got = ''
    socket.on('data', bytes => {
      got += bytes
    })
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n')
    await until('the other session', () => up.connections() === 2)
    socket.write('6\r\nsecond\r\n0\r\nX-Sum: 1\r\n\r\n')
    await until('the answer', () => got.startsWith('HTTP/1.1 204'))
    const second = up.frames.slice(
      up.frames.findLastIndex(one => one.type === HEADERS && !(one.flags & END_STREAM)),
    )
    const body = second.filter(one => one.type === DATA).map(one => one.payload.toString())
    expect(body.join('')).toBe('firstsecond')
    expect(second.filter(one => one.type === HEADERS)).toHaveLength(2)
  })

  it('a large upload is not sent again, and the failure says that it was not processed', async () => {
    const outcomes: Outcome[] = []
    let received = 0
    const up = await frameOrigin((one, socket) => {
      if (one.type !== DATA) return
      received += one.payload.length
      // More than is kept.
      if (received > 65_536 - 16_384)
        socket.write(Buffer.concat([window(0, 65_536), window(one.stream, 65_536)]))
      if (received > 80_000) socket.write(goaway(0))
    })
    const app = pipeline()
      .use({ name: 'see', onDone: (_cx, outcome) => void outcomes.push(outcome) })
      .handle(proxy(testUpstream(up.url, h2c)))
    const { port } = await edge(app)
    const size = 200_000
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\nConnection: close\r\n\r\n`
    const reply = await raw1(port, head + 'x'.repeat(size))
    expect(reply.status).toBe(502)
    expect(outcomes[0]!.error).toMatchObject({ code: 'upstream-reset', unprocessed: true, retryable: true })
    expect(up.frames.filter(one => one.type === HEADERS)).toHaveLength(1)
  })

  it('a graceful end of real servers fails nobody', async () => {
    const up = await origin2(stream => {
      setTimeout(() => {
        if (stream.destroyed) return
        stream.respond({ ':status': 200 })
        stream.end('ok')
      }, 40)
    })
    const { url } = await proxyEdge(up.url, 'h2c', h2c)
    const client = session2(url)
    const running = Array.from({ length: 20 }, () => request2(client, { ':path': '/' }))
    await until('the session', () => up.sessions.size === 1)
    await new Promise(resolve => setTimeout(resolve, 15))
    for (const session of up.sessions) session.goaway(0)
    const later = Array.from({ length: 5 }, () => request2(client, { ':path': '/' }))
    const replies = await Promise.all([...running, ...later])
    expect(replies.map(reply => reply.status)).toEqual(Array(25).fill(200))
  })

  it('the client hears GOAWAY from nobody but the edge', async () => {
    const up = await frameOrigin((one, socket) => {
      if (one.type === HEADERS) {
        socket.write(
          Buffer.concat([answer(one.stream, 200, [], END_HEADERS | END_STREAM), goaway(one.stream, 11)]),
        )
      }
    })
    const { url } = await proxyEdge(up.url, 'h2c', h2c)
    const client = session2(url)
    let told = false
    client.on('goaway', () => {
      told = true
    })
    for (let i = 0; i < 3; i++) expect((await request2(client, { ':path': '/' })).status).toBe(200)
    expect(told).toBe(false)
  })
})

describe('B003: REFUSED_STREAM', () => {
  it('a refused request is sent again once', async () => {
    let asked = 0
    const up = await frameOrigin((one, socket) => {
      if (one.type !== HEADERS) return
      if (++asked % 2 === 1) socket.write(rst(one.stream, 7))
      else socket.write(Buffer.concat([answer(one.stream, 200), text(one.stream, 'ok', END_STREAM)]))
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    for (let i = 0; i < 4; i++) expect((await get1(port, '/')).status).toBe(200)
    expect(asked).toBe(8)
  })

  it('not more than once', async () => {
    let asked = 0
    const up = await frameOrigin((one, socket) => {
      if (one.type !== HEADERS) return
      asked++
      socket.write(rst(one.stream, 7))
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    expect((await get1(port, '/')).status).toBe(502)
    expect(asked).toBe(2)
  })

  it('any other reset is not', async () => {
    let asked = 0
    const up = await frameOrigin((one, socket) => {
      if (one.type !== HEADERS) return
      asked++
      socket.write(rst(one.stream, 2))
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    expect((await get1(port, '/')).status).toBe(502)
    expect(asked).toBe(1)
  })
})

describe('B007, T6: bodies cut half-way', () => {
  const cuts: [string, (id: number) => Buffer, 'end' | 'reset' | null][] = [
    ['RST_STREAM(CANCEL)', id => rst(id, 8), null],
    ['RST_STREAM(NO_ERROR)', id => rst(id, 0), null],
    ['RST_STREAM(INTERNAL_ERROR)', id => rst(id, 2), null],
    ['GOAWAY with an error', id => goaway(id, 2), null],
    ['FIN', () => Buffer.alloc(0), 'end'],
    ['RST of TCP', () => Buffer.alloc(0), 'reset'],
    ['END_STREAM before the announced length', id => text(id, '', END_STREAM), null],
  ]
  describe.each(cuts)('%s', (name, cut, then) => {
    const announced = name.startsWith('END_STREAM')
    /** An origin that sends a part, and cuts it off when it is told that somebody has read that. */
    async function make(): Promise<{ url: string; cutNow: () => void }> {
      let cutNow = (): void => {}
      const up = await frameOrigin((one, socket) => {
        if (one.type !== HEADERS) return
        const fields = announced ? ([['content-length', '100']] as const) : []
        socket.write(Buffer.concat([answer(one.stream, 200, fields), text(one.stream, 'abc')]))
        cutNow = () => {
          if (then === 'reset') socket.resetAndDestroy()
          else if (then === 'end') socket.end()
          else socket.write(cut(one.stream))
        }
      })
      return { url: up.url, cutNow: () => cutNow() }
    }

    it('an h1 client sees a reset', async () => {
      const up = await make()
      const { port } = await proxyEdge(up.url, 'http', h2c)
      const socket = openSocket(port)
      let got = ''
      let closed = false
      socket.on('data', bytes => {
        got += bytes.toString('latin1')
      })
      socket.on('close', () => {
        closed = true
      })
      socket.write(GET)
      await until('the part', () => got.includes('abc'))
      up.cutNow()
      await until('the reset', () => closed)
      expect(got).not.toMatch(/\r\n0\r\n/)
    })

    it('an h2 client sees RST_STREAM', async () => {
      const up = await make()
      const { url } = await proxyEdge(up.url, 'h2c', h2c)
      const stream = session2(url).request({ ':path': '/', ':authority': 'a' })
      stream.on('error', () => {})
      stream.on('data', () => up.cutNow())
      await new Promise(resolve => stream.on('close', resolve))
      expect(stream.rstCode).toBe(2)
    })
  })
})

it('RST_STREAM(NO_ERROR) behind all that was announced is an end, as servers of Node say it', async () => {
  const up = await frameOrigin((one, socket) => {
    if (one.type !== HEADERS) return
    socket.write(
      Buffer.concat([
        answer(one.stream, 200, [['content-length', '3']]),
        text(one.stream, 'abc'),
        rst(one.stream, 0),
      ]),
    )
  })
  const { url } = await proxyEdge(up.url, 'h2c', h2c)
  const reply = await request2(session2(url), { ':path': '/' })
  expect([reply.status, reply.body, reply.code]).toEqual([200, 'abc', 0])
})

describe('B010: early answers', () => {
  it('the answer passes and the upload stops', async () => {
    let code = -1
    let received = 0
    const up = await origin2(stream => {
      stream.respond({ ':status': 413 })
      stream.end('too much')
      stream.on('data', bytes => {
        received += bytes.length
      })
      stream.on('close', () => {
        code = stream.rstCode
      })
    })
    const { url } = await proxyEdge(up.url, 'h2c', h2c)
    const client = session2(url)
    const stream = client.request({ ':path': '/', ':method': 'POST', ':authority': 'a' })
    stream.on('error', () => {})
    stream.write('some')
    const head = await new Promise<{ ':status'?: number }>(resolve => stream.once('response', resolve))
    expect(head[':status']).toBe(413)
    expect((await bodyOf(stream)).toString()).toBe('too much')
    await until('the end of the upload', () => code !== -1)
    expect(received).toBeLessThanOrEqual(4)
    expect((await request2(client, { ':path': '/', ':method': 'POST' }, 'x')).status).toBe(413)
  })
})

describe('malformed answers', () => {
  const cases: [string, (id: number) => Buffer][] = [
    ['no :status', id => frame(HEADERS, END_HEADERS | END_STREAM, id, Buffer.from('\0\x01x\x011', 'latin1'))],
    ['a length, and END_STREAM with the head (B013)', id => answer(id, 200, [['content-length', '10']], 5)],
    ['a connection field', id => answer(id, 200, [['connection', 'close']], 5)],
    ['an upper-case name', id => answer(id, 200, [['X-A', '1']], 5)],
  ]
  it.each(cases)('%s: 502, and the session lives on', async (_name, make) => {
    let bad = true
    const up = await frameOrigin((one, socket) => {
      if (one.type !== HEADERS) return
      socket.write(bad ? make(one.stream) : answer(one.stream, 204, [], END_HEADERS | END_STREAM))
      bad = false
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    expect((await get1(port, '/')).status).toBe(502)
    expect((await get1(port, '/')).status).toBe(204)
  })

  it('a broken frame: the request runs out of time, the next one gets another session', async () => {
    // Node 20 ends such a session in silence, and tells nobody; later ones close it.
    const up = await frameOrigin((one, socket, connection) => {
      if (one.type !== HEADERS) return
      socket.write(
        connection === 1
          ? text(one.stream, 'x', END_STREAM)
          : answer(one.stream, 204, [], END_HEADERS | END_STREAM),
      )
    })
    const options = { ...h2c, timeouts: { head: 100 }, http2: { pingTimeout: 50 } }
    const { port } = await proxyEdge(up.url, 'http', options)
    expect([502, 504]).toContain((await get1(port, '/')).status)
    expect((await get1(port, '/')).status).toBe(204)
    await until('the first session to close', () => up.sockets.size === 1)
  })

  it('B015: a request that HTTP/2 cannot carry harms nobody else', async () => {
    const up = await frameOrigin((one, socket) => {
      if (one.type === HEADERS) socket.write(answer(one.stream, 204, [], END_HEADERS | END_STREAM))
    })
    const { port } = await proxyEdge(up.url, 'http', h2c)
    expect((await get1(port, '/')).status).toBe(204)
    expect((await get1(port, '/', ['Content-Type: a/b', 'Content-Type: c/d'])).status).toBe(400)
    expect((await get1(port, '/', ['If-None-Match: "a"', 'If-None-Match: "b"'])).status).toBe(204)
    for (const te of ['trailers, deflate;q=0.5', 'gzip', 'trailers']) {
      expect((await get1(port, '/', [`TE: ${te}`, 'TE: x'])).status).toBe(204)
    }
    expect(up.connections()).toBe(1)
    expect(up.frames.some(one => one.type === RST_STREAM || one.type === GOAWAY)).toBe(false)
  })
})
