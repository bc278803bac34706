/** Gates and an edge under test in an app's own suite: no server, no socket, no port. */
import {
  baseline,
  type Filter,
  type Handler,
  pipeline,
  rateLimit,
  refuse,
  reply,
  uriLength,
} from '@postern/core'
import { testContext } from '@postern/core/testing'
import { describe, expect, test } from 'vitest'

// What an app might have: a gate of its own, and a function that builds the edge around any handler.

const tenants: ReadonlySet<string> = new Set(['blue', 'green'])

/** Lets known tenants in, and tells the filters behind it which one it is. */
const tenant: Filter<object, { tenant: string }> = {
  name: 'tenant',
  state: () => ({ tenant: '' }),
  onRequest(cx) {
    const name = cx.request.headers.get('x-tenant') ?? ''
    if (!tenants.has(name)) return refuse(403, 'unknown-tenant')
    cx.state.tenant = name
    return undefined
  },
  onForward(cx, out) {
    out.headers.set('X-Tenant-Checked', cx.state.tenant)
  },
}

function edge(handler: Handler, clock: () => number = () => performance.now()) {
  return pipeline()
    .use(baseline())
    .use(rateLimit({ perSecond: 1, burst: 2, clock }))
    .use(tenant)
    .route('GET /users/:id', r => r.handle(cx => reply(200, `${cx.state.tenant}: ${cx.params.id}`)))
    .handle(handler)
}

// A gate is a function of a request.

test('a gate alone', () => {
  const gate = uriLength({ max: 20 })
  expect(gate.onRequest?.(testContext({ path: '/short' }))).toBeUndefined()
  expect(gate.onRequest?.(testContext({ path: `/${'x'.repeat(20)}` }))).toMatchObject({ status: 414 })
})

describe('our own gate', () => {
  const cases: [header: string | null, status: number | undefined][] = [
    ['blue', undefined],
    ['green', undefined],
    ['red', 403],
    ['', 403],
    [null, 403],
  ]
  test.each(cases)('X-Tenant: %s', async (header, status) => {
    const cx = testContext({ headers: header === null ? {} : { 'X-Tenant': header } }, { tenant: '' })
    const verdict = await tenant.onRequest?.(cx)
    expect(verdict?.status).toBe(status)
    expect(cx.state.tenant).toBe(status === undefined ? header : '')
  })
})

// An app takes requests in memory; a handler stands in for the upstream.

describe('the whole edge', () => {
  const headers = { 'X-Tenant': 'blue' }

  test('routes with typed parameters', async () => {
    const got = await edge(() => reply(404)).inject({ path: '/users/a%20b', headers })
    expect(got.status).toBe(200)
    expect(got.text()).toBe('blue: a b')
    expect(got.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('refuses before the handler is asked, and says which gate and why', async () => {
    let asked = 0
    const app = edge(() => {
      asked++
      return reply(200)
    })
    const refused = await app.inject({ method: 'TRACE', headers })
    expect(refused.status).toBe(405)
    expect(refused.outcome).toMatchObject({ filter: 'methods', reason: 'method-not-allowed' })
    expect((await app.inject({ headers: { 'X-Tenant': 'red' } })).outcome.filter).toBe('tenant')
    expect(asked).toBe(0)
  })

  test('limits the rate, by a clock that the test turns', async () => {
    let now = 0
    const app = edge(
      () => reply(200),
      () => now,
    )
    const statuses = async (count: number) => {
      const seen: number[] = []
      for (let i = 0; i < count; i++) seen.push((await app.inject({ headers })).status)
      return seen
    }
    expect(await statuses(3)).toEqual([200, 200, 429])
    now += 1000
    expect(await statuses(2)).toEqual([200, 429])
  })
})

// npx vitest run examples/unit-test.test.ts
