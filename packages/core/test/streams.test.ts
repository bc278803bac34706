/** Streams in both directions: nothing is held back, trailers and interim responses pass, waiting costs no memory. */
import { describe, expect, it } from 'vitest'
import { pipeline, proxy } from '../src/index.ts'
import { exchangeBytes, openSocket, session2 } from './support/clients.ts'
import { edge, proxyEdge, rawOrigin, scripted, testUpstream, until } from './support/servers.ts'

describe('replies', () => {
  it('B014: the head goes out before the first byte of the body', async () => {
    const up = await scripted('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n')
    const { port } = await proxyEdge(up.url)
    const socket = openSocket(port)
    let got = ''
    socket.on('data', chunk => {
      got += chunk
    })
    socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await until('the head', () => got.includes('\r\n\r\n'))
    expect(got).toMatch(/^HTTP\/1\.1 200 OK/)
    const h2 = await proxyEdge(up.url, 'h2c')
    const stream = session2(h2.url).request({ ':path': '/', ':authority': 'a.test' })
    stream.on('error', () => {})
    const head = await new Promise<{ ':status'?: number }>(resolve => stream.once('response', resolve))
    expect(head[':status']).toBe(200)
    stream.close()
  })

  it('events arrive one by one', async () => {
    let say: ((text: string) => void) | null = null
    const up = await rawOrigin(socket =>
      socket.once('data', () => {
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
        )
        say = text => void socket.write(`${text.length.toString(16)}\r\n${text}\r\n`)
      }),
    )
    const { port } = await proxyEdge(up.url)
    const socket = openSocket(port)
    let got = ''
    socket.on('data', chunk => {
      got += chunk
    })
    socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await until('the upstream', () => say !== null)
    for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
      say!(event)
      await until(event, () => got.includes(event))
    }
  })

  it('trailers pass to h1 and h2 clients', async () => {
    const up = await scripted(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n',
    )
    const { port } = await proxyEdge(up.url)
    const { text } = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    expect(text).toMatch(/0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n$/)
    const h2 = await proxyEdge(up.url, 'h2c')
    const stream = session2(h2.url).request({ ':path': '/', ':authority': 'a.test' })
    const trailers = await new Promise<Record<string, unknown>>(resolve => {
      stream.on('trailers', resolve)
      stream.resume()
    })
    expect(trailers).toMatchObject({ 'x-sum': '1, 2' })
  })

  it('B018: 102 and 103 pass in order and leave no trace in the final head', async () => {
    const up = await scripted(
      'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\nHTTP/1.1 200 OK\r\nX: 1\r\nContent-Length: 2\r\n\r\nok',
    )
    const { port } = await proxyEdge(up.url)
    const { text } = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([
      'HTTP/1.1 102',
      'HTTP/1.1 103',
      'HTTP/1.1 103',
      'HTTP/1.1 200',
    ])
    expect(text.slice(text.indexOf('HTTP/1.1 200'))).not.toContain('Link')
    const old = await exchangeBytes(port, 'GET / HTTP/1.0\r\nHost: a.test\r\n\r\n')
    expect(old.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
    const h2 = await proxyEdge(up.url, 'h2c')
    const stream = session2(h2.url).request({ ':path': '/', ':authority': 'a.test' })
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
})

describe('B045: backpressure', () => {
  const SIZE = 32 << 20

  it.each(['http', 'h2c'] as const)('a client that does not read stops the upstream (%s)', async kind => {
    let sent = 0
    const up = await rawOrigin(socket =>
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${SIZE}\r\n\r\n`)
        const chunk = Buffer.alloc(65_536)
        const pump = (): void => {
          while (sent < SIZE && !socket.destroyed) {
            sent += chunk.length
            if (!socket.write(chunk)) {
              socket.once('drain', pump)
              return
            }
          }
        }
        pump()
      }),
    )
    const { port, url } = await proxyEdge(up.url, kind)
    let received = 0
    if (kind === 'http') {
      const socket = openSocket(port)
      socket.pause()
      socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
      await settled(() => sent)
      expect(sent).toBeLessThan(SIZE / 2)
      socket.on('data', chunk => {
        received += chunk.length
      })
      socket.resume()
    } else {
      const stream = session2(url).request({ ':path': '/', ':authority': 'a.test' })
      stream.pause()
      await settled(() => sent)
      expect(sent).toBeLessThan(SIZE / 2)
      stream.on('data', chunk => {
        received += chunk.length
      })
      stream.resume()
    }
    for (let i = 0; i < 300 && received < SIZE; i++) await new Promise(resolve => setTimeout(resolve, 50))
    expect(received).toBeGreaterThanOrEqual(SIZE)
  })

  it.each(['http', 'h2c'] as const)('an upstream that does not read stops the client (%s)', async kind => {
    const up = await rawOrigin(socket => socket.pause())
    const app = pipeline().handle(proxy(testUpstream(up.url, { timeouts: { idle: 60_000 } })))
    const { port, url } = await edge(app, kind)
    let sent = 0
    const chunk = Buffer.alloc(65_536)
    const writable =
      kind === 'http'
        ? openSocket(port)
        : session2(url).request({ ':path': '/', ':method': 'POST', ':authority': 'a.test' })
    writable.on('error', () => {})
    if (kind === 'http') writable.write(`POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${SIZE}\r\n\r\n`)
    const pump = (): void => {
      while (sent < SIZE) {
        sent += chunk.length
        if (!writable.write(chunk)) {
          writable.once('drain', pump)
          return
        }
      }
    }
    pump()
    await settled(() => sent)
    expect(sent).toBeLessThan(SIZE / 2)
    writable.destroy()
  })
})

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
