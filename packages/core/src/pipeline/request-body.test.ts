import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Context, type Filter, pipeline, reply } from '../index.ts'
import { readSource } from '../testing/source.ts'

const bytes = (...texts: string[]): Uint8Array[] => texts.map(text => Buffer.from(text))
const echo = async (cx: Context) => reply(200, (await readSource(cx.body!)).bytes)

test('hooks see every chunk in order, and the end once', async () => {
  const log: string[] = []
  const noisy = (name: string): Filter => ({
    name,
    onRequestBody: (_, chunk, end) =>
      void log.push(`${name} ${Buffer.from(chunk)}${end ? '.' : ''}`) as undefined,
  })
  const app = pipeline().use(noisy('a')).use(noisy('b')).handle(echo)
  const { text } = await app.inject({ body: bytes('1', '2') })
  expect(text()).toBe('12')
  expect(log).toEqual(['a 1', 'b 1', 'a 2', 'b 2', 'a .', 'b .'])
})

describe('a reply of onRequestBody', () => {
  const at = (when: string, later: boolean): Filter => ({
    name: 'inspector',
    onRequestBody: (_, chunk, end) => {
      const hit = when === 'end' ? end : Buffer.from(chunk).includes(when)
      const verdict = hit ? reply(422, 'stopped') : undefined
      return later ? Promise.resolve(verdict) : verdict
    },
  })
  const cases = ['one', 'two', 'end'].flatMap(when =>
    [false, true].flatMap(later => [0, 4, 100].map(hold => ({ when, later, hold }))),
  )

  test.each(cases)(
    'at $when (later: $later, held: $hold) stops the upload and answers',
    async ({ when, later, hold }) => {
      let ended = false
      const app = pipeline()
        .use({ ...at(when, later), holdBody: () => hold })
        .handle(async cx => {
          const read = await readSource(cx.body!)
          ended = true
          return reply(200, read.bytes)
        })
      const { status, outcome, text } = await app.inject({ body: bytes('one', 'two', 'three') })
      expect([status, text(), outcome.filter]).toEqual([422, 'stopped', 'inspector'])
      expect(ended).toBe(false)
    },
  )

  test('wins over what the handler makes of the broken body', async () => {
    const app = pipeline()
      .use(at('one', false))
      .handle(cx =>
        readSource(cx.body!).then(
          () => reply(200),
          () => reply(200, 'never mind'),
        ),
      )
    expect((await app.inject({ body: bytes('one') })).status).toBe(422)
  })

  test('passes the reply hooks of all filters', async () => {
    const app = pipeline()
      .use(at('one', true))
      .use({ name: 'late', onReply: (_, head) => void head.headers.append('X-Late', '1') as undefined })
      .handle(echo)
    expect((await app.inject({ body: bytes('one') })).headers.get('x-late')).toBe('1')
  })
})

describe('holdBody', () => {
  test.each([
    [0, ''],
    [1, 'one'],
    [3, 'one'],
    [4, 'one two'],
    [100, 'one two three .'],
  ])('of %i bytes: before the handler runs, %j has been seen', async (wanted, seen) => {
    const log: string[] = []
    const app = pipeline()
      .use({
        name: 'a',
        holdBody: () => wanted,
        onRequestBody: (_, chunk, end) => void log.push(end ? '.' : String(Buffer.from(chunk))) as undefined,
      })
      .handle(async cx => {
        const before = log.join(' ')
        return reply(200, `${before}|${(await readSource(cx.body!)).bytes}`)
      })
    const { text } = await app.inject({ body: bytes('one', 'two', 'three') })
    expect(text()).toBe(`${seen}|onetwothree`)
    expect(log.join(' ')).toBe('one two three .')
  })

  test('the largest wish wins', async () => {
    let seen = 0
    const wish = (size: number): Filter => ({ name: `w${size}`, holdBody: () => size })
    const app = pipeline()
      .use(wish(2))
      .use({ ...wish(5), onRequestBody: (_, chunk) => void (seen += chunk.length) as undefined })
      .use(wish(-1))
      .handle(async cx => {
        const before = seen
        await readSource(cx.body!)
        return reply(200, String(before))
      })
    expect((await app.inject({ body: bytes('aa', 'bb', 'cc', 'dd') })).text()).toBe('6')
  })
})

test('whatever is held and awaited, the handler gets all bytes once', async () => {
  const chunk = fc.uint8Array({ maxLength: 6 })
  const waits = fc.constantFrom('no', 'always', 'sometimes')
  await fc.assert(
    fc.asyncProperty(
      fc.array(chunk, { maxLength: 8 }),
      fc.nat(30),
      fc.array(waits, { minLength: 1, maxLength: 3 }),
      async (chunks, hold, kinds) => {
        const seen = kinds.map((): Uint8Array[] => [])
        const ends = kinds.map(() => 0)
        const app = kinds
          .reduce((chain, kind, i) => {
            let turn = 0
            return chain.use({
              name: `f${i}`,
              holdBody: () => hold,
              onRequestBody: (_, bytes, end) => {
                seen[i]!.push(bytes)
                if (end) ends[i]!++
                if (kind === 'always' || (kind === 'sometimes' && turn++ % 2 === 0))
                  return Promise.resolve(undefined)
                return undefined
              },
            })
          }, pipeline())
          .handle(echo)
        const whole = Buffer.concat(chunks)
        const got = await app.inject({ body: chunks, method: 'POST' })
        expect(Buffer.from(got.body).equals(whole)).toBe(true)
        for (const parts of seen) expect(Buffer.concat(parts).equals(whole)).toBe(true)
        expect(ends).toEqual(kinds.map(() => 1))
      },
    ),
    { numRuns: 200 },
  )
})
