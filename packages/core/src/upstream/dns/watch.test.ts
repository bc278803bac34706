import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Clock } from '../health/breaker.ts'
import { MOST_ADDRESSES, type ResolvedAddress, type Resolver, readAnswer } from './resolver.ts'
import { NameWatch, type NameWatchSettings } from './watch.ts'

test.each([
  [
    [
      { address: '10.0.0.2', ttl: 30 },
      { address: '10.0.0.1', ttl: 5 },
    ],
    ['10.0.0.1', '10.0.0.2'],
    5,
  ],
  [[{ address: '10.0.0.1' }, { address: '10.0.0.1' }, { address: '::ffff:10.0.0.1' }], ['10.0.0.1'], null],
  [[{ address: '2001:DB8::1' }, { address: '10.0.0.1' }], ['10.0.0.1', '2001:db8::1'], null],
  [[{ address: 'not one' }, { address: '' }, {}, null], [], null],
  [[{ address: '1.2.3.4', ttl: -1 }], ['1.2.3.4'], null],
  [[], [], null],
] as [ResolvedAddress[], string[], number | null][])(
  'the answer %j gives %j for %j s',
  (answer, addresses, ttl) => {
    expect(readAnswer(answer)).toEqual({ addresses, ttl })
  },
)

test('the order of an answer does not count, and no more than a bound is kept', () => {
  const octet = fc.integer({ min: 0, max: 255 })
  fc.assert(
    fc.property(fc.array(fc.tuple(octet, octet), { maxLength: 400 }), pairs => {
      const answer = pairs.map(([a, b]) => ({ address: `10.0.${a}.${b}` }))
      const { addresses } = readAnswer(answer)
      expect(readAnswer([...answer].reverse()).addresses).toEqual(addresses)
      expect(addresses.length).toBe(Math.min(MOST_ADDRESSES, new Set(answer.map(one => one.address)).size))
    }),
  )
})

/** A watch on a clock that the test moves, and answers that it gives. */
function setUp(changes: Partial<NameWatchSettings> = {}) {
  let time = 0
  let waiting: { at: number; run: () => void }[] = []
  const clock: Clock = {
    now: () => time,
    random: () => 0.5,
    after(milliseconds, run) {
      const entry = { at: time + milliseconds, run }
      waiting.push(entry)
      return () => void (waiting = waiting.filter(one => one !== entry))
    },
  }
  const questions: { answer: (addresses: readonly ResolvedAddress[]) => void; fail: () => void }[] = []
  const resolver: Resolver = () =>
    new Promise((resolve, reject) => questions.push({ answer: resolve, fail: () => reject(new Error('no')) }))
  const told: string[] = []
  const watch = new NameWatch(
    'app.test',
    { resolver, interval: 30_000, minimum: 1000, timeout: 5000, ...changes },
    { addresses: found => void told.push(found.join()), failed: () => void told.push('failed') },
    clock,
  )
  const pass = async (milliseconds: number): Promise<void> => {
    time += milliseconds
    for (const entry of waiting.filter(one => one.at <= time)) {
      waiting = waiting.filter(one => one !== entry)
      entry.run()
    }
    await new Promise(resolve => setImmediate(resolve))
  }
  return { watch, questions, told, pass, waiting: () => waiting.length }
}
const at = (...addresses: string[]) => addresses.map(address => ({ address }))

describe('a watch', () => {
  test('tells new addresses once, and asks again after the interval', async () => {
    const { watch, questions, told, pass } = setUp()
    watch.start()
    questions[0]!.answer(at('10.0.0.1'))
    await pass(0)
    await pass(29_999)
    expect(questions).toHaveLength(1)
    await pass(1)
    questions[1]!.answer(at('10.0.0.1'))
    await pass(0)
    await pass(30_000)
    questions[2]!.answer(at('10.0.0.2', '10.0.0.1'))
    await pass(0)
    expect(told).toEqual(['10.0.0.1', '10.0.0.1,10.0.0.2'])
  })

  test.each([
    [5, 5000],
    [0, 1000],
    [86_400, 30_000],
  ])('a TTL of %i s is asked again after %i ms', async (ttl, wait) => {
    const { watch, questions, pass } = setUp()
    watch.start()
    questions[0]!.answer([{ address: '10.0.0.1', ttl }])
    await pass(0)
    await pass(wait - 1)
    expect(questions).toHaveLength(1)
    await pass(1)
    expect(questions).toHaveLength(2)
  })

  test.each(['fails', 'is empty', 'is nonsense', 'takes too long', 'throws'])(
    'an answer that %s keeps the last good addresses',
    async how => {
      let resolver: Resolver | null = null
      const { watch, questions, told, pass } = setUp(
        how === 'throws' ? { resolver: name => resolver!(name) } : {},
      )
      if (how === 'throws') {
        resolver = () => Promise.resolve(at('10.0.0.1'))
        watch.start()
        await pass(0)
        resolver = () => {
          throw new Error('no')
        }
        await pass(30_000)
        expect(told).toEqual(['10.0.0.1', 'failed'])
        return
      }
      watch.start()
      questions[0]!.answer(at('10.0.0.1'))
      await pass(0)
      await pass(30_000)
      if (how === 'fails') questions[1]!.fail()
      else if (how === 'is empty') questions[1]!.answer([])
      else if (how === 'is nonsense') questions[1]!.answer(at('nobody'))
      await pass(how === 'takes too long' ? 5000 : 0)
      expect(told).toEqual(['10.0.0.1', 'failed'])
      // A late answer is an answer to nothing.
      if (how === 'takes too long') questions[1]!.answer(at('10.9.9.9'))
      await pass(1000)
      questions[2]!.answer(at('10.0.0.1'))
      await pass(0)
      expect([told, watch.failures]).toEqual([['10.0.0.1', 'failed'], 0])
    },
  )

  test('failures wait longer and longer, up to the interval', async () => {
    const { watch, questions, pass } = setUp()
    watch.start()
    const waits: number[] = []
    for (let i = 0; i < 8; i++) {
      questions.at(-1)!.fail()
      await pass(0)
      const before = questions.length
      let waited = 0
      for (; questions.length === before; waited += 250) await pass(250)
      waits.push(waited)
    }
    expect(waits).toEqual([750, 1500, 3000, 6000, 12_000, 22_500, 22_500, 22_500])
  })

  test('stops for good', async () => {
    const { watch, questions, told, pass, waiting } = setUp()
    watch.start()
    watch.stop()
    questions[0]!.answer(at('10.0.0.1'))
    await pass(100_000)
    expect([told, questions.length, waiting()]).toEqual([[], 1, 0])
  })
})
