/** Uploads that are refused or answered half-way: the answer arrives whole, and everything ends. */
import { execFile } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import {
  type App,
  bodyLimit,
  concurrencyLimit,
  type Filter,
  type Outcome,
  pipeline,
  proxy,
  reply,
} from '../src/index.ts'
import { exchangeBytes, openSocket, session2 } from './support/clients.ts'
import { edge, origin, rawOrigin, testUpstream, until } from './support/servers.ts'

interface Upload {
  status: number
  body: string
  code: number
  closed: boolean
}

/** Uploads chunk by chunk over h2 until the stream is over; never ends the upload by itself. */
async function upload2(url: string, own?: ReturnType<typeof session2>): Promise<Upload> {
  const session = own ?? session2(url)
  const stream = session.request({ ':path': '/', ':method': 'POST', ':authority': 'a.test' })
  const got: Upload = { status: 0, body: '', code: -1, closed: false }
  stream.on('error', () => {})
  stream.on('response', head => {
    got.status = head[':status'] ?? 0
  })
  stream.on('data', chunk => {
    got.body += chunk
  })
  stream.on('close', () => {
    got.closed = true
    got.code = stream.rstCode
  })
  const chunk = Buffer.alloc(16_384)
  const pump = (): void => {
    if (!got.closed && !stream.destroyed) stream.write(chunk, () => setTimeout(pump, 1))
  }
  pump()
  for (let i = 0; i < 1000 && !got.closed; i++) await new Promise(resolve => setTimeout(resolve, 10))
  return got
}

function watched(app: (watch: Filter) => App) {
  const outcomes: Outcome[] = []
  const app2 = app({ name: 'watch', onDone: (_cx, outcome) => void outcomes.push(outcome) })
  return { outcomes, app: app2 }
}

describe('an h2 upload that is refused half-way', () => {
  const kinds = {
    'a chunked body above the limit': async () => {
      const up = await origin()
      return watched(watch =>
        pipeline()
          .use(watch)
          .use(concurrencyLimit({ total: 1 }))
          .use(bodyLimit({ max: 100_000 }))
          .handle(proxy(testUpstream(up.url))),
      )
    },
    'an early answer of the upstream': async () => {
      const up = await rawOrigin(socket =>
        socket.once('data', () =>
          socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig'),
        ),
      )
      return watched(watch =>
        pipeline()
          .use(watch)
          .use(concurrencyLimit({ total: 1 }))
          .handle(proxy(testUpstream(up.url))),
      )
    },
    'a filter that refuses a chunk': async () => {
      const up = await origin()
      let seen = 0
      return watched(watch =>
        pipeline()
          .use(watch)
          .use(concurrencyLimit({ total: 1 }))
          .use({
            name: 'refuse',
            onRequestBody: (_cx, bytes) => {
              seen += bytes.length
              return seen > 50_000 ? reply(413, 'no more') : undefined
            },
          })
          .handle(proxy(testUpstream(up.url))),
      )
    },
    'a handler that does not read it': async () =>
      watched(watch =>
        pipeline()
          .use(watch)
          .use(concurrencyLimit({ total: 1 }))
          .handle(() => reply(413, 'unread')),
      ),
  }

  it.each(Object.entries(kinds))(
    '%s: 413 whole, NO_ERROR, done, and the place is free',
    async (_what, make) => {
      const { app, outcomes } = await make()
      const { url } = await edge(app, 'h2c')
      const session = session2(url)
      const first = await upload2(url, session)
      expect(first).toMatchObject({ status: 413, code: 0, closed: true })
      expect(first.body.length).toBeGreaterThan(2)
      await until('the outcome', () => outcomes.length === 1)
      expect(outcomes[0]).toMatchObject({ status: 413 })
      // The place in concurrencyLimit is free again, on the same session.
      expect(await upload2(url, session)).toMatchObject({ status: 413, code: 0, closed: true })
      await until('the second outcome', () => outcomes.length === 2)
    },
  )

  it.each(Object.entries(kinds))('%s: a session that is cut ends its exchange', async (_what, make) => {
    const { app, outcomes } = await make()
    const { url } = await edge(app, 'h2c')
    const session = session2(url)
    const stream = session.request({ ':path': '/', ':method': 'POST', ':authority': 'a.test' })
    stream.on('error', () => {})
    stream.write(Buffer.alloc(200_000))
    await new Promise(resolve => stream.once('response', resolve))
    session.destroy()
    await until('the outcome', () => outcomes.length === 1)
  })

  it('a client that stops sending is told to go, too', async () => {
    const { app, outcomes } = await kinds['a handler that does not read it']()
    const { url } = await edge(app, 'h2c')
    const stream = session2(url).request({ ':path': '/', ':method': 'POST', ':authority': 'a.test' })
    stream.on('error', () => {})
    stream.resume()
    let closed = false
    stream.on('close', () => {
      closed = true
    })
    for (let i = 0; i < 600 && !closed; i++) await new Promise(resolve => setTimeout(resolve, 10))
    expect([closed, stream.rstCode]).toEqual([true, 0])
    await until('the outcome', () => outcomes.length === 1)
    expect(outcomes[0]).toMatchObject({ status: 413, error: null })
  })

  it('curl sees the 413 whole', async () => {
    const { app } = await kinds['a chunked body above the limit']()
    const { url } = await edge(app, 'h2c')
    const flags = ['-s', '--http2-prior-knowledge', '-T', '-', '-w', '%{http_code}', '--max-time', '10', url]
    const told = await new Promise<string>((resolve, reject) => {
      const child = execFile('curl', flags, (error, stdout) => {
        if (error && (error as { code?: unknown }).code === 'ENOENT') reject(error)
        else resolve(stdout)
      })
      child.stdin!.on('error', () => {})
      const chunk = Buffer.alloc(65_536)
      for (let i = 0; i < 40; i++) child.stdin!.write(chunk)
    })
    expect(told).toMatch(/413$/)
  })
})

describe('an origin that answers early and closes with the upload unread', () => {
  it.each(['http', 'h2c'] as const)('is heard (%s)', async kind => {
    const up = await rawOrigin(socket => {
      socket.once('data', () => {
        socket.pause()
        socket.write(
          'HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig',
          () => socket.resetAndDestroy(),
        )
      })
    })
    // The answer has left before the reset; resetAndDestroy() stands for close() with unread bytes.
    const { port, url } = await edge(pipeline().handle(proxy(testUpstream(up.url))), kind)
    const statuses: unknown[] = []
    for (let i = 0; i < 10; i++) {
      if (kind === 'h2c') {
        statuses.push((await upload2(url)).status)
        continue
      }
      const socket = openSocket(port)
      let got = ''
      let closed = false
      socket.on('data', chunk => {
        got += chunk
      })
      socket.on('close', () => {
        closed = true
      })
      socket.write('POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n')
      const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`
      for (let n = 0; n < 200 && !closed; n++) {
        socket.write(chunk)
        await new Promise(resolve => setTimeout(resolve, 1))
      }
      statuses.push(Number(got.slice(9, 12)))
    }
    expect(statuses).toEqual(new Array(10).fill(413))
  })

  it('and one that only closes is 502', async () => {
    const up = await rawOrigin(socket => {
      socket.once('data', () => {
        socket.pause()
        setTimeout(() => socket.resetAndDestroy(), 20)
      })
    })
    const { port } = await edge(pipeline().handle(proxy(testUpstream(up.url))))
    const body = `10000\r\n${'a'.repeat(65_536)}\r\n`.repeat(100)
    const { text } = await exchangeBytes(
      port,
      `POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
      3000,
    )
    expect(text).toMatch(/^HTTP\/1\.1 502/)
  })
})

it('a body that was not asked for, and comes all the same, does not cost the answer', async () => {
  const { port } = await edge(pipeline().handle(() => reply(401, 'who?')))
  for (let i = 0; i < 20; i++) {
    const head = 'POST / HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 50000\r\n\r\n'
    const { text, closed, reset } = await exchangeBytes(port, head + 'a'.repeat(50_000), 3000)
    expect(text).toMatch(/^HTTP\/1\.1 401/)
    expect(text).toMatch(/connection: close/i)
    expect(text).toMatch(/who\?$/)
    expect([closed, reset]).toEqual([true, false])
  }
})

describe('Expect: 100-continue over h2', () => {
  const expecting = { ':path': '/', ':method': 'POST', ':authority': 'a.test', expect: '100-continue' }

  it('is answered when somebody reads the body, once', async () => {
    const up = await origin()
    const { url } = await edge(pipeline().handle(proxy(testUpstream(up.url))), 'h2c')
    const stream = session2(url).request(expecting)
    let asked = 0
    let interim = 0
    stream.on('headers', () => {
      interim++
    })
    stream.on('continue', () => {
      asked++
      stream.end('hello')
    })
    let body = ''
    stream.on('data', chunk => {
      body += chunk
    })
    await new Promise(resolve => stream.on('close', resolve))
    expect([body, asked, interim]).toEqual(['hello', 1, 1])
  })

  it('a body that is too large is refused without it', async () => {
    const { url } = await edge(
      pipeline()
        .use(bodyLimit({ max: 10 }))
        .handle(() => reply(200)),
      'h2c',
    )
    const stream = session2(url).request({ ...expecting, 'content-length': '1000' })
    let asked = false
    stream.on('continue', () => {
      asked = true
    })
    stream.on('error', () => {})
    const head = await new Promise<{ ':status'?: number }>(resolve => stream.once('response', resolve))
    expect([head[':status'], asked]).toEqual([413, false])
  })

  it('another expectation is 417', async () => {
    const { url } = await edge(
      pipeline().handle(() => reply(200)),
      'h2c',
    )
    const stream = session2(url).request({ ...expecting, expect: 'miracles' })
    stream.on('error', () => {})
    const head = await new Promise<{ ':status'?: number }>(resolve => stream.once('response', resolve))
    expect(head[':status']).toBe(417)
  })
})
