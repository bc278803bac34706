import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ConfigError, pipeline, reply } from '../index.ts'
import { type RateLimitOptions, rateLimit } from './rate-limit.ts'
import type { RateDecision, RateLimitStore } from './rate-store.ts'

const ok = () => reply(200, 'ok')
const still = { clock: () => 0 }

test('the burst passes, then 429 with Retry-After and both fields', async () => {
  let now = 0
  const app = pipeline()
    .use(rateLimit({ perSecond: 0.5, burst: 2, clock: () => now }))
    .handle(ok)
  const seen = []
  for (const at of [0, 0, 0, 500, 2000]) {
    now = at
    const { status, headers, outcome } = await app.inject()
    seen.push([status, headers.get('retry-after'), headers.get('ratelimit'), outcome.reason])
    expect(headers.all('ratelimit-policy')).toEqual(['"default";q=2;w=4'])
  }
  expect(seen).toEqual([
    [200, undefined, '"default";r=1;t=2', null],
    [200, undefined, '"default";r=0;t=4', null],
    [429, '2', '"default";r=0;t=2', 'rate-limit'],
    [429, '2', '"default";r=0;t=2', 'rate-limit'],
    [200, undefined, '"default";r=0;t=4', null],
  ])
})

test('two limits in one pipeline, each with a field and a name of its own', async () => {
  const app = pipeline()
    .use(rateLimit({ ...still, perSecond: 100, burst: 3 }))
    .use(rateLimit({ ...still, perSecond: 1, burst: 2, as: 'login', name: 'login' }))
    .handle(cx => reply(200, `${cx.state.rate?.remaining} ${cx.state.login?.remaining}`))
  const first = await app.inject()
  expect(first.text()).toBe('2 1')
  expect(first.headers.all('ratelimit')).toEqual(['"login";r=1;t=1', '"default";r=2;t=1'])
  await app.inject()
  const third = await app.inject()
  expect([third.status, third.outcome.filter]).toEqual([429, 'rate-limit:login'])
  const fourth = await app.inject()
  expect([fourth.status, fourth.outcome.filter]).toEqual([429, 'rate-limit'])
  // The second was never asked, and has nothing to tell.
  expect(fourth.headers.all('ratelimit-policy')).toEqual(['"default";q=3;w=1'])
})

test('two limits with the same field are refused when the app is built', () => {
  const twice = rateLimit({ perSecond: 1 })
  const build = () =>
    pipeline()
      .use(twice)
      .use(twice as never)
      .handle(ok)
  expect(build).toThrow(/both add the state field rate/)
})

test('without fields, only refusals tell', async () => {
  const app = pipeline()
    .use(rateLimit({ ...still, perSecond: 1, headers: false }))
    .handle(ok)
  expect((await app.inject()).headers.has('ratelimit')).toBe(false)
  expect((await app.inject()).headers.has('ratelimit')).toBe(true)
})

test('clients have buckets of their own, IPv6 by its network', async () => {
  const app = pipeline()
    .use(rateLimit({ ...still, perSecond: 1 }))
    .handle(ok)
  const from = async (address: string) => (await app.inject({ address })).status
  expect(await from('1.2.3.4')).toBe(200)
  expect(await from('1.2.3.5')).toBe(200)
  expect(await from('::ffff:1.2.3.4')).toBe(429)
  expect(await from('2001:db8::1')).toBe(200)
  expect(await from('2001:db8::2')).toBe(429)
  expect(await from('2001:db8:0:1::1')).toBe(200)
})

describe('another store', () => {
  const asked: unknown[] = []
  const stores: [string, RateLimitStore['take'], number, string | undefined][] = [
    ['that says yes later', async () => ({ allowed: true, remaining: 6, wait: 0 }), 200, '"default";r=6;t=1'],
    [
      'that says no later',
      async () => ({ allowed: false, remaining: 0, wait: 1501 }),
      429,
      '"default";r=0;t=2',
    ],
    ['that rejects', () => Promise.reject(new Error('down')), 200, undefined],
  ]

  test.each(stores)('%s', async (_, take, status, field) => {
    const store: RateLimitStore = {
      take(...args) {
        asked.push(args)
        return take(...args)
      },
    }
    const app = pipeline()
      .use(rateLimit({ perSecond: 10, burst: 7, store, clock: () => 42 }))
      .handle(ok)
    const got = await app.inject()
    expect([got.status, got.headers.get('ratelimit')]).toEqual([status, field])
    expect(got.headers.get('retry-after')).toBe(status === 429 ? '2' : undefined)
    expect(asked.at(-1)).toEqual(['a:127.0.0.1', { perSecond: 10, burst: 7 }, 42])
  })
})

test.each([
  [{ perSecond: 0 }, ['rateLimit.perSecond']],
  [{ perSecond: -1, burst: 1 }, ['rateLimit.perSecond']],
  [{ perSecond: 2_000_000, burst: 1 }, ['rateLimit.perSecond']],
  [{ perSecond: 1, name: 'a b' }, ['rateLimit.name']],
  [{ perSecond: 1, burst: 0 }, ['rateLimit.burst']],
  [{ perSecond: 1, burst: 1.5, maxClients: 0 }, ['rateLimit.burst', 'rateLimit.maxClients']],
  [
    { perSecond: Number.NaN, burst: 0, name: '', v6Prefix: 8, by: { header: 'a b' } },
    ['rateLimit.perSecond', 'rateLimit.burst', 'rateLimit.name', 'rateLimit.v6Prefix', 'rateLimit.by'],
  ],
] as [RateLimitOptions, string[]][])('%j has faults at %j', (options, places) => {
  let thrown: unknown
  try {
    rateLimit(options)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(ConfigError)
  expect((thrown as ConfigError).faults.map(fault => fault.place)).toEqual(places)
})

test('a store that throws lets the request pass, and is told of without its message', async () => {
  const warnings: string[] = []
  const warn = (warning: Error) => void warnings.push(`${warning.name}: ${warning.message}`)
  process.on('warning', warn)
  let now = 0
  const store: RateLimitStore = {
    take() {
      throw new RangeError('redis://user:secret@10.0.0.1 is down')
    },
  }
  const app = pipeline()
    .use(rateLimit({ perSecond: 1, name: 'throws', store, clock: () => now }))
    .handle(ok)
  for (const at of [0, 10, 59_999, 60_000]) {
    now = at
    const got = await app.inject()
    expect([got.status, got.headers.has('ratelimit')]).toEqual([200, false])
  }
  // Warnings are emitted in a later tick.
  await new Promise(resolve => setImmediate(resolve))
  process.off('warning', warn)
  const told = "PosternStoreWarning: rate limit 'throws' counts nothing: its store fails (RangeError)"
  expect(warnings.filter(text => text.includes("'throws'"))).toEqual([told, told])
})

test.each([
  ['never settles', () => new Promise<never>(() => {})],
  [
    'settles too late',
    () =>
      new Promise<RateDecision>(resolve =>
        setTimeout(resolve, 400, { allowed: false, remaining: 0, wait: 9 }),
      ),
  ],
  // biome-ignore lint/suspicious/noThenProperty: that is what is tested.
  ['is a thenable that never settles', () => ({ then() {} }) as never],
])('a store whose answer %s lets the request pass after storeTimeout, and is told of', async (kind, take) => {
  const told: string[] = []
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(text => void told.push(String(text)))
  onTestFinished(() => warn.mockRestore())
  const name = kind.replaceAll(' ', '-')
  const app = pipeline()
    .use(rateLimit({ perSecond: 1, name, store: { take }, storeTimeout: 20 }))
    .handle(ok)
  const answers = await Promise.all([app.inject(), app.inject(), app.inject()])
  for (const { status, headers } of answers) expect([status, headers.has('ratelimit')]).toEqual([200, false])
  expect(told).toEqual([`rate limit '${name}' counts nothing: its store fails (StoreTimeout)`])
})

test('the wait for a store is bounded without an option too', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  onTestFinished(() => warn.mockRestore())
  const store: RateLimitStore = { take: () => new Promise(() => {}) }
  const app = pipeline()
    .use(rateLimit({ perSecond: 1, store }))
    .handle(ok)
  expect((await app.inject()).status).toBe(200)
})

test.each([
  undefined,
  null,
  'yes',
  {},
  { allowed: 'no' },
  { allowed: false },
  { allowed: true, remaining: 1 },
])('a store that gives %j gives no decision: the request passes', async decision => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  onTestFinished(() => warn.mockRestore())
  for (const take of [() => decision, async () => decision]) {
    const app = pipeline()
      .use(rateLimit({ perSecond: 1, store: { take: take as never } }))
      .handle(ok)
    expect((await app.inject()).status).toBe(200)
    expect(warn).toHaveBeenCalled()
  }
})

test('limits with different names share a store, not buckets (B059)', async () => {
  const keys: string[] = []
  const store: RateLimitStore = {
    take(key) {
      keys.push(key)
      return { allowed: true, remaining: 1, wait: 0 }
    },
  }
  const app = pipeline()
    .use(rateLimit({ perSecond: 1, store }))
    .use(rateLimit({ perSecond: 2, store, name: 'a', as: 'second' }))
    .use(rateLimit({ perSecond: 3, store, name: 'login', as: 'third', by: { header: 'x' } }))
    .handle(ok)
  await app.inject({ headers: { x: 'a/a:127.0.0.1' } })
  expect(keys).toEqual(['a:127.0.0.1', 'a/a:127.0.0.1', 'login/h:a/a:127.0.0.1'])
})

test.each([
  [{ allowed: true, remaining: Number.NaN, wait: 0 }, '"default";r=0;t=5', undefined],
  [{ allowed: true, remaining: 2.7, wait: 0 }, '"default";r=2;t=3', undefined],
  [{ allowed: true, remaining: 99, wait: 0 }, '"default";r=5;t=1', undefined],
  [{ allowed: false, remaining: -3, wait: Number.NaN }, '"default";r=0;t=1', '1'],
  [
    { allowed: false, remaining: 0, wait: Number.POSITIVE_INFINITY },
    '"default";r=0;t=999999999999999',
    '999999999999999',
  ],
  [{ allowed: false, remaining: 0, wait: -1 }, '"default";r=0;t=1', '1'],
])('whatever a store says (%j), the fields stay well-formed', async (decision, field, retry) => {
  const app = pipeline()
    .use(rateLimit({ perSecond: 1, burst: 5, store: { take: () => decision } }))
    .handle(ok)
  const { headers } = await app.inject()
  expect([headers.get('ratelimit'), headers.get('retry-after')]).toEqual([field, retry])
})

test.each([0.000001, 0.37, 1, 7, 999])('who waits for Retry-After at %d a second passes', async perSecond => {
  let now = 0
  const app = pipeline()
    .use(rateLimit({ perSecond, burst: 2, clock: () => now }))
    .handle(ok)
  let refused = await app.inject()
  while (refused.status === 200) refused = await app.inject()
  const wait = refused.headers.get('retry-after')!
  expect(wait).toMatch(/^[1-9]\d*$/)
  now = Number(wait) * 1000
  expect((await app.inject()).status).toBe(200)
})

test('a rate that is missing or nearly nothing is one fault', () => {
  for (const perSecond of [undefined as never, 1e-300, Number.POSITIVE_INFINITY]) {
    expect(() => rateLimit({ perSecond })).toThrow(
      /^rateLimit\.perSecond: (?:it is missing|.* is no number from)[^\n]*$/,
    )
  }
})
