/** Targets that flap, reset, stall and talk nonsense, under load: nobody gets a wrong or mixed body, and nothing is left. */
import { createHash } from 'node:crypto'
import { Agent, createServer, type Server, request as sendRequest } from 'node:http'
import type { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { type Filter, type Outcome, pipeline, proxy } from '../src/index.ts'
import { edge, listen, origin, rawOrigin, testUpstream, until } from './support/servers.ts'

/** More of them make a longer soak: `SOAK_REQUESTS=30000 npx vitest run packages/core/test/soak.test.ts`. */
const REQUESTS = Number(process.env.SOAK_REQUESTS ?? 2000)
const AT_ONCE = 32

/** The body of a path: of a length and with bytes that belong to it alone. */
function bodyOf(path: string): Buffer {
  const seed = createHash('sha256').update(path).digest()
  return Buffer.concat(Array.from({ length: 1 + (seed[0]! % 40) * 50 }, () => seed))
}

/** A port on which a server comes and goes. */
async function flapping(): Promise<{ url: string; stop(): void }> {
  const sockets = new Set<Socket>()
  const make = (): Server =>
    createServer((req, res) => res.end(bodyOf(req.url!))).on('connection', socket => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
  let server = make()
  const port = await listen(server)
  const timer = setInterval(() => {
    if (!server.listening) {
      server = make()
      server.on('error', () => {})
      server.listen(port, '127.0.0.1')
      return
    }
    server.close()
    for (const socket of sockets) socket.destroy()
  }, 60)
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      clearInterval(timer)
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

it('soak', { timeout: 600_000 }, async () => {
  const rejections: unknown[] = []
  const onRejection = (reason: unknown): void => void rejections.push(reason)
  process.on('unhandledRejection', onRejection)

  const good = await origin((res, seen) => res.end(bodyOf(seen.target)))
  const flaps = await flapping()
  let turn = 0
  const resets = await origin((res, seen, req) => {
    const body = bodyOf(seen.target)
    turn++
    if (turn % 4 === 0) req.socket.resetAndDestroy()
    else if (turn % 4 === 1) {
      res.writeHead(200, { 'Content-Length': body.length })
      res.write(body.subarray(0, body.length >> 1), () => req.socket.destroy())
    } else res.end(body)
  })
  const stalls = await origin((res, seen) => {
    turn++
    if (turn % 8 === 0) return
    res.end(bodyOf(seen.target))
  })
  const garbage = await rawOrigin(socket => {
    const texts = [
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhellHTTP/1.1',
      'nonsense\r\n\r\n',
      'HTTP/1.1 2',
      '\0\0\0',
    ]
    socket.on('data', () => socket.end(texts[turn++ % texts.length]!))
  })

  const outcomes: Outcome[] = []
  const notes: Filter = { name: 'notes', onDone: (_cx, outcome) => void outcomes.push(outcome) }
  const group = testUpstream([good.url, flaps.url, resets.url, stalls.url, garbage.url], {
    connections: 16,
    timeouts: { head: 400, idle: 400, connect: 400 },
    health: { passive: { consecutive: 3, backoff: 50, maxBackoff: 200, successes: 1 } },
  })
  const { port } = await edge(pipeline().use(notes).handle(proxy(group)))

  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  onTestFinished(() => agent.destroy())
  const counts = { whole: 0, failed: 0, cut: 0, wrong: 0 }
  const one = async (at: number): Promise<void> => {
    counts[await outcomeOf(at)]++
  }
  const outcomeOf = (at: number): Promise<keyof typeof counts> =>
    new Promise(resolve => {
      const path = `/${at}-${'x'.repeat(at % 7)}`
      const method = at % 5 === 0 ? 'POST' : 'GET'
      const req = sendRequest({ agent, port, path, method }, res => {
        const chunks: Buffer[] = []
        res.on('data', chunk => chunks.push(chunk))
        res.on('error', () => {})
        res.on('close', () => {
          if (res.statusCode !== 200) resolve('failed')
          else if (!res.complete) resolve('cut')
          // A whole answer of the one that talks nonsense cannot be told from a right one: five bytes of its own.
          else if (Buffer.concat(chunks).equals(bodyOf(path))) resolve('whole')
          else resolve(Buffer.concat(chunks).toString() === 'hellH' ? 'whole' : 'wrong')
        })
      })
      req.on('error', () => resolve('cut'))
      if (method === 'POST') req.write(`body of ${path}`)
      req.end()
    })
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < REQUESTS) await one(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  flaps.stop()

  expect(counts.wrong).toBe(0)
  expect(rejections).toEqual([])
  expect(counts.whole).toBeGreaterThan(REQUESTS * 0.7)
  await until('all are over', () => outcomes.length === REQUESTS)
  for (const { status, error } of outcomes) if (status !== 200) expect(error).not.toBe(null)
  expect(outcomes.filter(one => one.error !== null).every(one => one.error!.source === 'upstream')).toBe(true)
  expect(outcomes.some(one => one.attempts > 1)).toBe(true)
  // Nothing is under way any more, and nothing was counted twice.
  expect(group.stats().targets.map(target => target.inFlight)).toEqual([0, 0, 0, 0, 0])
  expect(group.stats().targets.reduce((sum, target) => sum + target.requests, 0)).toBe(
    outcomes.reduce((sum, outcome) => sum + outcome.attempts, 0),
  )
  await group.close()
  await until('no connection is left', () => garbage.sockets.size === 0)
  process.off('unhandledRejection', onRejection)
})

it('B070: targets that come and go leave no timers, sockets or listeners', async () => {
  const up = await origin(res => res.end('x'))
  const group = testUpstream(up.url, { health: { check: { path: '/', interval: 10 } }, warm: 1 })
  const { port } = await edge(pipeline().handle(proxy(group)))
  const get = (): Promise<void> =>
    new Promise((resolve, reject) => {
      sendRequest({ port, agent: false }, res => res.resume().on('end', resolve))
        .on('error', reject)
        .end()
    })
  const open = (): number => {
    const kinds = process.getActiveResourcesInfo()
    return kinds.filter(kind => kind === 'TCPSocketWrap' || kind === 'Timeout').length
  }
  await get()
  await until('it is warm', () => group.stats().targets[0]!.state === 'up')
  const before = open()
  for (let i = 0; i < 60; i++) {
    const target = `${up.url}/${i}`
    group.add(target)
    await get()
    await get()
    await group.remove(target)
  }
  expect(group.stats().targets).toHaveLength(1)
  await until('what they had is gone', () => open() <= before + 3)
})
