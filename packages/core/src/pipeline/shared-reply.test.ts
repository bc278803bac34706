/** A program may keep one reply and give it to every request; and a state is made at once. */
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../errors.ts'
import { rateLimit } from '../gates/rate-limit.ts'
import { reply } from '../reply.ts'
import type { BodyTransform, Filter } from './contract.ts'
import { pipeline } from './pipeline.ts'

const passing: BodyTransform = { chunk: (bytes, out) => void out.write(bytes), end: out => out.end() }

describe('one reply for all requests', () => {
  test('its body is whole each time, behind filters that transform it', async () => {
    const shared = reply(200, 'hello')
    const app = pipeline()
      .use({ name: 'pass', replyBody: () => passing })
      .handle(() => shared)
    for (let i = 0; i < 5; i++) {
      const { status, headers, ...answer } = await app.inject()
      expect([status, answer.text()]).toEqual([200, 'hello'])
      expect(headers.get('content-length')).toBeUndefined()
    }
    expect(shared.headers.get('content-length')).toBe('5')
  })

  test('its head does not grow', async () => {
    const shared = reply(200, 'hello')
    const app = pipeline()
      .use(rateLimit({ perSecond: 1000 }))
      .handle(() => shared)
    for (let i = 0; i < 5; i++) expect((await app.inject()).headers.all('ratelimit')).toHaveLength(1)
    expect(shared.headers.get('ratelimit')).toBeUndefined()
  })

  test('a reply that a filter gives again and again stays as it was made', async () => {
    const refusal = reply(403, 'no')
    const mark: Filter = { name: 'mark', onReply: (_, head) => void head.headers.append('x-mark', '1') }
    const app = pipeline()
      .use(mark)
      .use({ name: 'refuse', onRequest: () => refusal })
      .handle(() => reply(200))
    for (let i = 0; i < 3; i++) expect((await app.inject()).headers.all('x-mark')).toEqual(['1'])
    expect(refusal.headers.get('x-mark')).toBeUndefined()
  })
})

describe('a state that is a promise', () => {
  test('is refused when the app is built', () => {
    const late = { name: 'late', state: async () => ({ user: 1 }) }
    expect(() =>
      pipeline()
        .use(late as never)
        .handle(),
    ).toThrow(ConfigError)
    expect(() =>
      pipeline()
        .use(late as never)
        .handle(),
    ).toThrow(/promise/)
  })

  test('is a 500 when it comes later, and its rejection ends nothing', async () => {
    let calls = 0
    // The builder asks more than once.
    const state = () => (++calls > 4 ? Promise.reject(new Error('late')) : { user: 1 })
    const app = pipeline()
      .use({ name: 'turns', state } as never)
      .handle(() => reply(200))
    const statuses: number[] = []
    for (let i = 0; i < 8; i++) statuses.push((await app.inject()).status)
    expect(statuses.at(-1)).toBe(500)
  })
})
