import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { memoryRateStore, type RateDecision } from './rate-store.ts'

const bucket = { perSecond: 2, burst: 3 }

test('a full bucket gives its burst, then one token an interval', () => {
  const store = memoryRateStore(10)
  const taken = [0, 0, 0, 0, 250, 500, 500, 10_000, 10_000].map(now => store.take('a', bucket, now))
  expect(taken).toEqual([
    { allowed: true, remaining: 2, wait: 0 },
    { allowed: true, remaining: 1, wait: 0 },
    { allowed: true, remaining: 0, wait: 0 },
    { allowed: false, remaining: 0, wait: 500 },
    { allowed: false, remaining: 0, wait: 250 },
    { allowed: true, remaining: 0, wait: 0 },
    { allowed: false, remaining: 0, wait: 500 },
    { allowed: true, remaining: 2, wait: 0 },
    { allowed: true, remaining: 1, wait: 0 },
  ])
})

test('keys have buckets of their own', () => {
  const store = memoryRateStore(10)
  const one = { perSecond: 1, burst: 1 }
  expect(['a', 'b', 'a'].map(key => (store.take(key, one, 0) as RateDecision).allowed)).toEqual([
    true,
    true,
    false,
  ])
})

/** Steps in whole intervals of a sixteenth of a second, so that the reference needs no rounding. */
const run = fc.record({
  perSecond: fc.constantFrom(1, 2, 4, 8, 16),
  burst: fc.integer({ min: 1, max: 8 }),
  ticks: fc.array(fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(40)), {
    minLength: 1,
    maxLength: 80,
  }),
})
const TICK = 1000 / 16

describe('against a bucket that is filled by the clock', () => {
  test('decision, remaining tokens and wait are the same', () => {
    fc.assert(
      fc.property(run, ({ perSecond, burst, ticks }) => {
        const store = memoryRateStore(10)
        // In sixteenths of a token.
        let tokens = burst * 16
        let now = 0
        for (const tick of ticks) {
          now += tick
          tokens = Math.min(burst * 16, tokens + tick * perSecond)
          const allowed = tokens >= 16
          if (allowed) tokens -= 16
          const made = store.take('a', { perSecond, burst }, now * TICK) as RateDecision
          expect(made.allowed).toBe(allowed)
          expect(made.remaining).toBe(allowed ? Math.floor(tokens / 16) : 0)
          expect(made.wait).toBeCloseTo(allowed ? 0 : ((16 - tokens) / perSecond) * TICK, 5)
        }
      }),
    )
  })

  test('no window ever sees more than burst and what comes in during it', () => {
    const any = fc.record({
      perSecond: fc.double({ min: 0.01, max: 5000, noNaN: true }),
      burst: fc.integer({ min: 1, max: 20 }),
      gaps: fc.array(fc.double({ min: 0, max: 900, noNaN: true }), { maxLength: 60 }),
    })
    fc.assert(
      fc.property(any, ({ perSecond, burst, gaps }) => {
        const store = memoryRateStore(10)
        const passed: number[] = []
        let now = 1e6
        for (const gap of gaps) {
          now += gap
          if ((store.take('a', { perSecond, burst }, now) as RateDecision).allowed) passed.push(now)
        }
        passed.forEach((from, i) => {
          passed.slice(i).forEach((to, count) => {
            expect(count + 1).toBeLessThanOrEqual(burst + ((to - from) / 1000) * perSecond + 1e-6)
          })
        })
      }),
    )
  })

  test('whoever waits as long as told gets a token, and not a moment sooner', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.1, max: 1000, noNaN: true }),
        fc.integer({ min: 1, max: 5 }),
        (perSecond, burst) => {
          const store = memoryRateStore(10)
          for (let i = 0; i < burst; i++) store.take('a', { perSecond, burst }, 0)
          const { wait } = store.take('a', { perSecond, burst }, 0) as RateDecision
          expect(wait).toBeGreaterThan(0)
          expect((store.take('a', { perSecond, burst }, wait * 0.99) as RateDecision).allowed).toBe(false)
          expect((store.take('a', { perSecond, burst }, wait) as RateDecision).allowed).toBe(true)
        },
      ),
    )
  })
})

describe('with more clients than it remembers', () => {
  const one = { perSecond: 0.001, burst: 1 }
  const allowed = (decision: unknown): boolean => (decision as RateDecision).allowed

  test('a client stays known while fewer than maxClients others come', () => {
    const store = memoryRateStore(100)
    store.take('victim', one, 0)
    for (let i = 0; i < 99; i++) store.take(`other-${i}`, one, 0)
    expect(allowed(store.take('victim', one, 0))).toBe(false)
  })

  test('a refused client that keeps asking is never forgotten', () => {
    const store = memoryRateStore(100)
    store.take('eager', one, 0)
    for (let i = 0; i < 2000; i++) {
      store.take(`other-${i}`, one, 0)
      if (i % 50 === 0) expect(allowed(store.take('eager', one, 0))).toBe(false)
    }
  })

  test('of any number at most two generations are kept', () => {
    const store = memoryRateStore(100)
    for (let i = 0; i < 5000; i++) store.take(`c-${i}`, one, 0)
    let known = 0
    // From the youngest back: asking makes new entries and drops old ones.
    for (let i = 4999; i >= 0; i--) if (!allowed(store.take(`c-${i}`, one, 0))) known++
    expect(known).toBeLessThanOrEqual(200)
    expect(known).toBeGreaterThanOrEqual(100)
  })
})

describe('a flood of fresh names', () => {
  const few = { perSecond: 0.001, burst: 3 }
  const allowed = (decision: unknown): boolean => (decision as RateDecision).allowed

  test('does not free a client that was refused', () => {
    const store = memoryRateStore(100)
    for (let i = 0; i < 4; i++) store.take('blocked', few, 0)
    for (let i = 0; i < 10_000; i++) store.take(`fresh-${i}`, few, 1)
    expect(allowed(store.take('blocked', few, 2))).toBe(false)
  })

  test('and refused ones are bounded too', () => {
    const store = memoryRateStore(100)
    for (let i = 0; i < 1000; i++) for (let j = 0; j < 4; j++) store.take(`b-${i}`, few, 0)
    let known = 0
    for (let i = 999; i >= 0; i--) if (!allowed(store.take(`b-${i}`, few, 0))) known++
    expect(known).toBeGreaterThanOrEqual(100)
    expect(known).toBeLessThanOrEqual(200)
  })
})
