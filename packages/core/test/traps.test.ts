/** Traps that were found in Node's own HTTP/2 and in undici before a line of this was written, each with its number. T6: http2-failures. */
import { constants } from 'node:http2'
import { createServer as createSecureHttp1 } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pipeline, proxy, reply } from '../src/index.ts'
import { certificate } from './support/certificate.ts'
import { get1, request2, session2 } from './support/clients.ts'
import { ask, DATA, frameClient, GOAWAY, HEADERS } from './support/frames.ts'
import { bodyOf, origin2 } from './support/http2-origin.ts'
import { edge, listen, testUpstream, until } from './support/servers.ts'

describe('T5: Host is not the name of a TLS connection', () => {
  /** Alternating hosts over one connection; the names that the target was asked for. */
  async function through(url: string, protocol: 'h1' | 'h2') {
    const group = testUpstream(url, { protocol, connections: 1, tls: { ca: certificate().cert } })
    const { port } = await edge(pipeline().handle(proxy(group, { host: 'preserve' })))
    const bodies: string[] = []
    for (let i = 0; i < 20; i++)
      bodies.push((await get1(port, '/', [], i % 2 ? 'one.test' : 'two.test')).body)
    return bodies
  }
  const expected = Array.from({ length: 20 }, (_, i) => (i % 2 ? 'one.test' : 'two.test'))

  it('HTTP/1.1: 20 requests with two hosts share a verified connection', async () => {
    const names: unknown[] = []
    const server = createSecureHttp1(certificate(), (req, res) => res.end(req.headers.host))
    server.on('secureConnection', (socket: TLSSocket & { servername?: string | false }) => {
      names.push(socket.servername)
    })
    const port = await listen(server)
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const bodies = await through(`https://localhost:${port}`, 'h1')
    expect(bodies.map(body => body.replace(/^[\s\S]*?([a-z]+\.test)[\s\S]*$/, '$1'))).toEqual(expected)
    expect(names).toEqual(['localhost'])
  })

  it('HTTP/2: the same', async () => {
    const names: unknown[] = []
    const up = await origin2((stream, headers) => {
      stream.respond({ ':status': 200 })
      stream.end(headers[':authority'])
    }, 'h2')
    up.server.on('secureConnection', (socket: TLSSocket & { servername?: string | false }) => {
      names.push(socket.servername)
    })
    const bodies = await through(`https://localhost:${up.port}`, 'h2')
    expect(bodies.map(body => body.replace(/^[\s\S]*?([a-z]+\.test)[\s\S]*$/, '$1'))).toEqual(expected)
    expect([names, up.opened()]).toEqual([['localhost'], 1])
  })
})

describe('T7: what an HTTP/2 client of undici loses', () => {
  it('trailers both ways and interim responses arrive, 50 requests at once share a session', async () => {
    const up = await origin2(async stream => {
      let sent: unknown
      stream.on('trailers', trailers => {
        sent = trailers['x-sent']
      })
      const body = await bodyOf(stream)
      stream.additionalHeaders({ ':status': 103, link: '</a.css>; rel=preload' })
      stream.respond({ ':status': 200 }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-got': `${body}-${sent}` }))
      stream.end('answer')
    })
    const { url } = await edge(pipeline().handle(proxy(testUpstream(up.url, { protocol: 'h2c' }))), 'h2c')
    const session = session2(url)
    const one = (i: number): Promise<unknown> =>
      new Promise(resolve => {
        const headers = { ':method': 'POST', ':path': '/', ':authority': 'edge.test' }
        const stream = session.request(headers, { waitForTrailers: true })
        let interim: unknown
        let trailers: unknown
        stream.on('headers', head => {
          interim = head[':status']
        })
        stream.on('trailers', head => {
          trailers = head['x-got']
        })
        stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sent': `t${i}` }))
        stream.resume()
        stream.on('close', () => resolve([interim, trailers, stream.rstCode]))
        stream.end(`b${i}`)
      })
    const all = await Promise.all(Array.from({ length: 50 }, (_, i) => one(i)))
    expect(all).toEqual(Array.from({ length: 50 }, (_, i) => [103, `b${i}-t${i}`, 0]))
    expect(up.opened()).toBe(1)
  })

  it('20 streams in flight survive the graceful end of their session, the next request gets another', async () => {
    let inFlight = 0
    let go = (): void => {}
    const ready = new Promise<void>(resolve => {
      go = resolve
    })
    const up = await origin2(async stream => {
      inFlight++
      await ready
      stream.respond({ ':status': 200 })
      stream.end('ok')
    })
    const { url } = await edge(pipeline().handle(proxy(testUpstream(up.url, { protocol: 'h2c' }))), 'h2c')
    const session = session2(url)
    const running = Array.from({ length: 20 }, () => request2(session, { ':path': '/' }))
    await until('all of them', () => inFlight === 20)
    for (const one of up.sessions) one.close()
    await new Promise(resolve => setTimeout(resolve, 50))
    go()
    expect((await Promise.all(running)).map(one => [one.status, one.body, one.code])).toEqual(
      Array.from({ length: 20 }, () => [200, 'ok', 0]),
    )
    expect((await request2(session, { ':path': '/' })).body).toBe('ok')
    expect(up.opened()).toBe(2)
  })
})

describe('T8: a busy session is ended in two steps', () => {
  const lastOf = (payload: Buffer): number => payload.readUInt32BE(0)

  it.each(['a drain', 'silence'] as const)(
    'at %s: what runs is answered, what comes in between is named as not processed',
    async why => {
      const waiting: (() => void)[] = []
      const app = pipeline().handle(
        () => new Promise(resolve => waiting.push(() => resolve(reply(200, 'late')))),
      )
      const { port, attached } = await edge(app, 'h2c', why === 'silence' ? { sessionIdleTimeout: 600 } : {})
      const client = frameClient(port)
      client.send(ask(1))
      await until('it runs', () => waiting.length === 1)
      const drained = why === 'a drain' ? attached.drain() : null
      const goaways = (): number[] =>
        client.frames.filter(one => one.type === GOAWAY).map(one => lastOf(one.payload))
      await until('the first', () => goaways().length > 0, 5000)
      client.send(ask(3))
      await until('the last', () => goaways().length > 1, 5000)
      waiting[0]!()
      await until('the answer', () => client.frames.some(one => one.type === DATA))
      // nghttp2 takes no stream once a GOAWAY was sent, whatever that names: the last one lets the client ask elsewhere.
      expect([goaways().slice(0, 2), waiting.length]).toEqual([[2 ** 31 - 1, 1], 1])
      expect(client.frames.filter(one => one.type === HEADERS).map(one => one.stream)).toEqual([1])
      await drained
    },
  )

  it('ends under load 20 times: requests are answered, or refused so that they may be sent again', async () => {
    const { NGHTTP2_REFUSED_STREAM, NGHTTP2_NO_ERROR } = constants
    for (let round = 0; round < 20; round++) {
      const app = pipeline().handle(async () => {
        await new Promise(resolve => setImmediate(resolve))
        return reply(200, 'x'.repeat(2000))
      })
      const { url, attached } = await edge(app, 'h2c')
      const session = session2(url)
      await request2(session, { ':path': '/' })
      let over = false
      let whole = 0
      const worker = async (): Promise<void> => {
        while (!over && !session.closed && !session.destroyed) {
          const { status, body, code } = await request2(session, { ':path': '/' }).catch(() => ({
            // The client has heard GOAWAY before it could send anything.
            status: 0,
            body: '',
            code: NGHTTP2_REFUSED_STREAM,
          }))
          if (status === 200) {
            expect([body.length, code]).toEqual([2000, NGHTTP2_NO_ERROR])
            whole++
          } else expect([status, [NGHTTP2_REFUSED_STREAM, 8].includes(code)]).toEqual([0, true])
        }
      }
      const load = Promise.all(Array.from({ length: 10 }, worker))
      await until('some answers', () => whole > 10, 10_000)
      await attached.drain()
      over = true
      await load
    }
  })
})
