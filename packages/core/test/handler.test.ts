/** Inside a host: `(req, res)` functions, bodies that somebody read before (B011), ignored upgrades (B043). */
import { createServer, type RequestListener } from 'node:http'
import { createServer as createH2c, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { Server } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type App, type Filter, type Outcome, pipeline, proxy, reply, toHandler } from '../src/index.ts'
import { get1, raw1, request2, session2 } from './support/clients.ts'
import { field, listen, origin, proxyEdge, testUpstream, until } from './support/servers.ts'

async function hosted(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return listen(server)
}

async function hosted2(
  listener: (req: Http2ServerRequest, res: Http2ServerResponse) => void,
): Promise<number> {
  const server = createH2c(listener)
  onTestFinished(() => void server.close())
  return listen(server as Server)
}

async function proxied(): Promise<{ app: App; up: Awaited<ReturnType<typeof origin>> }> {
  const up = await origin()
  return { up, app: pipeline().handle(proxy(testUpstream(up.url))) }
}

const post = (body: string): string =>
  `POST /x HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`

describe('toHandler', () => {
  it('streams a body that nobody has read', async () => {
    const { app } = await proxied()
    const port = await hosted(toHandler(app))
    expect(await raw1(port, post('hello'))).toMatchObject({ status: 200, body: 'hello' })
  })

  it('B011: says at once that a body was read before', async () => {
    const { app, up } = await proxied()
    const handle = toHandler(app)
    const port = await hosted((req, res) => {
      req.on('data', () => {})
      req.on('end', () => handle(req, res))
    })
    const answer = await raw1(port, post('hello'))
    expect([answer.status, answer.body]).toEqual([500, '500 body consumed\n'])
    expect(up.seen).toEqual([])
  })

  it('B011: says so when only a part was read', async () => {
    const { app, up } = await proxied()
    const handle = toHandler(app)
    const port = await hosted((req, res) => {
      req.once('data', () => {
        req.pause()
        handle(req, res)
      })
    })
    expect((await raw1(port, post('hello'))).status).toBe(500)
    expect(up.seen).toEqual([])
  })

  it('B011: takes the bytes that the host kept', async () => {
    const { app, up } = await proxied()
    const kept = new WeakMap<object, Buffer>()
    const handle = toHandler(app, { body: req => kept.get(req) })
    const port = await hosted((req, res) => {
      const chunks: Buffer[] = []
      req.on('data', chunk => chunks.push(chunk))
      req.on('end', () => {
        kept.set(req, Buffer.concat(chunks))
        handle(req, res)
      })
    })
    expect(await raw1(port, post('hello'))).toMatchObject({ status: 200, body: 'hello' })
    expect(up.seen[0]!.body.toString()).toBe('hello')
  })

  it('sees what the client sent where a framework strips a mount path', async () => {
    const { app, up } = await proxied()
    const original = toHandler(app)
    const mounted = toHandler(app, { target: 'mounted' })
    const strip =
      (handle: typeof original): RequestListener =>
      (req, res) => {
        Object.assign(req, { originalUrl: req.url, url: req.url!.slice(4) })
        handle(req, res)
      }
    await get1(await hosted(strip(original)), '/api/x?y')
    await get1(await hosted(strip(mounted)), '/api/x?y')
    expect(up.seen.map(one => one.target)).toEqual(['/api/x?y', '/x?y'])
  })

  it('serves the compatibility API of http2', async () => {
    const { app } = await proxied()
    const handle = toHandler(app)
    const server = createH2c((req, res) => handle(req, res))
    onTestFinished(() => void server.close())
    const port = await listen(server as Server)
    const answer = await request2(
      session2(`http://127.0.0.1:${port}`),
      { ':path': '/x', ':method': 'POST' },
      'hello',
    )
    expect(answer).toMatchObject({ status: 200, body: 'hello', code: 0 })
  })
})

describe('toHandler inside a host that does odd things', () => {
  const outcomes = (): { seen: Outcome[]; watch: Filter } => {
    const seen: Outcome[] = []
    return { seen, watch: { name: 'watch', onDone: (_cx, outcome) => void seen.push(outcome) } }
  }

  it('a host that answers while the app still thinks: the process lives, the exchange ends', async () => {
    const { seen, watch } = outcomes()
    const app = pipeline()
      .use(watch)
      .handle(() => new Promise(resolve => setTimeout(resolve, 50, reply(200, 'late'))))
    const handle = toHandler(app)
    const port = await hosted((req, res) => {
      handle(req, res)
      res.end('host')
    })
    expect(await get1(port, '/')).toMatchObject({ status: 200, body: expect.stringContaining('host') })
    await until('the outcome', () => seen.length === 1)
    await new Promise(resolve => setTimeout(resolve, 100))
    expect(seen).toHaveLength(1)
    expect(seen[0]!.error).toMatchObject({ code: 'client-closed' })
  })

  it('a host that has answered before', async () => {
    const { seen, watch } = outcomes()
    let ran = 0
    const handle = toHandler(
      pipeline()
        .use(watch)
        .handle(() => {
          ran++
          return reply(200, 'late')
        }),
    )
    const port = await hosted((req, res) => {
      res.end('host')
      handle(req, res)
      setTimeout(() => handle(req, res), 20)
    })
    expect((await get1(port, '/')).status).toBe(200)
    await until('the outcomes', () => seen.length === 2)
    expect(ran).toBe(0)
  })

  it('over h2, too', async () => {
    const { seen, watch } = outcomes()
    const handle = toHandler(
      pipeline()
        .use(watch)
        .handle(() => new Promise(resolve => setTimeout(resolve, 50, reply(200, 'late')))),
    )
    const port = await hosted2((req, res) => {
      handle(req, res)
      res.end('host')
    })
    const answer = await request2(session2(`http://127.0.0.1:${port}`), { ':path': '/' })
    expect([answer.status, answer.body]).toEqual([200, 'host'])
    await until('the outcome', () => seen.length === 1)
  })

  it.each(['h1', 'h2'])('options.body that throws is 500, and logged (%s)', async version => {
    const { seen, watch } = outcomes()
    const handle = toHandler(
      pipeline()
        .use(watch)
        .handle(() => reply(200)),
      {
        body: () => {
          throw new RangeError('no such body')
        },
      },
    )
    if (version === 'h1') expect((await raw1(await hosted(handle), post('hello'))).status).toBe(500)
    else {
      const session = session2(`http://127.0.0.1:${await hosted2(handle)}`)
      expect((await request2(session, { ':path': '/', ':method': 'POST' }, 'hello')).status).toBe(500)
    }
    await until('the outcome', () => seen.length === 1)
    expect(seen[0]!.error).toMatchObject({ code: 'internal', cause: { message: 'no such body' } })
  })

  it('options.body that gives no bytes is 500', async () => {
    const handle = toHandler(
      pipeline().handle(() => reply(200)),
      { body: () => ({ parsed: true }) as never },
    )
    expect((await raw1(await hosted(handle), post('hello'))).status).toBe(500)
  })

  it('B011: the compatibility API of http2 says at once that a body was read before', async () => {
    const { app, up } = await proxied()
    const handle = toHandler(app)
    const port = await hosted2((req, res) => {
      req.on('data', () => {})
      req.on('end', () => handle(req, res))
    })
    const session = session2(`http://127.0.0.1:${port}`)
    const answer = await request2(session, { ':path': '/', ':method': 'POST' }, 'hello')
    expect([answer.status, answer.body]).toEqual([500, '500 body consumed\n'])
    expect(up.seen).toEqual([])
    expect((await request2(session, { ':path': '/', ':method': 'GET' })).status).toBe(200)
  })

  it('B011: and takes the bytes that the host kept', async () => {
    const { app, up } = await proxied()
    const kept = new WeakMap<object, Buffer>()
    const handle = toHandler(app, { body: req => kept.get(req) })
    const port = await hosted2((req, res) => {
      const chunks: Buffer[] = []
      req.on('data', (chunk: Buffer) => chunks.push(chunk))
      req.on('end', () => {
        kept.set(req, Buffer.concat(chunks))
        handle(req, res)
      })
    })
    const session = session2(`http://127.0.0.1:${port}`)
    const head = { ':path': '/', ':method': 'POST', 'content-length': '5' }
    expect(await request2(session, head, 'hello')).toMatchObject({ status: 200, body: 'hello' })
    expect(up.seen[0]!.body.toString()).toBe('hello')
  })
})

describe('B043: upgrades that are not taken', () => {
  it.each(['h2c', 'websocket', 'websocket, h2c', 'TLS/1.0'])(
    'Upgrade: %s is answered as plain HTTP',
    async protocol => {
      const up = await origin()
      const { port } = await proxyEdge(up.url)
      const answer = await get1(port, '/', [
        'Connection: Upgrade, HTTP2-Settings',
        `Upgrade: ${protocol}`,
        'HTTP2-Settings: AAMAAABk',
      ])
      expect(answer.status).toBe(200)
      for (const name of ['upgrade', 'http2-settings']) expect(field(up.seen[0]!.raw, name)).toBeUndefined()
    },
  )

  it('with a body as well', async () => {
    const up = await origin()
    const { port } = await proxyEdge(up.url)
    const answer = await raw1(
      port,
      post('hello').replace('Connection: close', 'Connection: Upgrade\r\nUpgrade: h2c'),
    )
    expect(answer).toMatchObject({ status: 200, body: 'hello' })
  })
})
