import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ConfigError, type Filter, ProxyError, pipeline, type Reply, reply } from '../index.ts'
import { testHead } from '../testing/context.ts'
import { concurrencyLimit } from './concurrency.ts'

const link = { draining: false, bytesReceived: 0, inform() {} }
const gone = new ProxyError({ source: 'client', phase: 'reply-body', code: 'client-closed' })
const ok = () => reply(200, 'ok')

test('counts a client until its reply has left', async () => {
  const app = pipeline()
    .use(concurrencyLimit({ perClient: 2 }))
    .handle(ok)
  const open = (clientAddress: string) => app.open(testHead({ clientAddress }), null, link)
  const status = async (exchange: ReturnType<typeof open>) => (await exchange.run()).status
  const running = [open('1.1.1.1'), open('1.1.1.1')]
  for (const exchange of running) expect(await status(exchange)).toBe(200)
  const third = open('1.1.1.1')
  const refused = await third.run()
  expect([refused.status, refused.reason, refused.headers.get('retry-after')]).toEqual([
    429,
    'too-many-at-once',
    '1',
  ])
  third.done(429, 0, null)
  expect(await status(open('2.2.2.2'))).toBe(200)
  expect(await status(open('1.1.1.1'))).toBe(429)
  running[0]!.done(200, 2, null)
  running[0]!.done(200, 2, null)
  expect(await status(open('1.1.1.1'))).toBe(200)
  expect(await status(open('1.1.1.1'))).toBe(429)
})

test('the whole has a limit of its own: 503', async () => {
  const app = pipeline()
    .use(concurrencyLimit({ total: 1 }))
    .handle(ok)
  const first = app.open(testHead(), null, link)
  await first.run()
  const refused = await app.inject({ address: '9.9.9.9' })
  expect([refused.status, refused.outcome.reason, refused.headers.get('retry-after')]).toEqual([
    503,
    'too-busy',
    '1',
  ])
  first.done(200, 2, null)
  expect((await app.inject()).status).toBe(200)
})

describe('after any mix of ends', () => {
  const later: Filter = { name: 'later', onRequest: async () => undefined }
  const refuses: Filter = {
    name: 'refuses',
    onRequest: cx => (cx.request.path === '/refused' ? reply(403) : undefined),
  }
  const end = fc.constantFrom('/done', '/refused', '/throws', '/aborted', '/never-run', '/no-path')

  test('all counts are back at nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(end, fc.constantFrom('1.1.1.1', '2.2.2.2'), fc.boolean()), { maxLength: 20 }),
        async steps => {
          const app = pipeline()
            .use(concurrencyLimit({ perClient: 3, total: 5 }))
            .use(later)
            .use(refuses)
            .handle((cx): Reply => {
              if (cx.request.path === '/throws') throw new Error('bug')
              return reply(200)
            })
          const open: (() => void)[] = []
          for (const [path, clientAddress, soon] of steps) {
            const fault = path === '/no-path' ? gone : null
            const exchange = app.open(testHead({ path, clientAddress }), null, link, fault)
            if (path !== '/never-run') {
              const running = exchange.run()
              if (path === '/aborted') exchange.abort(gone)
              await running
            }
            const finish = () =>
              exchange.done(path === '/aborted' ? 499 : 200, 0, path === '/aborted' ? gone : null)
            if (soon) finish()
            else open.push(finish)
          }
          for (const finish of open) finish()
          // As many as at the beginning find room: three of one client, five of all.
          const statuses = []
          for (const clientAddress of [
            '1.1.1.1',
            '1.1.1.1',
            '1.1.1.1',
            '1.1.1.1',
            '2.2.2.2',
            '2.2.2.2',
            '3.3.3.3',
          ]) {
            statuses.push((await app.open(testHead({ clientAddress }), null, link).run()).status)
          }
          expect(statuses).toEqual([200, 200, 200, 429, 200, 200, 503])
        },
      ),
    )
  })
})

test.each([
  [{ perClient: 0 }, 1],
  [{ perClient: 1.5, total: 0, v6Prefix: 1 }, 3],
  [{ total: Number.POSITIVE_INFINITY }, 1],
])('%j has %i faults', (options, count) => {
  let thrown: unknown
  try {
    concurrencyLimit(options)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(ConfigError)
  expect((thrown as ConfigError).faults).toHaveLength(count)
})
