/** Clients that do not take their answer: they are cut after `sendTimeout`, and nothing behind them stays busy. */
import { describe, expect, it } from 'vitest'
import { ConfigError, type Outcome, pipeline, proxy, reply, toHandler } from '../src/index.ts'
import { openSocket, openTls, session2 } from './support/clients.ts'
import { edge, type Kind, rawOrigin, testUpstream, until } from './support/servers.ts'

const SIZE = 64 << 20

/** Sends an endless-looking body as fast as it is taken. */
function firehose() {
  return rawOrigin(socket =>
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${SIZE}\r\n\r\n`)
      let sent = 0
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
}

describe.each(['http', 'https', 'h2', 'h2c'] as Kind[])('over %s', kind => {
  it('a client that reads nothing is cut, and its upstream with it', async () => {
    const outcomes: Outcome[] = []
    const up = await firehose()
    const app = pipeline()
      .use({ name: 'watch', onDone: (_cx, outcome) => void outcomes.push(outcome) })
      .handle(proxy(testUpstream(up.url, { timeouts: { idle: 60_000, total: 0 } })))
    const { port, url } = await edge(app, kind, { sendTimeout: 300 })
    if (kind === 'http') {
      const socket = openSocket(port)
      socket.pause()
      socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    } else if (kind === 'https') {
      const socket = await openTls(port)
      socket.pause()
      socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    } else {
      const stream = session2(url).request({ ':path': '/', ':authority': 'a.test' })
      stream.on('error', () => {})
      stream.pause()
    }
    await until('the outcome', () => outcomes.length === 1, 8000)
    expect(outcomes[0]).toMatchObject({ status: 200, error: { source: 'client', code: 'send-timeout' } })
    await until('the upstream to be cut', () => up.closed() === 1)
  })

  it('a large body of known bytes is no way around it', async () => {
    const outcomes: Outcome[] = []
    const bytes = Buffer.alloc(SIZE)
    const app = pipeline()
      .use({ name: 'watch', onDone: (_cx, outcome) => void outcomes.push(outcome) })
      .handle(() => reply(200, bytes))
    const { port, url } = await edge(app, kind, { sendTimeout: 300 })
    if (kind === 'http' || kind === 'https') {
      const socket = kind === 'http' ? openSocket(port) : await openTls(port)
      socket.pause()
      socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    } else {
      const stream = session2(url).request({ ':path': '/', ':authority': 'a.test' })
      stream.on('error', () => {})
      stream.pause()
    }
    await until('the outcome', () => outcomes.length === 1, 8000)
    expect(outcomes[0]).toMatchObject({ error: { code: 'send-timeout' } })
  })
})

it.each(['http', 'h2c'] as const)('a slow client that does take something is served (%s)', async kind => {
  const up = await firehose()
  const app = pipeline().handle(proxy(testUpstream(up.url, { timeouts: { total: 0 } })))
  const { port, url } = await edge(app, kind, { sendTimeout: 1000 })
  const stream =
    kind === 'http' ? openSocket(port) : session2(url).request({ ':path': '/', ':authority': 'a.test' })
  if (kind === 'http') stream.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
  let received = 0
  let closed = false
  stream.on('close', () => {
    closed = true
  })
  stream.on('error', () => {})
  stream.on('data', chunk => {
    received += chunk.length
    // About 20 MB a second, with a pause after each chunk.
    stream.pause()
    setTimeout(() => stream.resume(), 2)
  })
  const started = Date.now()
  while (Date.now() - started < 3000 && !closed) await new Promise(resolve => setTimeout(resolve, 20))
  const early = received
  expect([closed && early < SIZE, early > 1 << 20]).toEqual([false, true])
})

it('an event stream may be silent for as long as it likes', async () => {
  const up = await rawOrigin(socket =>
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n')
      socket.write('2\r\n1\n\r\n')
      setTimeout(() => socket.write('2\r\n2\n\r\n'), 700)
    }),
  )
  const { port } = await edge(pipeline().handle(proxy(testUpstream(up.url))), 'http', { sendTimeout: 100 })
  const socket = openSocket(port)
  let got = ''
  socket.on('data', chunk => {
    got += chunk
  })
  socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
  await until('the second event', () => got.includes('2\n'))
})

it('the option is checked', async () => {
  const app = pipeline().handle(() => reply(200))
  for (const sendTimeout of [-1, Number.NaN, 1.5, Number.POSITIVE_INFINITY]) {
    await expect(edge(app, 'http', { sendTimeout })).rejects.toThrow(ConfigError)
    expect(() => toHandler(app, { sendTimeout })).toThrow(/toHandler\.sendTimeout/)
  }
})
