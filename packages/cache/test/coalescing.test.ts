/** Many clients and one origin: one fetch where one answer is for all, and nobody waits for what another does. */
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { cachingEdge, type Got, leavingClient, openReply, turn, until } from './support.ts'

const FRESH = { 'Cache-Control': 'max-age=60' }
const many = <T>(count: number, one: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => one(i))

describe('a cold key', () => {
  test('a thousand clients at once: one request to the origin', { timeout: 60_000 }, async () => {
    const held: ServerResponse[] = []
    const { get, seen } = await cachingEdge(res => void held.push(res))
    const clients = many(1000, () => get('/x'))
    await until('the origin is asked', () => held.length > 0)
    // All of them are in: the edge has them all while the origin holds its answer.
    await turn(300)
    held[0]!.writeHead(200, FRESH).end('one body')
    const got = await Promise.all(clients)
    expect(new Set(got.map(one => `${one.status} ${one.body} ${one.broken}`))).toEqual(
      new Set(['200 one body false']),
    )
    expect(seen).toHaveLength(1)
    expect(held).toHaveLength(1)
  })

  test('the body goes to all as it arrives', async () => {
    const held: ServerResponse[] = []
    const { port, seen } = await cachingEdge(res => {
      held.push(res)
      res.writeHead(200, FRESH).write('first ')
    })
    const one = await openReply(port, '/x')
    const [chunk] = await once(one.res)
    expect(chunk).toBe('first ')
    // Long before the end, another joins and has the same.
    const two = await openReply(port, '/x')
    expect(await once(two.res)).toEqual(['first '])
    held[0]!.end('last')
    expect([await rest(one.res), await rest(two.res)]).toEqual(['last', 'last'])
    expect(seen).toHaveLength(1)
  })

  test('the one who was first may leave', async () => {
    const held: ServerResponse[] = []
    const { get, port, seen } = await cachingEdge(res => void held.push(res))
    const first = leavingClient(port, '/x')
    await until('the origin is asked', () => held.length === 1)
    const others = many(20, () => get('/x'))
    await turn(50)
    first.leave()
    await turn(50)
    held[0]!.writeHead(200, FRESH).end('still')
    for (const one of await Promise.all(others)) expect(one).toMatchObject({ status: 200, body: 'still' })
    expect(seen).toHaveLength(1)
  })

  test('when all have left, the origin is told', async () => {
    let closed = 0
    const { port, store } = await cachingEdge(res => {
      res.on('close', () => closed++)
      if (res.req.url === '/body') res.writeHead(200, FRESH).write('some')
    })
    for (const path of ['/head', '/body']) {
      const before = closed
      const clients = many(3, () => leavingClient(port, path))
      await turn(60)
      for (const client of clients) client.leave()
      await until(`${path} is cancelled`, () => closed > before)
    }
    await until('nothing is under way', () => store.stats().fetches === 0)
    expect(store.stats()).toMatchObject({ entries: 0, bytes: 0 })
  })

  test('interim responses go to all, and are not stored', async () => {
    const held: ServerResponse[] = []
    const { get } = await cachingEdge(res => void held.push(res))
    const clients = many(3, () => get('/x'))
    await until('the origin is asked', () => held.length === 1)
    await turn(50)
    held[0]!.writeEarlyHints({ link: '</a.css>; rel=preload' })
    await turn(50)
    clients.push(get('/x'))
    await turn(50)
    held[0]!.writeHead(200, FRESH).end('x')
    for (const one of await Promise.all(clients)) expect(one.interim).toEqual([103])
    expect((await get('/x')).interim).toEqual([])
  })
})

describe('an answer that is not for all', () => {
  test('lets nobody wait for another', async () => {
    const held: ServerResponse[] = []
    const { get, seen } = await cachingEdge(res => void held.push(res))
    const answer = (): void => {
      for (const res of held.splice(0)) res.writeHead(200, { 'Cache-Control': 'private' }).end('mine')
    }
    const clients = many(50, () => get('/x'))
    await until('one is asked', () => held.length === 1)
    await turn(50)
    answer()
    // All others at once: they would deadlock here if they went one by one.
    await until('all others are asked', () => held.length === 49)
    answer()
    expect((await Promise.all(clients)).every(one => one.body === 'mine')).toBe(true)
    // And the next time nobody waits even for the first.
    const again = many(50, () => get('/x'))
    await until('all are asked', () => held.length === 50)
    answer()
    await Promise.all(again)
    expect(seen).toHaveLength(100)
  })

  test('is never given to the next in line, should its own client have left', async () => {
    const held: ServerResponse[] = []
    const { get, port } = await cachingEdge(res => void held.push(res))
    const first = leavingClient(port, '/account', { cookie: 'user=alice' })
    await until('the origin is asked', () => held.length === 1)
    const second = get('/account', { cookie: 'user=bob' })
    await turn(50)
    first.leave()
    await turn(50)
    held[0]!.writeHead(200, { 'Cache-Control': 'private' }).end(`for ${held[0]!.req.headers.cookie}`)
    await until('the origin is asked again', () => held.length === 2)
    held[1]!.writeHead(200, { 'Cache-Control': 'private' }).end(`for ${held[1]!.req.headers.cookie}`)
    expect((await second).body).toBe('for user=bob')
  })

  test('a response to be validated each time is validated for each', async () => {
    const held: ServerResponse[] = []
    const { get } = await cachingEdge(res => {
      if (res.req.headers['if-none-match'] === '"a"') res.writeHead(304).end()
      else held.push(res)
    })
    const fields = { 'Cache-Control': 'no-cache', ETag: '"a"' }
    const clients = many(5, () => get('/x'))
    await until('one is asked', () => held.length === 1)
    await turn(50)
    held.shift()!.writeHead(200, fields).end('v')
    await until('others are asked', () => held.length === 4)
    for (const res of held.splice(0)) res.writeHead(200, fields).end('v')
    for (const one of await Promise.all(clients)) expect(one.body).toBe('v')
    expect(await get('/x')).toMatchObject({ status: 200, body: 'v' })
    expect(await get('/x', { 'if-none-match': '"a"' })).toMatchObject({ status: 304, body: '' })
  })
})

describe('variants', () => {
  test('each is fetched once, side by side', async () => {
    const held: ServerResponse[] = []
    const { get, seen } = await cachingEdge(res => void held.push(res))
    const answer = (res: ServerResponse): void => {
      const language = res.req.headers['accept-language']!
      res.writeHead(200, { ...FRESH, Vary: 'Accept-Language' }).end(language)
    }
    const languages = ['de', 'en', 'fr']
    const clients = many(30, index => get('/x', { 'accept-language': languages[index % 3]! }))
    await until('one is asked', () => held.length === 1)
    await turn(50)
    answer(held[0]!)
    await until('the others are asked', () => held.length >= 3)
    await turn(50)
    for (const res of held.slice(1)) answer(res)
    const got = await Promise.all(clients)
    for (const [index, one] of got.entries()) expect(one.body).toBe(languages[index % 3])
    // The first answer tells what to vary by; those who waited for it in vain go by themselves.
    expect(seen.length).toBeLessThanOrEqual(1 + 20)
    const before = seen.length
    for (const language of languages)
      expect((await get('/x', { 'accept-language': language })).body).toBe(language)
    expect(seen).toHaveLength(before)
  })
})

describe('an origin that fails', () => {
  test('answers all who wait at once', async () => {
    const { get, seen } = await cachingEdge(res => setTimeout(() => res.socket!.destroy(), 1000))
    const got = await Promise.all(many(200, () => get('/x')))
    expect(new Set(got.map(one => one.status))).toEqual(new Set([502]))
    expect(seen).toHaveLength(1)
  })

  test('that stalls before its head: all have 504 when its time is up', async () => {
    const { get, seen } = await cachingEdge(() => {}, {}, { timeouts: { head: 1000 } })
    const got = await Promise.all(many(200, () => get('/x')))
    expect(new Set(got.map(one => one.status))).toEqual(new Set([504]))
    expect(seen).toHaveLength(1)
  })

  test('in the body: nobody takes it for whole, and nothing is stored', async () => {
    const held: ServerResponse[] = []
    const { get, store } = await cachingEdge(res => {
      held.push(res)
      res.writeHead(200, { ...FRESH, 'Content-Length': 100 }).write('half')
    })
    const clients = many(5, () => get('/x'))
    await until('one is asked', () => held.length === 1)
    await turn(80)
    held[0]!.socket!.destroy()
    for (const one of await Promise.all(clients)) expect(one).toMatchObject({ body: 'half', broken: true })
    expect(store.stats()).toEqual({ entries: 0, bytes: 0, fetches: 0 })
  })

  test('gives what is stale, unless that is forbidden', async () => {
    let down = false
    const { get, seen } = await cachingEdge((res, { target }) => {
      if (down) return void setTimeout(() => res.socket!.destroy(), 100)
      const more = target === '/strict' ? ', must-revalidate' : ''
      res.writeHead(200, { 'Cache-Control': `max-age=1${more}`, ETag: '"a"' }).end('old')
    })
    await get('/x')
    await get('/strict')
    down = true
    await turn(1100)
    expect(await Promise.all(many(20, () => get('/x')))).toSatisfy((got: Got[]) =>
      got.every(one => one.status === 200 && one.body === 'old' && Number(one.headers.age) >= 1),
    )
    expect((await get('/strict')).status).toBe(502)
    expect(seen).toHaveLength(4)
  })
})

describe('slow readers', () => {
  const SIZE = 6_000_000

  test('hold nobody up while the body is kept', async () => {
    const body = Buffer.alloc(SIZE, 'x')
    const { get, port, seen } = await cachingEdge(res => res.writeHead(200, FRESH).end(body))
    const slow = await openReply(port, '/x')
    slow.res.pause()
    const got = await Promise.all(many(5, () => get('/x')))
    for (const one of got) expect(one.body).toHaveLength(SIZE)
    expect(seen).toHaveLength(1)
    expect((await rest(slow.res)).length).toBe(SIZE)
  })

  test('are cut when they lie too far behind in a body that is not kept', async () => {
    const held: ServerResponse[] = []
    // Of unknown length, so that it is found out late.
    const { port, store } = await cachingEdge(
      res => {
        held.push(res)
        res.writeHead(200, FRESH).write('start')
      },
      { maxEntryBytes: 100_000 },
    )
    const slow = await openReply(port, '/x')
    const quick = await openReply(port, '/x')
    slow.res.pause()
    const whole = rest(quick.res)
    for (let i = 0; i < 40; i++) if (!held[0]!.write(Buffer.alloc(500_000, 'y'))) await drained(held[0]!)
    held[0]!.end()
    expect((await whole).length).toBe(5 + 20_000_000)
    await rest(slow.res)
    expect(slow.res.complete).toBe(false)
    expect(held).toHaveLength(1)
    expect(store.stats()).toEqual({ entries: 0, bytes: 0, fetches: 0 })
  })

  test('alone, they slow the origin down', async () => {
    let written = 0
    const { port } = await cachingEdge(
      res => {
        res.writeHead(200, FRESH)
        const more = (): void => {
          while (!res.destroyed && written < 50_000_000) {
            written += 100_000
            if (!res.write(Buffer.alloc(100_000))) return void res.once('drain', more)
          }
          res.end()
        }
        more()
      },
      { maxEntryBytes: 100_000 },
    )
    const slow = await openReply(port, '/x')
    slow.res.pause()
    let before = -1
    while (before !== written) {
      before = written
      await turn(200)
    }
    expect(written).toBeLessThan(30_000_000)
    expect((await rest(slow.res)).length).toBe(50_000_000)
  })
})

describe('purges and updates', () => {
  test.each(['purge', 'tag', 'prefix', 'all', 'update'])(
    '%s: what was on its way is not stored',
    async how => {
      const held: ServerResponse[] = []
      const { get, store } = await cachingEdge((res, { method }) => {
        if (method === 'PUT') res.writeHead(204).end()
        else held.push(res)
      })
      const early = get('/x')
      await until('the origin is asked', () => held.length === 1)
      if (how === 'purge') store.purge.url('http://edge.test/x')
      if (how === 'tag') store.purge.tag('t')
      if (how === 'prefix') store.purge.prefix('http://edge.test/')
      if (how === 'all') store.purge.all()
      if (how === 'update') await get('/x', {}, 'PUT', 'new')
      // Whoever comes after it does not join.
      const late = get('/x')
      await until('the origin is asked anew', () => how === 'tag' || held.length === 2)
      held[0]!.writeHead(200, { ...FRESH, 'Cache-Tag': 'a, t' }).end('old')
      expect((await early).body).toBe('old')
      if (how === 'tag') await until('the origin is asked anew', () => held.length === 2)
      held[1]!.writeHead(200, FRESH).end('new')
      expect((await late).body).toBe('new')
      expect((await get('/x')).body).toBe('new')
      expect(held).toHaveLength(2)
    },
  )

  test('an older fetch that ends later does not replace a newer one', async () => {
    const held: ServerResponse[] = []
    const { get } = await cachingEdge(res => void held.push(res))
    const older = get('/x', { 'cache-control': 'no-cache' })
    await until('asked', () => held.length === 1)
    // Another kind of client: it does not wait for the first.
    const newer = get('/x', { cookie: 'a=b' })
    await until('asked twice', () => held.length === 2)
    held[1]!.writeHead(200, FRESH).end('newer')
    await newer
    held[0]!.writeHead(200, FRESH).end('older')
    await older
    expect((await get('/x')).body).toBe('newer')
  })
})

test('stale-while-revalidate: one fetch in the background, nobody waits', async () => {
  const held: ServerResponse[] = []
  let hold = false
  const { get, seen } = await cachingEdge(res => {
    if (hold) held.push(res)
    else res.writeHead(200, { 'Cache-Control': 'max-age=1, stale-while-revalidate=60' }).end('old')
  })
  await get('/x')
  await turn(1100)
  hold = true
  for (const one of await Promise.all(many(20, () => get('/x')))) expect(one.body).toBe('old')
  await until('one is asked', () => held.length === 1)
  held[0]!.writeHead(200, FRESH).end('new')
  for (let i = 0; i < 100 && (await get('/x')).body !== 'new'; i++) await turn(10)
  expect((await get('/x')).body).toBe('new')
  expect(seen).toHaveLength(2)
})

function once(stream: NodeJS.ReadableStream): Promise<string[]> {
  return new Promise(resolve => stream.once('data', chunk => resolve([String(chunk)])))
}

function rest(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise(resolve => {
    let text = ''
    stream.on('data', chunk => {
      text += chunk.toString('latin1')
    })
    stream.on('close', () => resolve(text))
    stream.resume()
  })
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise(resolve => res.once('drain', resolve))
}
