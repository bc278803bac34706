/** Another app under a running server: new requests get it, what has begun ends on the old one, and a bad one changes nothing. */
import { once } from 'node:events'
import { Agent, createServer, request as sendRequest } from 'node:http'
import type { ClientHttp2Session } from 'node:http2'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type App,
  ConfigError,
  type Filter,
  health,
  metrics,
  type Outcome,
  pipeline,
  proxy,
  type Reply,
  reply,
  toHandler,
  toUpgradeHandler,
  upstream,
} from '../src/index.ts'
import { openSocket, raw1, request2, session2 } from './support/clients.ts'
import { edge, type Kind, listen, origin, testUpstream, until } from './support/servers.ts'
import { connect2, HANDSHAKE, openWebSocket, socketOrigin } from './support/websocket.ts'

const saying = (text: string): App => pipeline().handle(() => reply(200, text))

/** An app whose answers wait to be let go. */
function held(text: string) {
  const waiting: (() => void)[] = []
  const outcomes: Outcome[] = []
  const app = pipeline()
    .use({ name: 'notes', onDone: (_cx, outcome) => void outcomes.push(outcome) })
    .route('/now', r => r.handle(() => reply(200, `${text} now`)))
    .handle(
      cx =>
        new Promise<Reply>(resolve => waiting.push(() => resolve(reply(200, `${text} ${cx.request.path}`)))),
    )
  const letGo = (): void => {
    for (const one of waiting.splice(0)) one()
  }
  return { app, waiting, outcomes, letGo }
}

/** True once a promise has settled. */
function settled(promise: Promise<unknown>): () => boolean {
  let over = false
  void promise.then(() => {
    over = true
  })
  return () => over
}

const ask = (path = '/', extra = ''): string => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${extra}\r\n`

function client(port: number): { socket: ReturnType<typeof openSocket>; got: () => string } {
  const socket = openSocket(port)
  let text = ''
  socket.on('data', chunk => {
    text += chunk.toString('latin1')
  })
  return { socket, got: () => text }
}

describe('HTTP/1.1', () => {
  it('the next request of an open connection gets the new app, the one that runs ends on the old', async () => {
    const old = held('old')
    const { port, attached } = await edge(old.app)
    const a = client(port)
    const b = client(port)
    a.socket.write(ask('/a'))
    b.socket.write(ask('/now'))
    await until('both', () => old.waiting.length === 1 && b.got().endsWith('old now'))
    const { retired } = await attached.swap(saying('new'))
    const over = settled(retired)
    b.socket.write(ask('/now'))
    await until('the new app', () => b.got().endsWith('new'))
    expect(over()).toBe(false)
    old.letGo()
    await retired
    await until('the old answer', () => a.got().endsWith('old /a'))
    expect(old.outcomes.map(one => one.status)).toEqual([200, 200])
    a.socket.write(ask('/again'))
    await until('the new app there, too', () => a.got().endsWith('new'))
  })

  it('takes effect before it returns', async () => {
    const { port, attached } = await edge(saying('old'))
    const swapping = attached.swap(saying('new'))
    expect((await raw1(port, ask('/', 'Connection: close\r\n'))).body).toBe('new')
    await (await swapping).retired
  })

  it('pipelined requests: those that have begun end on the old app, those that waited begin on the new', async () => {
    const old = held('old')
    const { port, attached } = await edge(old.app)
    const { socket, got } = client(port)
    // 16 run, 4 wait.
    socket.write(Array.from({ length: 20 }, (_, at) => ask(`/${at}`)).join(''))
    await until('16 of them', () => old.waiting.length === 16)
    const { retired } = await attached.swap(saying('new'))
    socket.write(ask('/later'))
    old.letGo()
    await retired
    await until('all', () => got().split('HTTP/1.1 200').length === 22)
    const bodies = got()
      .split(/HTTP\/1\.1 200[\s\S]*?\r\n\r\n/)
      .slice(1)
    const ran = Array.from({ length: 16 }, (_, at) => `old /${at}`)
    expect(bodies).toEqual([...ran, ...Array.from({ length: 5 }, () => 'new')])
    expect(old.waiting).toHaveLength(0)
  })

  it('an upload that runs goes on to the old upstream', async () => {
    const one = await origin()
    const two = await origin()
    let begun = 0
    const old = pipeline()
      .use({ name: 'count', onRequest: () => void begun++ })
      .handle(proxy(testUpstream(one.url)))
    const { port, attached } = await edge(old)
    const { socket, got } = client(port)
    socket.write('POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10\r\n\r\nfirst')
    await until('it to begin', () => begun === 1)
    const { retired } = await attached.swap(pipeline().handle(proxy(testUpstream(two.url))))
    socket.write('later')
    await until('the answer', () => got().endsWith('firstlater'))
    await retired
    expect([one.seen.length, two.seen.length]).toEqual([1, 0])
  })
})

describe.each(['h2', 'h2c'] as Kind[])('HTTP/2 over %s', kind => {
  it('streams of a live session', async () => {
    const old = held('old')
    const { url, attached } = await edge(old.app, kind)
    const session = session2(url)
    const running = request2(session, { ':path': '/a' })
    await until('it runs', () => old.waiting.length === 1)
    const { retired } = await attached.swap(saying('new'))
    expect((await request2(session, { ':path': '/b' })).body).toBe('new')
    old.letGo()
    expect((await running).body).toBe('old /a')
    await retired
    expect(session.closed).toBe(false)
  })

  it('at the limit: 503 where no answer has begun, a reset where one has', async () => {
    const streams = await origin(res => {
      res.writeHead(200)
      res.write('part')
    })
    const outcomes: Outcome[] = []
    let heads = 0
    const hangs = await origin(() => {})
    const old = pipeline()
      .use({
        name: 'notes',
        onReply: () => void heads++,
        onDone: (_cx, outcome) => void outcomes.push(outcome),
      })
      .route('/hangs', r => r.handle(proxy(testUpstream(hangs.url))))
      .handle(proxy(testUpstream(streams.url)))
    const { url, attached } = await edge(old, kind)
    const session = session2(url)
    const begun = request2(session, { ':path': '/' })
    const unanswered = request2(session, { ':path': '/hangs' })
    await until('both run', () => hangs.seen.length === 1 && heads === 1)
    const { retired } = await attached.swap(saying('new'), { limit: 10 })
    await retired
    expect(await begun).toMatchObject({ status: 200, body: 'part', code: 2 })
    expect(await unanswered).toMatchObject({ status: 503, code: 0 })
    expect((await request2(session, { ':path': '/' })).body).toBe('new')
    expect(outcomes.map(one => one.error?.code)).toEqual(['draining', 'draining'])
  })
})

it('at the limit over HTTP/1.1: 503, and a reset', async () => {
  const streams = await origin(res => {
    res.writeHead(200, { 'Content-Length': 100 })
    res.write('part')
  })
  const group = testUpstream(streams.url)
  const app = pipeline()
    .route('/stream', r => r.handle(proxy(group)))
    .handle(() => new Promise<Reply>(() => {}))
  const { port, attached } = await edge(app)
  const a = client(port)
  const b = client(port)
  a.socket.write(ask('/never'))
  b.socket.write(ask('/stream'))
  await until('the part', () => b.got().endsWith('part'))
  const { retired } = await attached.swap(saying('new'), { limit: 20 })
  await retired
  await until('the reset', () => b.socket.destroyed)
  await until('503', () => a.got().startsWith('HTTP/1.1 503'))
  await group.close()
})

describe('WebSockets', () => {
  it.each(['http', 'h2'] as Kind[])('live on over %s; new ones go to the new upstream', async kind => {
    const one = await socketOrigin()
    const two = await socketOrigin()
    const group = testUpstream(one.url)
    const { url, attached } = await edge(pipeline().handle(proxy(group)), kind)
    const first = openWebSocket(`${url.replace('http', 'ws')}/`)
    await once(first, 'open')
    const { retired } = await attached.swap(pipeline().handle(proxy(testUpstream(two.url))))
    const over = settled(retired)
    const second = openWebSocket(`${url.replace('http', 'ws')}/`)
    await once(second, 'open')
    first.send('still here')
    second.send('me too')
    await until('both', () => first.got.length === 1 && second.got.length === 1)
    expect([one.sockets.size, two.sockets.size]).toEqual([1, 1])
    expect(over()).toBe(false)
    expect(attached.tunnels).toBe(2)
    first.close()
    await retired
    await group.close()
    expect(second.readyState).toBe(second.OPEN)
  })

  it('over extended CONNECT, too', async () => {
    const one = await socketOrigin()
    const { url, attached } = await edge(pipeline().handle(proxy(testUpstream(one.url))), 'h2c')
    const session = session2(url)
    const { stream, status } = await connect2(session)
    expect(status).toBe(200)
    const { retired } = await attached.swap(saying('new'))
    expect((await request2(session, { ':path': '/' })).body).toBe('new')
    expect((await connect2(session)).status).toBe(501)
    expect(attached.tunnels).toBe(1)
    stream.close()
    await retired
  })

  it('are told at the limit (1001); a handshake that waits gets 503', async () => {
    const one = await socketOrigin()
    const silent = await origin(() => {})
    let asked = 0
    silent.server.on('upgrade', () => void asked++)
    const old = pipeline()
      .route('/waits', r => r.handle(proxy(testUpstream(silent.url))))
      .handle(proxy(testUpstream(one.url)))
    const { url, port, attached } = await edge(old)
    const socket = openWebSocket(url.replace('http', 'ws'))
    await once(socket, 'open')
    const { socket: waits, got } = client(port)
    waits.write(HANDSHAKE('/waits'))
    await until('the handshake', () => asked === 1)
    const { retired } = await attached.swap(saying('new'), { limit: 20 })
    await retired
    await until('1001', () => socket.closed === 1001)
    await until('503', () => got().startsWith('HTTP/1.1 503'))
  })
})

describe('a bad app', () => {
  const part = (): App => {
    let inner: App | null = null
    pipeline()
      .route('/x', r => (inner = r.handle()))
      .handle()
    return inner!
  }

  it.each([
    ['no app', () => [{} as App], /swap\(app\): it is an object, not an app/],
    ['nothing', () => [null as unknown as App], /it is null/],
    ['a pipeline without handle()', () => [pipeline() as unknown as App], /not an app/],
    ['a part of another app', () => [part()], /the app of a route or host/],
    [
      'its check throws',
      () => [saying('new'), { check: () => Promise.reject(new Error('cold')) }],
      /failed: cold/,
    ],
    ['its check says no', () => [saying('new'), { check: () => false }], /its check gave false/],
    [
      'its check takes too long',
      () => [saying('new'), { check: () => new Promise(() => {}), checkTimeout: 20 }],
      /no answer/,
    ],
    ['an unknown option', () => [saying('new'), { checks: () => true }], /Did you mean check\?/],
    ['a limit that is none', () => [saying('new'), { limit: -1 }], /swap\.limit/],
    ['a check that is none', () => [saying('new'), { check: 'x' }], /swap\.check/],
  ] as [string, () => [App, object?], RegExp][])(
    '%s: it is refused, the running one stays',
    async (_what, make, message) => {
      const { port, attached } = await edge(saying('old'))
      const [app, options] = make()
      const failure = await attached.swap(app, options).then(
        () => null,
        error => error,
      )
      expect(failure).toBeInstanceOf(ConfigError)
      expect(failure.message).toMatch(message)
      expect((await raw1(port, ask('/', 'Connection: close\r\n'))).body).toBe('old')
    },
  )

  it('an app that passes its check serves', async () => {
    const { port, attached } = await edge(saying('old'))
    const seen: string[] = []
    const check = async (app: App): Promise<void> => {
      seen.push((await app.inject()).text())
      seen.push((await raw1(port, ask('/', 'Connection: close\r\n'))).body)
    }
    await attached.swap(saying('new'), { check })
    expect(seen).toEqual(['new', 'old'])
    expect((await raw1(port, ask('/', 'Connection: close\r\n'))).body).toBe('new')
  })

  it('a swap whose check is overtaken does not put an older app back', async () => {
    const { port, attached } = await edge(saying('old'))
    let pass = (): void => {}
    const slow = attached.swap(saying('first'), {
      check: () => new Promise<void>(resolve => (pass = resolve)),
    })
    await attached.swap(saying('second'))
    pass()
    await expect(slow).rejects.toThrow(/a later swap has taken effect/)
    expect((await raw1(port, ask('/', 'Connection: close\r\n'))).body).toBe('second')
  })

  it('a later swap that fails leaves the way to an earlier one', async () => {
    const { port, attached } = await edge(saying('old'))
    let pass = (): void => {}
    const slow = attached.swap(saying('first'), {
      check: () => new Promise<void>(resolve => (pass = resolve)),
    })
    await expect(attached.swap(saying('second'), { check: () => false })).rejects.toThrow(ConfigError)
    pass()
    await slow
    expect((await raw1(port, ask('/', 'Connection: close\r\n'))).body).toBe('first')
  })

  it('attach(), toHandler() and toUpgradeHandler() take no part of an app either', async () => {
    await expect(edge(part())).rejects.toThrow(/the app of a route or host/)
    expect(() => toHandler(part())).toThrow(/the app of a route or host/)
    expect(() => toUpgradeHandler(part())).toThrow(ConfigError)
  })
})

describe('drain', () => {
  it('during a drain, what still comes gets the new app', async () => {
    const old = held('old')
    const { port, attached } = await edge(old.app)
    const { socket, got } = client(port)
    socket.write(ask('/a'))
    await until('it runs', () => old.waiting.length === 1)
    const drained = attached.drain()
    let begun = 0
    const next = pipeline().handle(cx => {
      begun++
      return reply(200, `new ${cx.draining}`)
    })
    const { retired } = await attached.swap(next)
    socket.write(ask('/b'))
    await until('the next one', () => begun === 1)
    old.letGo()
    await Promise.all([drained, retired])
    expect(got()).toMatch(/old \/aHTTP\/1\.1 200[\s\S]*\r\nConnection: close\r\n[\s\S]*new true$/)
  })

  it('waits for the old app too, and ends both at its limit', async () => {
    const old = held('old')
    const { port, attached } = await edge(old.app)
    const a = client(port)
    a.socket.write(ask('/a'))
    await until('it runs', () => old.waiting.length === 1)
    const next = held('new')
    const { retired } = await attached.swap(next.app)
    const b = client(port)
    b.socket.write(ask('/b'))
    await until('both run', () => next.waiting.length === 1)
    await attached.drain(50)
    await retired
    expect(old.outcomes.map(one => one.status)).toEqual([499])
    expect(next.outcomes.map(one => one.status)).toEqual([499])
  })

  it('after a drain there is nothing to wait for', async () => {
    const { attached } = await edge(saying('old'))
    await attached.drain(0)
    await (await attached.swap(saying('new'))).retired
  })
})

it('metrics and health pages are those of the new app', async () => {
  const counted = metrics()
  const next = pipeline()
    .use(counted.filter)
    .use(health())
    .route('/metrics', r => r.handle(counted.handler))
    .handle(() => reply(200, 'x'))
  const { port, attached } = await edge(
    pipeline()
      .use(counted.filter)
      .handle(() => reply(404, '')),
  )
  const get = (path: string) => raw1(port, ask(path, 'Connection: close\r\n'))
  expect((await get('/healthz')).status).toBe(404)
  await attached.swap(next)
  expect((await get('/healthz')).status).toBe(200)
  // One `metrics()` may count for both apps: nothing is lost.
  const { body } = await get('/metrics')
  expect(body).toMatch(/postern_requests_total\{.*status="404"\} 1/)
  expect(body).toMatch(/postern_requests_in_flight 1/)
})

it('the app of a (req, res) function, and of its upgrades', async () => {
  const one = await socketOrigin()
  const two = await socketOrigin()
  const handler = toHandler(saying('old'))
  const upgrades = toUpgradeHandler(pipeline().handle(proxy(testUpstream(one.url))))
  const server = createServer(handler).on('upgrade', upgrades)
  const port = await listen(server)
  onTestFinished(() => void server.close())
  const get = () => raw1(port, ask('/', 'Connection: close\r\n'))
  expect((await get()).body).toBe('old')
  const socket = openWebSocket(`ws://127.0.0.1:${port}`)
  await once(socket, 'open')
  await handler.swap(saying('new'))
  const { retired } = await upgrades.swap(pipeline().handle(proxy(testUpstream(two.url))))
  expect((await get()).body).toBe('new')
  const next = openWebSocket(`ws://127.0.0.1:${port}`)
  await once(next, 'open')
  expect([one.sockets.size, two.sockets.size]).toEqual([1, 1])
  socket.close()
  await retired
  await expect(handler.swap({} as App)).rejects.toThrow(ConfigError)
})

it('1,000 swaps under load: no request fails, no app stays in memory', { timeout: 120_000 }, async () => {
  const up = await origin((res, seen) => res.end(seen.body.length > 0 ? seen.body : seen.target))
  const outcomes = new Map<number | string, number>()
  const refs: WeakRef<App>[] = []
  const build = (): { app: App; group: ReturnType<typeof upstream> } => {
    const group = upstream({ name: 'test', targets: [up.url] })
    const see: Filter = {
      name: 'see',
      onDone(_cx, { status, error }) {
        const key = error ? error.code : status
        outcomes.set(key, (outcomes.get(key) ?? 0) + 1)
      },
    }
    const app = pipeline().use(see).handle(proxy(group))
    refs.push(new WeakRef(app))
    return { app, group }
  }
  const running = [build(), build()]
  const two = await edge(running[0]!.app, 'h2c')
  const one = await edge(running[1]!.app)
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const session = session2(two.url)
  let swapping = true
  let asked = 0
  const worker = async (n: number): Promise<void> => {
    while (swapping) {
      const path = `/${asked++}`
      const body = n % 2 === 0 ? `body of ${path}` : ''
      const got = n < 4 ? await over2(session, path, body) : await over1(agent, one.port, path, body)
      expect(got).toEqual({ status: 200, body: body || path })
    }
  }
  const load = Promise.all(Array.from({ length: 8 }, (_, n) => worker(n)))
  const closing: Promise<void>[] = []
  for (let i = 0; i < 1000; i++) {
    const next = build()
    const { retired } = await [two, one][i % 2]!.attached.swap(next.app)
    const { group } = running[i % 2]!
    closing.push(retired.then(() => group.close()))
    running[i % 2] = next
    await new Promise(resolve => setImmediate(resolve))
  }
  swapping = false
  await load
  await Promise.all(closing)
  expect([...outcomes]).toEqual([[200, asked]])
  expect(asked).toBeGreaterThan(200)
  agent.destroy()
  for (const { group } of running) await group.close()
  const left = (): Promise<number> =>
    new Promise(resolve => up.server.getConnections((_e, count) => resolve(count)))
  for (let i = 0; i < 200 && (await left()) > 0; i++) await new Promise(resolve => setTimeout(resolve, 10))
  expect(await left()).toBe(0)

  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const alive = (): number => refs.filter(ref => ref.deref() !== undefined).length
  for (let i = 0; i < 50 && alive() > 4; i++) {
    await new Promise(resolve => setTimeout(resolve, 20))
    gc()
  }
  expect(alive()).toBeLessThanOrEqual(4)
})

async function over2(session: ClientHttp2Session, path: string, body: string) {
  const headers = { ':path': path, ':method': body ? 'POST' : 'GET' }
  const { status, body: text, code } = await request2(session, headers, body || undefined)
  return { status: code === 0 ? status : -code, body: text }
}

function over1(
  agent: Agent,
  port: number,
  path: string,
  body: string,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const req = sendRequest({ agent, port, path, method: body ? 'POST' : 'GET' }, res => {
      let text = ''
      res.on('data', chunk => {
        text += chunk
      })
      res.on('end', () => resolve({ status: res.statusCode!, body: text }))
      res.on('error', reject)
    })
    req.on('error', reject)
    req.end(body || undefined)
  })
}
