/** B065, B067 and how requests are spread: groups of targets under traffic. */
import { request as sendRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type Balance, pipeline, proxy, type UpstreamOptions } from '../src/index.ts'
import { get1, openSocket } from './support/clients.ts'
import { edge, origin, testUpstream, until } from './support/servers.ts'

/** Origins that say who they are. */
async function named(...names: string[]): Promise<{ name: string; url: string; seen: unknown[] }[]> {
  return Promise.all(names.map(async name => ({ name, ...(await origin(res => res.end(name))) })))
}

async function spread(targets: UpstreamOptions['targets'], options: Partial<UpstreamOptions>) {
  const group = testUpstream([], { targets, ...options })
  return { group, ...(await edge(pipeline().handle(proxy(group)))) }
}

/** One GET that reads to the end, however long that takes: what came, and whether it was whole. */
function whole(port: number, path = '/'): Promise<{ status: number; body: string; complete: boolean }> {
  return new Promise(resolve => {
    const req = sendRequest({ port, path, agent: false }, res => {
      let body = ''
      res.on('data', chunk => {
        body += chunk
      })
      res.on('error', () => {})
      res.on('close', () => resolve({ status: res.statusCode!, body, complete: res.complete }))
    })
    // Cut before the head arrived.
    req.on('error', () => resolve({ status: 0, body: '', complete: false }))
    req.end()
  })
}

const who = async (port: number, lines: string[] = []): Promise<string> => {
  const { body } = await get1(port, '/', lines)
  return body.replace(/[^a-z]|\r\n/g, '').slice(-1)
}
const whoOf = async (port: number, times: number, lines: string[] = []): Promise<string> => {
  let found = ''
  for (let i = 0; i < times; i++) found += await who(port, lines)
  return found
}

describe('balancing', () => {
  it.each([
    ['round-robin', 'abcabc'],
    ['least-requests', 'abcabc'],
  ] as [Balance, string][])('%s, one request after another', async (balance, order) => {
    const ups = await named('a', 'b', 'c')
    const { port } = await spread(
      ups.map(up => up.url),
      { balance },
    )
    expect(await whoOf(port, 6)).toBe(order)
  })

  it('by weight', async () => {
    const [a, b] = await named('a', 'b')
    const { port } = await spread([{ url: a!.url, weight: 3 }, b!.url], {})
    expect([...(await whoOf(port, 8))].sort().join('')).toBe('aaaaaabb')
  })

  it('peak-ewma gives a slow target little', async () => {
    const fast = await origin(res => res.end('f'))
    const slow = await origin(res => setTimeout(() => res.end('s'), 120))
    const { port } = await spread([fast.url, slow.url], { balance: 'peak-ewma' })
    for (let i = 0; i < 40; i++) await get1(port, '/')
    expect(slow.seen.length).toBeLessThan(8)
    expect(fast.seen.length + slow.seen.length).toBe(40)
  })

  it('least-requests leaves a busy target alone', async () => {
    const hangs = await origin(() => {})
    const free = await origin(res => res.end('f'))
    const { port, group } = await spread([hangs.url, free.url], { balance: 'least-requests' })
    const socket = openSocket(port)
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await until('one is busy', () => group.stats().targets[0]!.inFlight === 1)
    expect(await whoOf(port, 5)).toBe('fffff')
    expect(group.stats().targets.map(one => one.inFlight)).toEqual([1, 0])
    socket.destroy()
    await until('its place is free', () => group.stats().targets[0]!.inFlight === 0)
  })

  it.each([
    ['a header', { hash: { header: 'X-User' } }, (key: string) => [`X-User: ${key}`]],
    ['a cookie', { hash: { cookie: 'uid' } }, (key: string) => [`Cookie: a=b; uid=${key}`]],
    ['a function', { hash: cx => cx.request.headers.get('x-user') }, (key: string) => [`X-User: ${key}`]],
  ] as [string, Balance, (key: string) => string[]][])(
    'B067: the same target for the same value of %s',
    async (_what, balance, lines) => {
      const ups = await named('a', 'b', 'c')
      const { port, group } = await spread(
        ups.map(up => up.url),
        { balance },
      )
      const keys = Array.from({ length: 12 }, (_, i) => `user-${i}`)
      const before = new Map<string, string>()
      for (const key of keys) before.set(key, await who(port, lines(key)))
      expect(new Set(before.values()).size).toBeGreaterThan(1)
      for (const key of keys) expect(await who(port, lines(key))).toBe(before.get(key))
      await group.remove(ups[0]!.url)
      for (const key of keys) {
        const now = await who(port, lines(key))
        if (before.get(key) === 'a') expect(now).not.toBe('a')
        else expect(now).toBe(before.get(key))
      }
      group.add(ups[0]!.url)
      for (const key of keys) expect(await who(port, lines(key))).toBe(before.get(key))
    },
  )

  it('by address', async () => {
    const ups = await named('a', 'b', 'c')
    const { port } = await spread(
      ups.map(up => up.url),
      { balance: { hash: 'address' } },
    )
    expect(new Set(await whoOf(port, 6)).size).toBe(1)
  })
})

describe('sticky sessions', () => {
  const cookieOf = (head: string): string => /^set-cookie: (.*)$/im.exec(head)![1]!

  it('keep a client with its target, and tell it nothing', async () => {
    const ups = await named('a', 'b', 'c')
    const { port } = await spread(
      ups.map(up => up.url),
      { sticky: true },
    )
    const first = await get1(port, '/')
    const cookie = cookieOf(first.head)
    expect(cookie).toMatch(/^sticky=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax$/)
    for (const up of ups) {
      const address = new URL(up.url)
      for (const secret of [address.port, address.hostname, up.url]) {
        expect(cookie).not.toContain(Buffer.from(secret).toString('base64url').slice(0, 6))
        expect(cookie).not.toContain(secret)
      }
    }
    const value = cookie.split(';')[0]!
    const own = first.body.match(/[abc]/)![0]
    for (let i = 0; i < 6; i++) {
      const again = await get1(port, '/', [`Cookie: x=y; ${value}`])
      expect(again.body).toContain(own)
      expect(again.head).not.toMatch(/set-cookie/i)
    }
  })

  it('a value that nobody gave out is no value', async () => {
    const ups = await named('a', 'b')
    const { port } = await spread(
      ups.map(up => up.url),
      { sticky: { cookie: 'srv', maxAge: 60, path: '/x' } },
    )
    for (const value of ['', 'a', 'A'.repeat(22), 'A'.repeat(8000), ups[0]!.url, '__proto__']) {
      const { status, head } = await get1(port, '/', [`Cookie: srv=${value}`])
      expect(status).toBe(200)
      expect(cookieOf(head)).toMatch(/^srv=[\w-]{22}; Path=\/x; Max-Age=60; HttpOnly; SameSite=Lax$/)
    }
  })

  it('move when the target goes, and the same secret gives the same values', async () => {
    const ups = await named('a', 'b')
    const sticky = { secret: 'a secret of more than sixteen bytes' }
    const one = await spread(
      ups.map(up => up.url),
      { sticky },
    )
    const two = await spread(
      [...ups].reverse().map(up => up.url),
      { sticky },
    )
    const first = await get1(one.port, '/')
    const value = cookieOf(first.head).split(';')[0]!
    const own = ups.find(up => first.body.includes(up.name))!
    expect(await whoOf(two.port, 4, [`Cookie: ${value}`])).toBe(own.name.repeat(4))
    await one.group.drain(own.url)
    const moved = await get1(one.port, '/', [`Cookie: ${value}`])
    expect(cookieOf(moved.head).split(';')[0]).not.toBe(value)
    one.group.restore(own.url)
    expect(await whoOf(one.port, 2, [`Cookie: ${value}`])).toBe(own.name.repeat(2))
  })

  it('are Secure over TLS', async () => {
    const ups = await named('a', 'b')
    const group = testUpstream(
      ups.map(up => up.url),
      { sticky: true },
    )
    const { url } = await edge(pipeline().handle(proxy(group)), 'h2')
    const { session2, request2 } = await import('./support/clients.ts')
    const { headers } = await request2(session2(url), { ':path': '/' })
    expect(headers['set-cookie']![0]).toMatch(/; Secure$/)
  })
})

describe('B065: targets that come and go while it runs', () => {
  it('a removed one gets nothing more; what runs finishes; its connections close', async () => {
    let finish = (): void => {}
    const old = await origin((res, seen) => {
      if (seen.target !== '/slow') return void res.end('a')
      res.write('first ')
      finish = () => res.end('last')
    })
    let open = 0
    old.server.on('connection', socket => {
      open++
      socket.on('close', () => open--)
    })
    const [other] = await named('b')
    const { port, group } = await spread([old.url, other!.url], {})
    expect(await whoOf(port, 4)).toBe('abab')
    expect(open).toBeGreaterThan(0)
    const slow = whole(port, '/slow')
    await until('it runs', () => old.seen.length === 3)
    const gone = group.remove(old.url)
    let removed = false
    void gone.then(() => (removed = true))
    expect(await whoOf(port, 6)).toBe('bbbbbb')
    expect(removed).toBe(false)
    expect(group.stats().targets).toHaveLength(1)
    finish()
    expect(await slow).toMatchObject({ status: 200, body: 'first last', complete: true })
    await gone
    expect(old.seen).toHaveLength(3)
    await until('no connection is left', () => open === 0)
  })

  it('what runs too long on a removed one is cut', async () => {
    const old = await origin(res => void res.write('never ends'))
    const [other] = await named('b')
    const { port, group } = await spread([old.url, other!.url], { drainTimeout: 100 })
    const slow = whole(port)
    await until('it runs', () => old.seen.length === 1)
    await group.remove(old.url)
    expect((await slow).complete).toBe(false)
  })

  it('a drained one finishes what runs, and is there again when it is restored', async () => {
    const ups = await named('a', 'b')
    const { port, group } = await spread(
      ups.map(up => up.url),
      {},
    )
    await group.drain(ups[0]!.url)
    expect(await whoOf(port, 4)).toBe('bbbb')
    expect(group.stats().targets.map(one => [one.state, one.used])).toEqual([
      ['draining', false],
      ['up', true],
    ])
    group.restore(ups[0]!.url)
    expect([...(await whoOf(port, 4))].sort().join('')).toBe('aabb')
  })

  it('draining waits for what runs', async () => {
    let finish = (): void => {}
    const old = await origin(res => {
      finish = () => res.end('a')
    })
    const { port, group } = await spread([old.url], {})
    const slow = whole(port)
    await until('it runs', () => old.seen.length === 1)
    let drained = false
    const waiting = group.drain(old.url).then(() => (drained = true))
    expect((await get1(port, '/')).status).toBe(503)
    expect(drained).toBe(false)
    finish()
    await waiting
    expect((await slow).status).toBe(200)
  })

  it('an added one gets its share at once, or slowly', async () => {
    const ups = await named('a', 'b')
    const { port, group } = await spread([ups[0]!.url], {})
    expect(await whoOf(port, 2)).toBe('aa')
    group.add({ url: ups[1]!.url })
    expect([...(await whoOf(port, 4))].sort().join('')).toBe('aabb')

    const slow = await spread([ups[0]!.url], { slowStart: 60_000 })
    slow.group.add(ups[1]!.url)
    const cold = [...(await whoOf(slow.port, 22))].filter(name => name === 'b').length
    expect(cold).toBeGreaterThanOrEqual(1)
    expect(cold).toBeLessThanOrEqual(4)
  })

  it('counters survive the change and are given back once', async () => {
    const hangs = await origin(() => {})
    const [b, c] = await named('b', 'c')
    const { port, group } = await spread([hangs.url, b!.url], { balance: 'least-requests' })
    const sockets = []
    for (let i = 0; i < 5; i++) {
      const socket = openSocket(port)
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      sockets.push(socket)
    }
    await until('they run', () => hangs.seen.length >= 1)
    group.add(c!.url)
    expect(await whoOf(port, 6)).not.toContain('a')
    const running = group.stats().targets[0]!.inFlight
    expect(running).toBe(hangs.seen.length)
    for (const socket of sockets) socket.destroy()
    await until('nothing runs', () => group.stats().targets.every(one => one.inFlight === 0))
  })

  it('a group without targets that may be used answers 503 with Retry-After', async () => {
    const [a] = await named('a')
    const { port, group } = await spread([a!.url], {})
    await group.remove(a!.url)
    const { status, head, body } = await get1(port, '/')
    expect([status, /retry-after/i.test(head), body]).toEqual([
      503,
      true,
      expect.stringContaining('no upstream'),
    ])
    group.add(a!.url)
    expect(await who(port)).toBe('a')
  })
})

it('B071: close() waits for what runs, destroy() does not, and nothing is left', async () => {
  const slow = await origin(res => setTimeout(() => res.end('done'), 100))
  const { port, group } = await spread([slow.url], { health: { check: '/' } })
  const running = whole(port)
  await until('it runs', () => group.stats().targets[0]!.inFlight === 1)
  await group.close()
  expect((await running).status).toBe(200)
  expect((await get1(port, '/')).status).toBe(503)
  expect(() => group.add(slow.url)).toThrow(/closed/)
  await group.destroy()
})

it('B059: targets whose texts run together are different targets', async () => {
  const [a] = await named('a')
  const near = `${a!.url}1`
  const { group } = await spread(
    [`${a!.url}/1/x`, ...(Number(new URL(a!.url).port) < 6553 ? [near] : [])],
    {},
  )
  const labels = group.stats().targets.map(one => one.target)
  expect(new Set(labels).size).toBe(labels.length)
  expect(() => group.add(`${a!.url}/1/x/`)).toThrow(/there already/)
})
