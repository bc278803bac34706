import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ConfigError, type Filter, pipeline, reply } from '../index.ts'
import { readSource } from '../testing/source.ts'
import { bodyLimit } from './body-limit.ts'

/** Reads the body, and tells how much there was. */
const echo = (...gates: Filter[]) =>
  gates
    .reduce((chain, gate) => chain.use(gate), pipeline())
    .handle(async cx => reply(200, cx.body ? String((await readSource(cx.body)).bytes.length) : 'none'))

test.each([
  ['exactly the limit', 'x'.repeat(10), 200],
  ['one more, declared', 'x'.repeat(11), 413],
  ['nothing', '', 200],
  ['chunks up to the limit', [4, 6], 200],
  ['chunks above it', [4, 6, 1], 413],
  ['one large chunk', [11], 413],
  ['empty chunks', [0, 10, 0], 200],
] as [string, string | number[], number][])('%s', async (_, given, status) => {
  const body = typeof given === 'string' ? given : given.map(size => new Uint8Array(size))
  const got = await echo(bodyLimit({ max: 10 })).inject({ body })
  expect(got.status).toBe(status)
  expect([got.outcome.reason, got.outcome.filter]).toEqual(
    status === 413 ? ['body-too-large', 'body-limit'] : [null, null],
  )
})

test.each(['-1', '1e1', '0x5', '5,5', '+5', '99999999999999999999', '', ' '])(
  'a declared length of %j is too large',
  async length => {
    const got = await echo(bodyLimit({ max: 1000 })).inject({
      body: [new Uint8Array(1)],
      headers: { 'Content-Length': length },
    })
    expect(got.status).toBe(413)
  },
)

test('a declared length is judged before a byte is read', async () => {
  let started = false
  const app = echo(bodyLimit({ max: 3 }))
  const { testHead } = await import('../testing/context.ts')
  const source = {
    length: 9,
    start: () => {
      started = true
      throw new Error('not to be read')
    },
  }
  const head = testHead({ method: 'POST', headers: { 'content-length': '9' } })
  const exchange = app.open(head, source, { draining: false, bytesReceived: 0, inform() {} })
  expect((await exchange.run()).status).toBe(413)
  expect(started).toBe(false)
})

test('without a body there is nothing to limit', async () => {
  expect((await echo(bodyLimit({ max: 0 })).inject({ method: 'GET' })).text()).toBe('none')
})

test('of two limits the narrower one counts, in either order', async () => {
  for (const [a, b] of [
    [5, 50],
    [50, 5],
  ] as const) {
    const app = echo(bodyLimit({ max: a }), bodyLimit({ max: b }))
    expect((await app.inject({ body: [new Uint8Array(5)] })).status).toBe(200)
    expect((await app.inject({ body: [new Uint8Array(6)] })).status).toBe(413)
  }
})

test('a body passes exactly when all its chunks together fit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(30), fc.array(fc.nat(12), { maxLength: 6 }), async (max, sizes) => {
      const { status } = await echo(bodyLimit({ max })).inject({
        body: sizes.map(size => new Uint8Array(size)),
      })
      expect(status).toBe(sizes.reduce((sum, size) => sum + size, 0) > max ? 413 : 200)
    }),
  )
})

test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('%s is no limit', max => {
  expect(() => bodyLimit({ max })).toThrow(ConfigError)
})

test.each([
  ['9007199254740991', 200],
  ['9007199254740992', 413],
  ['9007199254740993', 413],
  ['00000000000000009', 413],
])('a declared length of %s under the largest limit there is: %i', async (length, status) => {
  const got = await echo(bodyLimit({ max: Number.MAX_SAFE_INTEGER })).inject({
    body: [new Uint8Array(1)],
    headers: { 'Content-Length': length },
  })
  expect(got.status).toBe(status)
})
