/** Renewal, fall-back, back-off and shared storage, against a small CA; and a CA that answers wrongly. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pipeline, reply } from '@postern/core'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { renewalId } from '../src/acme/schedule.ts'
import {
  type AcmeOptions,
  type AcmeStorage,
  acme,
  certificates,
  fileStorage,
  memoryStorage,
  type TlsEvent,
} from '../src/index.ts'
import { authority } from './support/authority.ts'
import { type FakeCa, fakeCa } from './support/fake-ca.ts'
import { folder } from './support/servers.ts'

// Handshakes and keys take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const HOUR = 3_600_000
const DAY = 24 * HOUR
let now = Date.now()
const clock = (): number => now

/** An issuer with a store, and its events. The first look is over. */
async function issuing(cas: FakeCa[], options: Partial<AcmeOptions> = {}) {
  for (const ca of cas) ca.clock = clock
  const events: TlsEvent[] = []
  const log = (event: TlsEvent): void => void events.push(event)
  const issuer = acme({
    names: ['a.example.com'],
    acceptTerms: true,
    storage: memoryStorage(),
    authorities: cas.map(({ directory, ca }) => ({ directory, ca })),
    clock,
    random: () => 0,
    log,
    ...options,
  })
  const tls = await certificates({ acme: issuer, log, clock, tickets: false })
  onTestFinished(() => tls.close())
  await issuer.check()
  return { issuer, tls, events, failures: () => events.filter(event => event.kind === 'acme-failed') }
}

function problem(
  res: ServerResponse,
  type: string,
  status = 403,
  headers: Record<string, string> = {},
): boolean {
  res.writeHead(status, { 'Replay-Nonce': 'bm9uY2U', ...headers })
  res.end(JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail: `no \u0007${type}\r\nhere` }))
  return true
}

describe('renewal', () => {
  test('inside the window that the CA suggests, and says which certificate it replaces', async () => {
    const ca = await fakeCa()
    const { issuer, tls } = await issuing([ca])
    const first = tls.find('a.example.com')!
    const id = renewalId(storedPem(tls.certificates[0]!.chain[0]!))!
    ca.window = { start: now + 10 * DAY, end: now + 12 * DAY }
    now += 7 * HOUR
    await issuer.check()
    expect(ca.log.at(-1)).toMatchObject({ method: 'GET', path: `/ari/${id}` })
    now += 9 * DAY
    await issuer.check()
    expect(tls.find('a.example.com')!.fingerprint256).toBe(first.fingerprint256)
    now += 3 * DAY
    await issuer.check()
    expect(tls.find('a.example.com')!.fingerprint256).not.toBe(first.fingerprint256)
    expect(ca.orders()).toEqual([
      { identifiers: [{ type: 'dns', value: 'a.example.com' }] },
      { identifiers: [{ type: 'dns', value: 'a.example.com' }], replaces: id },
    ])
  })

  test('at once when the window is past: the CA means to revoke', async () => {
    const ca = await fakeCa()
    const { issuer, tls } = await issuing([ca])
    const first = tls.find('a.example.com')!.fingerprint256
    ca.window = { start: now - 2 * DAY, end: now - DAY }
    now += 7 * HOUR
    await issuer.check()
    expect(tls.find('a.example.com')!.fingerprint256).not.toBe(first)
  })

  test('without a window when a third of the life is left; asks for it as seldom as the CA wants', async () => {
    const ca = await fakeCa()
    const { issuer, tls } = await issuing([ca])
    const first = tls.find('a.example.com')!.fingerprint256
    now += 50 * DAY
    await issuer.check()
    expect(tls.find('a.example.com')!.fingerprint256).toBe(first)
    const asked = ca.log.filter(entry => entry.path.startsWith('/ari')).length
    await issuer.check()
    await issuer.check()
    expect(ca.log.filter(entry => entry.path.startsWith('/ari'))).toHaveLength(asked)
    now += 11 * DAY
    await issuer.check()
    expect(tls.find('a.example.com')!.fingerprint256).not.toBe(first)
  })

  test('of a certificate that the CA says was replaced already is an order like any other', async () => {
    const ca = await fakeCa()
    const { issuer, tls } = await issuing([ca])
    const first = tls.find('a.example.com')!.fingerprint256
    ca.intercept = (path, res, payload) =>
      path === '/order' && payload?.replaces !== undefined && problem(res, 'alreadyReplaced', 409)
    now += 70 * DAY
    await issuer.check()
    expect(tls.find('a.example.com')!.fingerprint256).not.toBe(first)
  })

  test('that fails leaves the valid certificate alone and is told as a warning', async () => {
    const ca = await fakeCa()
    const { issuer, tls, failures } = await issuing([ca])
    const first = tls.find('a.example.com')!
    now += 70 * DAY
    for (const wrong of [
      (_path: string, res: ServerResponse) => problem(res, 'serverInternal', 500),
      (_path: string, res: ServerResponse) => Boolean(res.destroy()),
      (_path: string, res: ServerResponse) => Boolean(res.end('<html>')),
    ]) {
      ca.intercept = (path, res) => path === '/order' && wrong(path, res)
      now += 2 * HOUR
      await issuer.check()
      expect(tls.find('a.example.com')!.fingerprint256).toBe(first.fingerprint256)
      expect(tls.isReady()).toBe(true)
    }
    expect(failures().map(event => event.level)).toEqual(['warn', 'warn', 'warn'])
    // What a CA writes reaches the log as one line.
    expect(failures()[0]!.message).toContain('serverInternal: no serverInternal here')
  })
})

describe('back-off', () => {
  test('doubles from 5 minutes to a day, and a restart does not begin again', async () => {
    const ca = await fakeCa()
    ca.intercept = (path, res) => path === '/order' && problem(res, 'unauthorized')
    const storage = memoryStorage()
    const { issuer } = await issuing([ca], { storage })
    const attempts = (): number => ca.orders().length
    expect(attempts()).toBe(1)
    const waits: number[] = []
    for (let i = 0; i < 11; i++) {
      let waited = 0
      const before = attempts()
      while (attempts() === before) {
        now += 60_000
        waited++
        if (waited > 1500) throw new Error('it is never tried again')
        // Not each minute, so that the test is quick: the last minutes before and after are what counts.
        if (waited < Math.min(1435, 4 * 2 ** i)) continue
        await issuer.check()
      }
      waits.push(waited)
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440])
    const again = await issuing([ca], { storage })
    await again.issuer.check()
    expect(attempts()).toBe(12)
  })

  test('waits as long as the CA asks', async () => {
    const ca = await fakeCa()
    ca.intercept = (path, res) =>
      path === '/order' && problem(res, 'rateLimited', 429, { 'Retry-After': '7200' })
    const { issuer } = await issuing([ca])
    now += 119 * 60_000
    await issuer.check()
    expect(ca.orders()).toHaveLength(1)
    now += 2 * 60_000
    await issuer.check()
    expect(ca.orders()).toHaveLength(2)
  })
})

describe('a CA is never hammered', () => {
  test('by one whose windows are always past: an hour of rest, doubled each time up to a day', async () => {
    const ca = await fakeCa()
    ca.window = { start: now - 2 * DAY, end: now - DAY }
    ca.retryAfter = '60'
    const { issuer } = await issuing([ca])
    const gaps: number[] = []
    for (let i = 0, hours = 0; i < 6; i++, hours = 0) {
      const before = ca.orders().length
      while (ca.orders().length === before && hours < 50) {
        now += HOUR
        hours++
        await issuer.check()
      }
      gaps.push(hours)
    }
    expect(gaps).toEqual([1, 2, 4, 8, 16, 24])
  })

  test('by many names when it is down or says that we ask too much', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `n${i}.example.com`)
    for (const [status, type] of [
      [429, 'rateLimited'],
      [503, 'serverInternal'],
    ] as const) {
      const ca = await fakeCa()
      let down = true
      ca.intercept = (path, res) =>
        down && path === '/order' && problem(res, type, status, { 'Retry-After': '300' })
      const { issuer, failures } = await issuing([ca], { names })
      for (let i = 0; i < 5; i++) await issuer.check()
      expect([ca.orders().length, failures().length]).toEqual([1, 1])
      down = false
      now += 6 * 60_000
      await issuer.check()
      // The one that failed waits for its own time.
      expect(ca.orders().length).toBeGreaterThanOrEqual(8)
    }
  })

  test('a clock that was wrong for a while stops nothing', async () => {
    const ca = await fakeCa()
    const storage = memoryStorage()
    const before = now
    ca.intercept = (path, res) => path === '/order' && problem(res, 'unauthorized')
    now += 3650 * DAY
    const { issuer } = await issuing([ca], { storage })
    expect(ca.orders()).toHaveLength(1)
    now = before
    ca.intercept = null
    await issuer.check()
    expect(ca.orders()).toHaveLength(2)
    // Forward and back again while a certificate is there: it is replaced once, and lives on.
    now += 365 * DAY
    await issuer.check()
    now = before + DAY
    await issuer.check()
    expect(ca.orders()).toHaveLength(3)
  })
})

describe('on demand', () => {
  test('allow() that never answers holds no place for ever', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const asked: string[] = []
    const allow = (name: string): Promise<boolean> => {
      asked.push(name)
      return new Promise(() => {})
    }
    const issuer = acme({
      ...{ names: [], acceptTerms: true, storage: memoryStorage(), onDemand: { allow } },
      ...{ authorities: [{ directory: 'https://127.0.0.1:1/dir' }], log() {} },
    })
    onTestFinished(() => issuer.close())
    const waiting = Array.from({ length: 20 }, (_, i) => issuer.missing(`n${i}.example.com`))
    expect(waiting.filter(one => one !== null)).toHaveLength(8)
    await vi.advanceTimersByTimeAsync(11_000)
    await Promise.all(waiting)
    expect(issuer.missing('m.example.com')).not.toBeNull()
    expect(asked).toHaveLength(9)
  })

  test.each([
    '10.0.0.1',
    'localhost',
    'a..example',
    '*.example.com',
    '-a.example',
    'a/../b.example',
    'x'.repeat(250),
  ])('is not asked for %s', name => {
    const issuer = acme({
      ...{ names: [], acceptTerms: true, storage: memoryStorage(), log() {} },
      onDemand: { allow: () => true },
    })
    onTestFinished(() => issuer.close())
    expect(issuer.missing(name)).toBeNull()
  })

  test('a flood of names orders no more than `perHour`, and what is not wanted any more makes room', async () => {
    const ca = await fakeCa()
    const storage = memoryStorage()
    const wanted = new Set(Array.from({ length: 30 }, (_, i) => `n${i}.example.com`))
    const onDemand = { allow: (name: string) => wanted.has(name), perHour: 5, most: 5 }
    const { issuer } = await issuing([ca], { names: [], storage, onDemand })
    for (const name of wanted) await issuer.missing(name)
    expect(ca.orders()).toHaveLength(5)
    now += 2 * HOUR
    await issuer.missing('n9.example.com')
    expect(ca.orders()).toHaveLength(5)
    wanted.clear()
    wanted.add('new.example.com')
    now += 100 * DAY
    await issuer.check()
    expect(await storage.list('certificates/')).toEqual([])
    await issuer.missing('new.example.com')
    expect(ca.orders()).toHaveLength(6)
  })
})

test('the next authority is asked when one fails, once each', async () => {
  const [first, second] = [await fakeCa(), await fakeCa()]
  first.intercept = (path, res) => path === '/order' && problem(res, 'serverInternal', 500)
  const { tls, events } = await issuing([first, second])
  expect(tls.find('a.example.com')).not.toBeNull()
  expect([first.orders().length, second.orders().length]).toEqual([1, 1])
  expect(events.filter(event => event.level !== 'info')).toEqual([])
  // Both away: one failure, both asked once.
  const [third, fourth] = [await fakeCa(), await fakeCa()]
  for (const ca of [third, fourth])
    ca.intercept = (path, res) => path === '/dir' && problem(res, 'serverInternal', 500)
  const { failures, tls: none } = await issuing([third, fourth])
  expect(failures()).toHaveLength(1)
  expect(none.find('a.example.com')).toBeNull()
})

test('profiles: asked for by name, and refused before the order when the CA has no such', async () => {
  const ca = await fakeCa()
  await issuing([ca], { authorities: [{ directory: ca.directory, ca: ca.ca, profile: 'shortlived' }] })
  expect(ca.orders()[0]).toMatchObject({ profile: 'shortlived' })
  const { failures } = await issuing([ca], {
    authorities: [{ directory: ca.directory, ca: ca.ca, profile: 'forever' }],
  })
  expect(failures()[0]?.message).toMatch(/no profile forever/)
  expect(ca.orders()).toHaveLength(1)
})

describe('a CA that answers wrongly gives no certificate', () => {
  const other = authority('Other').issue({ names: ['a.example.com'] })
  const cases: [what: string, change: (ca: FakeCa) => void, reason: RegExp][] = [
    ['a certificate for another key', ca => void (ca.forge = () => other.cert), /belongs to another/],
    ['no certificate', ca => void (ca.forge = () => 'hello'), /no certificate/],
    ['a chain that does not fit', ca => void (ca.forge = pem => pem + other.cert), /not signed by/],
    ['an answer without end', ca => void (ca.forge = () => 'x'.repeat(300_000)), /too long/],
    [
      'an address without TLS',
      ca => {
        ca.intercept = (path, res) => {
          if (path !== '/dir') return false
          res.end(JSON.stringify({ newNonce: 'http://127.0.0.1:1/', newAccount: 'x', newOrder: 'y' }))
          return true
        }
      },
      /not https/,
    ],
    [
      'an authorization for another name',
      ca => {
        ca.intercept = (path, res) => {
          if (!path.startsWith('/authz')) return false
          res.writeHead(200, { 'Replay-Nonce': 'bm9uY2U' })
          res.end(
            JSON.stringify({ status: 'pending', identifier: { value: 'victim.example' }, challenges: [] }),
          )
          return true
        }
      },
      /another name/,
    ],
    [
      'bad nonces for ever',
      ca => void (ca.intercept = (path, res) => path === '/account' && problem(res, 'badNonce', 400)),
      /badNonce/,
    ],
  ]
  test.each(cases)('%s', async (_what, change, reason) => {
    const ca = await fakeCa()
    change(ca)
    const { tls, failures } = await issuing([ca])
    expect(failures()[0]?.message).toMatch(reason)
    expect(tls.find('a.example.com')).toBeNull()
    expect(ca.log.length).toBeLessThan(40)
  })

  test('a certificate for fewer names', async () => {
    const ca = await fakeCa()
    ca.intercept = (path, _res, payload) => {
      if (path === '/order') (payload!.identifiers as unknown[]).pop()
      return false
    }
    const { failures } = await issuing([ca], { names: [['a.example.com', 'b.example.com']] })
    expect(failures()[0]?.message).toMatch(/lacks b\.example\.com/)
  })
})

describe('storage', () => {
  test('of two machines one orders and both serve; a third finds it there', async () => {
    const ca = await fakeCa()
    const storage = fileStorage(folder())
    const made = await Promise.all([issuing([ca], { storage }), issuing([ca], { storage })])
    for (const { issuer } of made) await issuer.check()
    const shown = made.map(({ tls }) => tls.find('a.example.com')?.fingerprint256)
    expect(shown[0]).toBeDefined()
    expect(shown[1]).toBe(shown[0])
    const third = await issuing([ca], { storage })
    expect(third.tls.find('a.example.com')?.fingerprint256).toBe(shown[0])
    expect(ca.orders()).toHaveLength(1)
    expect(ca.log.filter(entry => entry.path === '/account').length).toBeLessThanOrEqual(2)
  })

  test('one account a CA, also after a restart; a forgotten one is made again', async () => {
    const ca = await fakeCa()
    const storage = memoryStorage()
    await issuing([ca], { storage })
    const { issuer } = await issuing([ca], { storage, names: ['b.example.com'] })
    await issuer.check()
    const accounts = (): number => ca.log.filter(entry => entry.path === '/account').length
    expect([accounts(), ca.orders().length]).toEqual([1, 2])
    let forgotten = true
    ca.intercept = (path, res) => {
      if (path === '/account') forgotten = false
      return path === '/order' && forgotten && problem(res, 'accountDoesNotExist', 400)
    }
    const { tls } = await issuing([ca], { storage, names: ['c.example.com'] })
    expect([accounts(), tls.find('c.example.com') !== null]).toEqual([2, true])
  })

  test('a folder is private, whole files only, and keys cannot lead out of it', async () => {
    const dir = join(folder(), 'acme')
    const ca = await fakeCa()
    await issuing([ca], { storage: dir })
    const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    for (const entry of files) {
      const { mode } = statSync(join(entry.parentPath ?? entry.path, entry.name))
      expect(mode & 0o077).toBe(0)
    }
    expect(
      files
        .filter(entry => entry.isFile())
        .map(entry => entry.name.replace(/[0-9a-f]{12,32}/, 'ID'))
        .sort(),
    ).toEqual(['ID.json', 'a.example.com-ID.json', 'a.example.com-ID.json'])
    const storage = fileStorage(dir)
    for (const key of ['../x', 'a/../../x', '/etc/passwd', 'a//b', '.', 'a/..', 'a\0b', '']) {
      await expect(async () => storage.read(key)).rejects.toThrow()
      await expect(async () => storage.write(key, 'x')).rejects.toThrow()
    }
  })

  test('what is broken in the folder is ordered anew and harms nothing', async () => {
    const dir = folder()
    const ca = await fakeCa()
    await issuing([ca], { storage: dir })
    const file = join(dir, 'certificates', readdirSync(join(dir, 'certificates'))[0]!)
    for (const text of ['', '{', 'null', '[]', '{"cert":"x"}', readFileSync(file, 'utf8').slice(0, 900)]) {
      writeFileSync(file, text)
      const { tls } = await issuing([ca], { storage: dir })
      expect(tls.find('a.example.com')).not.toBeNull()
    }
  })

  const stores: [name: string, make: () => AcmeStorage][] = [
    ['memory', memoryStorage],
    ['files', () => fileStorage(folder())],
  ]
  describe.each(stores)('%s', (_name, make) => {
    test('reads what was written, lists by start, forgets what was removed', async () => {
      const storage = make()
      expect(await storage.read('a/b.json')).toBeNull()
      expect(await storage.list('a/')).toEqual([])
      await storage.write('a/b.json', '1')
      await storage.write('a/b.json', '2')
      await storage.write('c', '3')
      expect(await storage.read('a/b.json')).toBe('2')
      expect(await storage.list('a/')).toEqual(['a/b.json'])
      await storage.remove('a/b.json')
      await storage.remove('a/b.json')
      expect(await storage.list('')).toEqual(['c'])
    })

    test('gives a lock to one, to the next after release, and to anybody after its time', async () => {
      const storage = make()
      const both = await Promise.all([storage.lock('l', 60_000), storage.lock('l', 60_000)])
      expect(both.filter(one => one !== null)).toHaveLength(1)
      expect(await storage.lock('l', 60_000)).toBeNull()
      await both.find(one => one !== null)!()
      const second = await storage.lock('l', 1)
      expect(second).not.toBeNull()
      await new Promise(resolve => setTimeout(resolve, 20))
      const third = await storage.lock('l', 60_000)
      expect(third).not.toBeNull()
      // Late: the lock is another's now.
      await second!()
      expect(await storage.lock('l', 60_000)).toBeNull()
    })

    test('gives a lock that has ended to one of many who want it', async () => {
      const storage = make()
      for (let round = 0; round < 10; round++) {
        await storage.lock(`l${round}`, 1)
        await new Promise(resolve => setTimeout(resolve, 5))
        const got = await Promise.all(Array.from({ length: 8 }, () => storage.lock(`l${round}`, 60_000)))
        expect(got.filter(one => one !== null).length).toBeLessThanOrEqual(1)
      }
    })

    test('breaks a lock of a time that no lock reaches: a clock was wrong', async () => {
      const storage = make()
      await storage.lock('l', 3650 * DAY)
      expect(await storage.lock('l', 60_000)).not.toBeNull()
    })
  })
})

describe('the gate for HTTP-01', () => {
  test('answers tokens that are shown anywhere, and passes everything else', async () => {
    const storage = memoryStorage()
    const issuer = acme({ names: ['a.example.com'], acceptTerms: true, storage })
    const app = pipeline()
      .use(issuer.http01())
      .handle(() => reply(200, 'behind'))
    await storage.write('challenges/token-of-another-machine', 'proof')
    const ask = async (path: string, method = 'GET') => {
      const answer = await app.inject({ path: `/.well-known/acme-challenge/${path}`, method })
      return `${answer.status} ${answer.text()}`
    }
    expect(await ask('token-of-another-machine')).toBe('200 proof')
    expect(await ask('token-of-another-machine', 'POST')).toMatch(/^405/)
    for (const path of [
      'token-of-nobody-at-all',
      'short',
      '',
      'a.b/c',
      'certificates%2Fa.example.com',
      'token-of-another-machine/x',
    ]) {
      expect(await ask(path)).not.toContain('proof')
    }
    expect(await ask('token-of-nobody-at-all')).toBe('200 behind')
  })
})

test('options that cannot work are refused', () => {
  const base = { names: ['a.example.com'], acceptTerms: true, storage: memoryStorage() } as const
  const bad: [object, RegExp][] = [
    [{ acceptTerms: false }, /acceptTerms/],
    [{ names: [] }, /0 certificates/],
    [{ names: ['localhost'] }, /no public DNS name/],
    [{ names: ['127.0.0.1'] }, /no public DNS name/],
    [{ names: ['*.a.example'] }, /needs dns-01/],
    [{ names: ['a b'] }, /no host name/],
    [{ challenges: ['dns-01'] }, /dns-01 needs it/],
    [{ challenges: ['http'] }, /no list of challenges/],
    [{ storage: '' }, /no folder/],
    [{ email: 'a\r\nb' }, /no address/],
    [{ authorities: [{ directory: 'http://a' }] }, /not https/],
    [
      { authorities: [{ directory: 'https://a', externalAccount: { keyId: 'x', key: 'short-secret' } }] },
      /identifier or a key/,
    ],
    [{ onDemand: {} }, /onDemand\.allow/],
    [{ staging: true }, /no such option/],
  ]
  for (const [options, message] of bad) {
    expect(() => acme({ ...base, ...options } as AcmeOptions)).toThrow(message)
    expect(() => acme({ ...base, ...options } as AcmeOptions)).not.toThrow(/short-secret/)
  }
})

function storedPem(der: Uint8Array): string {
  return `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE-----\n`
}
