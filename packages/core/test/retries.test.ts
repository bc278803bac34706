/** B001, B002, B006, B009, B027: what is sent again, and what never is. */
import { request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import {
  type Filter,
  type Outcome,
  type ProxyOptions,
  pipeline,
  proxy,
  type UpstreamOptions,
} from '../src/index.ts'
import { get1, openSocket, raw1 } from './support/clients.ts'
import { edge, listen, origin, rawOrigin, testUpstream, until } from './support/servers.ts'

/** A port where nobody listens. */
async function deadPort(): Promise<number> {
  const { createServer } = await import('node:net')
  const server = createServer()
  const port = await listen(server)
  await new Promise(resolve => server.close(resolve))
  return port
}

/** An edge that proxies, and the outcomes of its exchanges. */
async function journey(
  targets: string[],
  retry?: ProxyOptions['retry'],
  options: Partial<UpstreamOptions> = {},
) {
  const outcomes: Outcome[] = []
  const attempts: number[] = []
  const notes: Filter = {
    name: 'notes',
    onForward: (_cx, out) => void attempts.push(out.attempt),
    onDone: (_cx, outcome) => void outcomes.push(outcome),
  }
  const group = testUpstream(targets, options)
  const app = pipeline()
    .use(notes)
    .handle(proxy(group, retry === undefined ? {} : { retry }))
  return { ...(await edge(app)), group, outcomes, attempts }
}

const post = (port: number, body: string, method = 'POST'): ReturnType<typeof raw1> =>
  raw1(
    port,
    `${method} /x HTTP/1.1\r\nHost: edge.test\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )

/** Answers with keep-alive, and closes the connection straight after. */
function closesAfterAnswer(): ReturnType<typeof rawOrigin> {
  return rawOrigin(socket => {
    socket.on('data', chunk => {
      if (!chunk.includes('\r\n\r\n')) return
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
}

/** Answers once on each connection; the next request on it makes it close without a word. */
function staleAfterOne(seen: string[]): ReturnType<typeof rawOrigin> {
  return rawOrigin(socket => {
    let answered = false
    socket.on('data', chunk => {
      const text = chunk.toString('latin1')
      seen.push(text.slice(0, text.indexOf(' HTTP')))
      if (answered) socket.destroy()
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      answered = true
    })
  })
}

describe('B001: a kept connection that the upstream has closed', () => {
  it('never shows in 60 GETs, and a POST gets 200 or 502', async () => {
    const up = await closesAfterAnswer()
    const { port, outcomes } = await journey([up.url])
    for (let i = 0; i < 60; i++) expect((await get1(port, `/${i}`)).status).toBe(200)
    for (let i = 0; i < 60; i++) expect([200, 502]).toContain((await post(port, 'x')).status)
    for (const { status, error } of outcomes) {
      if (status === 502) expect(error!.code).toBe('stale-socket')
    }
  })

  it.each(['GET', 'HEAD', 'OPTIONS', 'DELETE'])('%s goes once more, over a new connection', async method => {
    const seen: string[] = []
    const up = await staleAfterOne(seen)
    const { port, outcomes, attempts, group } = await journey([up.url])
    await get1(port, '/first')
    const { status } = await raw1(port, `${method} /second HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    expect(status).toBe(200)
    expect(seen).toEqual(['GET /first', `${method} /second`, `${method} /second`])
    expect(attempts).toEqual([1, 1, 2])
    await until('both are over', () => outcomes.length === 2)
    expect(outcomes.map(one => [one.attempts, one.error])).toEqual([
      [1, null],
      [2, null],
    ])
    expect(group.stats().targets[0]).toMatchObject({ failures: 0, requests: 3, inFlight: 0 })
  })

  it.each([
    ['POST', 'body'],
    ['PATCH', 'body'],
    ['PUT', 'body'],
    ['POST', ''],
  ])('%s with the body %j is never repeated', async (method, body) => {
    const seen: string[] = []
    const up = await staleAfterOne(seen)
    const { port, outcomes } = await journey([up.url])
    await get1(port, '/first')
    expect((await post(port, body, method)).status).toBe(502)
    expect(seen.filter(line => line.startsWith(method))).toHaveLength(1)
    await until('both are over', () => outcomes.length === 2)
    expect(outcomes[1]).toMatchObject({ attempts: 1, error: { source: 'upstream', code: 'stale-socket' } })
  })

  it('a new connection that breaks is no stale one: one target, one attempt', async () => {
    const up = await rawOrigin(socket => socket.on('data', () => socket.destroy()))
    const { port, outcomes } = await journey([up.url])
    expect((await get1(port, '/')).status).toBe(502)
    await until('it is over', () => outcomes.length === 1)
    expect(outcomes[0]).toMatchObject({ attempts: 1, error: { code: 'upstream-reset' } })
  })

  it('a kept connection that breaks inside an answer is no stale one', async () => {
    let requests = 0
    const up = await rawOrigin(socket =>
      socket.on('data', () => {
        requests++
        if (requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        else socket.end('HTTP/1.1 200 O')
      }),
    )
    const { port } = await journey([up.url])
    await get1(port, '/first')
    expect((await get1(port, '/second')).status).toBe(502)
    expect(requests).toBe(2)
  })

  it('keeps idle connections for less than the upstream says', async () => {
    const up = await rawOrigin(socket =>
      socket.on('data', () =>
        socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok'),
      ),
    )
    const { port } = await journey([up.url])
    await get1(port, '/')
    await until('the connection is closed by the edge', () => up.closed() === 1)
  })
})

describe('B002: another target', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    '%s fails over when a target refuses, with its body whole',
    async method => {
      const up = await origin((res, seen) => res.end(seen.body))
      const dead = `http://127.0.0.1:${await deadPort()}`
      const { port, outcomes, group } = await journey([dead, up.url])
      const sent = 'body '.repeat(2000)
      for (let i = 0; i < 4; i++) {
        const { status, body } = await post(port, sent, method)
        expect([status, body]).toEqual([200, sent])
      }
      expect(up.seen.map(one => one.body.toString())).toEqual(Array(4).fill(sent))
      await until('all are over', () => outcomes.length === 4)
      expect(outcomes.map(one => one.attempts).sort()).toEqual([1, 1, 2, 2])
      expect(new Set(outcomes.map(one => one.target))).toEqual(new Set([up.url]))
      expect(group.stats().targets.map(one => [one.target, one.failures])).toEqual([
        [dead, 2],
        [up.url, 0],
      ])
    },
  )

  it('a POST whose body was read is not sent again: 502', async () => {
    const up = await origin()
    const drops = await origin((_res, _seen, req) => req.socket.destroy())
    const { port } = await journey([drops.url, up.url])
    const statuses = [await post(port, 'x'), await post(port, 'x')].map(one => one.status)
    expect(statuses.sort()).toEqual([200, 502])
    expect([drops.seen.length, up.seen.length]).toEqual([1, 1])
  })

  it('a POST with an empty body that may have been seen is not sent again either', async () => {
    const up = await origin()
    const drops = await origin((_res, _seen, req) => req.socket.destroy())
    const { port } = await journey([drops.url, up.url])
    const ask = () =>
      raw1(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    expect([(await ask()).status, (await ask()).status].sort()).toEqual([200, 502])
    expect([drops.seen.length, up.seen.length]).toEqual([1, 1])
  })

  it('a GET that broke goes to another one', async () => {
    const up = await origin(res => res.end('good'))
    const drops = await origin((_res, _seen, req) => req.socket.destroy())
    const { port, outcomes } = await journey([drops.url, up.url])
    for (let i = 0; i < 4; i++) expect((await get1(port, '/')).body).toContain('good')
    await until('all are over', () => outcomes.length === 4)
    expect(outcomes.map(one => one.attempts).sort()).toEqual([1, 1, 2, 2])
  })

  it('tries each target once, and tells the last failure when all fail', async () => {
    const dead = await Promise.all([deadPort(), deadPort(), deadPort(), deadPort()])
    const { port, outcomes } = await journey(
      dead.map(one => `http://127.0.0.1:${one}`),
      { attempts: 3 },
    )
    expect((await get1(port, '/')).status).toBe(502)
    await until('it is over', () => outcomes.length === 1)
    expect(outcomes[0]).toMatchObject({ attempts: 3, error: { code: 'connect-refused', phase: 'connect' } })
  })

  it('retry: false means once', async () => {
    const up = await origin()
    const { port, attempts } = await journey([`http://127.0.0.1:${await deadPort()}`, up.url], false)
    expect([(await get1(port, '/')).status, (await get1(port, '/')).status].sort()).toEqual([200, 502])
    expect(attempts).toEqual([1, 1])
  })

  it('retries that may be seen twice stay within the budget', async () => {
    const drops = await Promise.all([1, 2].map(() => origin((_res, _seen, req) => req.socket.destroy())))
    const { port } = await journey(
      drops.map(one => one.url),
      { budget: 20, perSecond: 0 },
      { health: { passive: false } },
    )
    for (let i = 0; i < 20; i++) expect((await get1(port, '/')).status).toBe(502)
    const asked = drops[0]!.seen.length + drops[1]!.seen.length
    expect(asked).toBeGreaterThanOrEqual(23)
    expect(asked).toBeLessThanOrEqual(24)
  })

  it('a body of which the target took a part before it refused is not sent again', async () => {
    const up = await origin()
    const half = await rawOrigin(socket => socket.once('data', () => socket.resetAndDestroy()))
    const { port } = await journey([half.url, up.url])
    const statuses: number[] = []
    for (let i = 0; i < 2; i++) {
      const status = await new Promise<number>(resolve => {
        const req = httpRequest({ port, method: 'PUT', agent: false }, res => {
          res.resume()
          resolve(res.statusCode!)
        })
        req.on('error', () => resolve(0))
        req.write('first part')
        setTimeout(() => req.end('second part'), 50)
      })
      statuses.push(status)
    }
    expect(statuses.filter(status => status === 200)).toHaveLength(1)
    expect(up.seen.map(one => one.body.toString())).toEqual(['first partsecond part'])
  })
})

describe('a status that is retried', () => {
  const busy = (retryAfter?: string) =>
    origin(res =>
      res
        .writeHead(503, retryAfter === undefined ? {} : { 'Retry-After': retryAfter, 'X-From': 'busy' })
        .end('busy'),
    )

  it('goes to another target, and nothing of the first answer is left', async () => {
    const [first, up] = [await busy('9'), await origin(res => res.end('good'))]
    const { port, outcomes } = await journey([first.url, up.url], { statuses: [503] })
    for (let i = 0; i < 4; i++) {
      const { status, head, body } = await get1(port, '/')
      expect([status, body.includes('good'), head.includes('X-From')]).toEqual([200, true, false])
    }
    await until('all are over', () => outcomes.length === 4)
    expect(outcomes.map(one => one.attempts).sort()).toEqual([1, 1, 2, 2])
  })

  it('is waited for when there is no other and Retry-After is short', async () => {
    let times = 0
    const up = await origin(res => {
      if (++times === 1) res.writeHead(503, { 'Retry-After': '1' }).end()
      else res.end('good')
    })
    const { port } = await journey([up.url], { statuses: [503], maxWait: 2000 })
    const started = performance.now()
    const { text } = await import('./support/clients.ts').then(({ exchangeBytes }) =>
      exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 3000),
    )
    expect(text).toContain('200 OK')
    expect(performance.now() - started).toBeGreaterThan(900)
    expect(times).toBe(2)
  })

  it.each([['60'], ['0'], ['soon'], [undefined]])('is passed on with Retry-After %s', async value => {
    const up = await busy(value)
    const { port } = await journey([up.url], { statuses: [503] })
    expect((await get1(port, '/')).status).toBe(503)
    expect(up.seen).toHaveLength(1)
  })

  it('is passed on for a POST, and by default', async () => {
    const [first, second] = [await busy(), await busy()]
    const retried = await journey([first.url, second.url], { statuses: [503] })
    expect((await post(retried.port, 'x')).status).toBe(503)
    const plain = await journey([first.url, second.url])
    expect((await get1(plain.port, '/')).status).toBe(503)
    expect(first.seen.length + second.seen.length).toBe(2)
  })

  it('a client that leaves while it is waited for ends it', async () => {
    const up = await busy('1')
    const { port, outcomes } = await journey([up.url], { statuses: [503] })
    const socket = openSocket(port)
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await until('it was asked', () => up.seen.length === 1)
    socket.destroy()
    await until('it is over', () => outcomes.length === 1)
    expect(outcomes[0]).toMatchObject({ status: 499, error: { source: 'client' } })
    await new Promise(resolve => setTimeout(resolve, 1300))
    expect(up.seen).toHaveLength(1)
  })
})

describe('B006: clients that leave', () => {
  it('never count against a target', async () => {
    const slow = await origin(res => setTimeout(() => res.end('late'), 300))
    const { port, outcomes, group } = await journey([slow.url, `${slow.url}/b`], undefined, {
      health: { passive: { consecutive: 1, errorRate: { share: 0.01, atLeast: 1 } } },
    })
    for (let i = 0; i < 100; i++) {
      const socket = openSocket(port)
      const head =
        i % 2 === 0
          ? 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
          : 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf'
      socket.once('connect', () => {
        socket.write(head)
        setTimeout(() => socket.destroy(), 5 + (i % 45))
      })
    }
    const sent = (): Outcome[] => outcomes.filter(one => one.attempts > 0)
    await until('all are over', () => sent().length === 100)
    expect(new Set(sent().map(one => one.error?.source))).toEqual(new Set(['client']))
    expect(group.stats().targets.map(one => [one.state, one.failures, one.inFlight])).toEqual([
      ['up', 0, 0],
      ['up', 0, 0],
    ])
  })
})

describe('B009: a dead upstream and a burst', () => {
  it('gives each client that stays one 502', async () => {
    const dead = `http://127.0.0.1:${await deadPort()}`
    const { port, outcomes } = await journey([dead])
    const asks = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? get1(port, '/') : post(port, 'x')))
    for (let i = 0; i < 50; i++) {
      const socket = openSocket(port)
      socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf')
      setTimeout(() => socket.destroy(), i % 10)
    }
    const replies = await Promise.all(asks)
    expect(replies.map(one => one.status)).toEqual(Array(100).fill(502))
    for (const one of replies) expect(one.body.match(/HTTP\/1\.1/g)).toBe(null)
    await until('all are over', () => outcomes.length >= 100)
  })
})

describe('B027: a retry starts from a clean slate', () => {
  it('nothing of half a head reaches the client', async () => {
    const half = await rawOrigin(socket =>
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nX-First: yes\r\nSet-Cookie: first=1\r\n')),
    )
    const up = await origin(res => res.end('whole'))
    const { port } = await journey([half.url, up.url])
    for (let i = 0; i < 4; i++) {
      const { status, head, body } = await get1(port, '/')
      expect(status).toBe(200)
      expect(body).toContain('whole')
      expect(head).not.toMatch(/first/i)
    }
  })

  it('after an interim response the request is not sent again', async () => {
    const half = await rawOrigin(socket =>
      socket.on('data', () => {
        socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')
        setTimeout(() => socket.destroy(), 30)
      }),
    )
    const up = await origin(res => res.end('whole'))
    const { port, outcomes } = await journey([half.url, up.url])
    await get1(port, '/')
    await get1(port, '/')
    await until('both are over', () => outcomes.length === 2)
    expect(outcomes.map(one => [one.status, one.attempts]).sort()).toEqual([
      [200, 1],
      [502, 1],
    ])
  })

  it('each attempt has its own head, and forward hooks see which it is', async () => {
    const up = await origin((res, seen) => res.end(seen.raw.join('\n')))
    const group = testUpstream([`http://127.0.0.1:${await deadPort()}`, up.url])
    const stamp: Filter = {
      name: 'stamp',
      onForward: (_cx, out) => void out.headers.append('X-Attempt', String(out.attempt)),
    }
    const { port } = await edge(pipeline().use(stamp).handle(proxy(group)))
    const bodies = [await get1(port, '/'), await get1(port, '/')].map(one => one.body.match(/X-Attempt\n\d/g))
    expect(bodies.map(String).sort()).toEqual(['X-Attempt\n1', 'X-Attempt\n2'])
  })
})
