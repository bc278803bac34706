/** HTTP/2 towards upstreams: what comes back is what was sent, on as few sessions as will do. */
import { createServer as createHttps } from 'node:https'
import type { Server } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ConfigError, pipeline, proxy, upstream } from '../src/index.ts'
import { certificate } from './support/certificate.ts'
import { exchangeBytes, get1, openSocket, raw1, request2, session2 } from './support/clients.ts'
import { answer, frameOrigin, HEADERS, PING } from './support/frames.ts'
import { bodyOf, origin2 } from './support/http2-origin.ts'
import { edge, field, fields, listen, proxyEdge, scripted, testUpstream, until } from './support/servers.ts'

const tls = { ca: certificate().cert }

describe.each(['h2c', 'h2'] as const)('to %s', kind => {
  const options = { protocol: kind, tls }

  it('a request passes with its body, and its answer comes back', async () => {
    const seen: { raw: string[]; body: string }[] = []
    const up = await origin2(async (stream, _headers, raw) => {
      const body = (await bodyOf(stream)).toString()
      seen.push({ raw, body })
      stream.respond({ ':status': 201, 'x-a': ['1', '2'], 'set-cookie': ['a=1', 'b=2'] })
      stream.end(`got ${body}`)
    }, kind)
    const { port } = await proxyEdge(up.url, 'http', options)
    const reply = await raw1(
      port,
      'POST /a//b?x=%2f HTTP/1.1\r\nHost: Edge.test\r\nX-A: 1\r\nx-a: 2\r\nCookie: a=1; b=2; c=3\r\nTE: trailers, gzip\r\n' +
        'Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nContent-Length: 2\r\n\r\nhi',
    )
    expect(reply.status).toBe(201)
    expect(fields(reply.raw, 'x-a')).toEqual(['1', '2'])
    expect(fields(reply.raw, 'set-cookie')).toEqual(['a=1', 'b=2'])
    expect(reply.body).toContain('got hi')
    const { raw } = seen[0]!
    expect(field(raw, ':path')).toBe('/a//b?x=%2f')
    expect(field(raw, ':authority')).toBe('edge.test')
    expect(field(raw, ':scheme')).toBe(kind === 'h2' ? 'https' : 'http')
    expect(field(raw, 'host')).toBeUndefined()
    expect(fields(raw, 'x-a')).toEqual(['1', '2'])
    expect(fields(raw, 'cookie').join('; ')).toBe('a=1; b=2; c=3')
    expect(field(raw, 'te')).toBe('trailers')
    for (const name of ['connection', 'keep-alive', 'x-hop', 'transfer-encoding', 'upgrade']) {
      expect(field(raw, name)).toBeUndefined()
    }
  })

  it('requests share a session', async () => {
    const up = await origin2(stream => {
      setTimeout(() => {
        stream.respond({ ':status': 200 })
        stream.end('ok')
      }, 20)
    }, kind)
    const { url } = await proxyEdge(up.url, 'h2c', options)
    const client = session2(url)
    const replies = await Promise.all(Array.from({ length: 50 }, () => request2(client, { ':path': '/' })))
    expect(replies.every(reply => reply.status === 200 && reply.body === 'ok')).toBe(true)
    expect(up.opened()).toBe(1)
  })
})

it('bytes above 0x7f pass in both directions', async () => {
  let got: string | undefined
  const up = await origin2((stream, headers) => {
    got = headers['x-name'] as string
    stream.respond({ ':status': 200, 'x-name': Buffer.from('中é').toString('latin1') })
    stream.end()
  })
  const { port } = await proxyEdge(up.url, 'http', { protocol: 'h2c' })
  const sent = Buffer.from('中é').toString('latin1')
  const reply = await raw1(port, `GET / HTTP/1.1\r\nHost: a.test\r\nX-Name: ${sent}\r\n\r\n`)
  expect(got).toBe(sent)
  expect(field(reply.raw, 'x-name')).toBe(sent)
})

describe('limits of the target', () => {
  it('its streams at a time are kept, more sessions open, and these are bounded', async () => {
    let most = 0
    const open = new Map<unknown, number>()
    const up = await origin2(
      stream => {
        const { session } = stream
        open.set(session, (open.get(session) ?? 0) + 1)
        most = Math.max(most, open.get(session)!)
        stream.on('close', () => open.set(session, open.get(session)! - 1))
        setTimeout(() => {
          if (stream.destroyed) return
          stream.respond({ ':status': 200 })
          stream.end('ok')
        }, 30)
      },
      'h2c',
      { settings: { maxConcurrentStreams: 5 } },
    )
    const { url } = await proxyEdge(up.url, 'h2c', { protocol: 'h2c', connections: 3 })
    const client = session2(url)
    const replies = await Promise.all(Array.from({ length: 60 }, () => request2(client, { ':path': '/' })))
    expect(replies.filter(reply => reply.status === 200)).toHaveLength(60)
    expect(most).toBeLessThanOrEqual(5)
    expect(up.opened()).toBe(3)
  })

  it('the queue is bounded: what does not fit is answered 503 at once', async () => {
    const up = await origin2(() => {}, 'h2c', { settings: { maxConcurrentStreams: 1 } })
    const { url } = await proxyEdge(up.url, 'h2c', {
      protocol: 'h2c',
      connections: 1,
      queue: 2,
      http2: { streams: 1 },
    })
    const client = session2(url)
    const first = request2(client, { ':path': '/' })
    await until('the session', () => up.opened() === 1)
    const more = Array.from({ length: 6 }, () => request2(client, { ':path': '/' }))
    const early = await Promise.race([...more, first])
    expect(early.status).toBe(503)
    expect(early.body).toContain('queue full')
  })
})

describe('sessions', () => {
  it('an idle one is closed, and the next request opens another', async () => {
    const up = await origin2(stream => {
      stream.respond({ ':status': 200 })
      stream.end('ok')
    })
    const { port } = await proxyEdge(up.url, 'http', { protocol: 'h2c', http2: { idle: 60 } })
    expect((await get1(port, '/')).status).toBe(200)
    await until('the session to close', () => up.sessions.size === 0)
    expect((await get1(port, '/')).status).toBe(200)
    expect(up.opened()).toBe(2)
  })

  it('a target that answers no PING loses its session', async () => {
    const up = await frameOrigin((one, socket) => {
      if (one.type === HEADERS) socket.write(answer(one.stream, 200))
    })
    const { url } = await proxyEdge(up.url, 'h2c', {
      protocol: 'h2c',
      http2: { pingAfter: 100, pingTimeout: 100 },
    })
    const lost = await request2(session2(url), { ':path': '/' })
    expect([lost.status, lost.code]).toEqual([200, 2])
    expect(up.frames.some(one => one.type === PING)).toBe(true)
    await until('the connection to close', () => up.sockets.size === 0)
  })

  it('close() lets what runs end, destroy() does not', async () => {
    let finish: (() => void) | null = null
    const up = await origin2(stream => {
      stream.respond({ ':status': 200 })
      stream.write('a')
      finish = () => stream.end('b')
    })
    const group = testUpstream(up.url, { protocol: 'h2c' })
    const { port } = await edge(pipeline().handle(proxy(group)))
    const reply = get1(port, '/')
    await until('the request', () => finish !== null)
    const closed = group.close()
    finish!()
    expect((await reply).body).toContain('b')
    await closed
    await until('the session to close', () => up.sessions.size === 0)
    expect((await get1(port, '/')).status).toBe(503)
  })
})

describe('auto', () => {
  it('takes HTTP/2 where the target speaks it', async () => {
    const up = await origin2(stream => {
      stream.respond({ ':status': 200 })
      stream.end('two')
    }, 'h2')
    const { port } = await proxyEdge(up.url, 'http', { protocol: 'auto', tls })
    expect((await get1(port, '/')).body).toContain('two')
  })

  it('takes HTTP/1.1 where it does not, and asks once only', async () => {
    let connections = 0
    const server = createHttps(certificate(), (req, res) => {
      req.resume()
      req.on('end', () => res.end(`one ${req.method}`))
    })
    server.on('secureConnection', () => connections++)
    const port1 = await listen(server as unknown as Server)
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = await proxyEdge(`https://127.0.0.1:${port1}`, 'http', { protocol: 'auto', tls })
    const [a, b] = await Promise.all([
      get1(port, '/'),
      raw1(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi'),
    ])
    expect(a.body).toBe('one GET')
    expect(b.body).toBe('one POST')
    const before = connections
    expect((await get1(port, '/')).body).toBe('one GET')
    expect(connections).toBe(before)
  })
})

describe('targets that do not speak HTTP/2', () => {
  it('an HTTP/1.1 server behind h2c is 502', async () => {
    const up = await scripted('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n', 'end')
    const { port } = await proxyEdge(up.url, 'http', { protocol: 'h2c' })
    const reply = await get1(port, '/')
    expect(reply.status).toBe(502)
  })

  it('nobody there is 502; silence is 504', async () => {
    const up = await scripted('')
    const silent = await proxyEdge(up.url, 'http', { protocol: 'h2c', timeouts: { connect: 80 } })
    expect((await get1(silent.port, '/')).status).toBe(504)
    const { port } = await proxyEdge('http://127.0.0.1:1', 'http', { protocol: 'h2c' })
    const reply = await get1(port, '/')
    expect([reply.status, reply.body]).toEqual([502, '502 connect refused\n'])
  })

  it('a certificate from nobody is 502', async () => {
    const up = await origin2(() => {}, 'h2')
    const { port } = await proxyEdge(up.url, 'http', { protocol: 'h2' })
    expect((await get1(port, '/')).body).toBe('502 tls failed\n')
  })

  it('options that cannot work are refused', () => {
    const faulty = (options: object): (() => unknown) => {
      return () => upstream({ name: 'x', targets: ['http://a'], ...options })
    }
    expect(faulty({ protocol: 'h2' })).toThrow(ConfigError)
    expect(faulty({ protocol: 'h3' })).toThrow(/unknown/)
    expect(faulty({ protocol: 'h2c', targets: ['https://a'] })).toThrow(/does not fit/)
    expect(faulty({ http2: { streams: 0 } })).toThrow(/http2.streams/)
    expect(faulty({ http2: { stream: 1 } })).toThrow(/no such option/)
    expect(faulty({ tunnels: -1 })).toThrow(/tunnels/)
  })
})

describe('clients that leave', () => {
  it.each(['http', 'h2c'] as const)('B005: the stream is cancelled (%s)', async kind => {
    let code = -1
    let open = 0
    const up = await origin2(stream => {
      open++
      stream.on('close', () => {
        code = stream.rstCode
      })
    })
    const { port, url } = await proxyEdge(up.url, kind, { protocol: 'h2c' })
    if (kind === 'http') {
      const socket = openSocket(port)
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      await until('the request', () => open === 1)
      socket.destroy()
    } else {
      const stream = session2(url).request({ ':path': '/', ':authority': 'a' })
      stream.on('error', () => {})
      await until('the request', () => open === 1)
      stream.close(8)
    }
    await until('the cancellation', () => code !== -1)
    expect(code).toBe(8)
  })

  it('an upload that breaks off is never whole to the target', async () => {
    let ended = false
    let code = -1
    const up = await origin2(stream => {
      stream.on('data', () => {})
      stream.on('end', () => {
        ended = stream.rstCode === 0 && !stream.aborted
      })
      stream.on('close', () => {
        code = stream.rstCode
      })
    })
    const { port } = await proxyEdge(up.url, 'http', { protocol: 'h2c' })
    const socket = openSocket(port)
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n')
    await until('the request', () => up.sessions.size === 1)
    setTimeout(() => socket.destroy(), 30)
    await until('the reset', () => code !== -1)
    expect([ended, code]).toEqual([false, 8])
  })
})

it('head and idle timeouts are those of HTTP/1.1', async () => {
  const up = await origin2((stream, headers) => {
    if (headers[':path'] === '/never') return
    stream.respond({ ':status': 200 })
    stream.write('a')
  })
  const { port } = await proxyEdge(up.url, 'http', { protocol: 'h2c', timeouts: { head: 80, idle: 80 } })
  const never = await get1(port, '/never')
  expect([never.status, never.body]).toEqual([504, '504 head timeout\n'])
  const idle = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 2000)
  expect(idle.closed).toBe(true)
  expect(idle.text).not.toContain('0\r\n\r\n')
})
