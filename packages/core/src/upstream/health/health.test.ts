import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { backoff, jitter } from './backoff.ts'
import { Breaker, type BreakerState, type Clock } from './breaker.ts'
import { PassiveCheck, type PassiveSettings } from './passive.ts'
import { Thresholds } from './thresholds.ts'
import { SlidingWindow } from './window.ts'

/** A clock that a test moves. */
function manualClock(random = 1) {
  let time = 1_000_000
  const waiting: { at: number; run: () => void }[] = []
  const clock: Clock = {
    now: () => time,
    random: () => random,
    after(milliseconds, run) {
      const entry = { at: time + milliseconds, run }
      waiting.push(entry)
      return () => {
        const at = waiting.indexOf(entry)
        if (at !== -1) waiting.splice(at, 1)
      }
    },
  }
  const pass = (milliseconds: number): void => {
    time += milliseconds
    for (const entry of [...waiting].filter(one => one.at <= time)) {
      waiting.splice(waiting.indexOf(entry), 1)
      entry.run()
    }
  }
  return { clock, pass, waiting }
}

test('the back-off doubles to its bound, and half of it is drawn', () => {
  expect([0, 1, 2, 3, 9, 99].map(at => backoff(at, 100, 1000, () => 1))).toEqual([
    100, 200, 400, 800, 1000, 1000,
  ])
  expect(backoff(2, 100, 1000, () => 0)).toBe(200)
  expect([jitter(100, () => 0), jitter(100, () => 1)].map(Math.round)).toEqual([90, 110])
})

describe('the window', () => {
  test('forgets by tenths', () => {
    const window = new SlidingWindow(1000)
    window.record(false, 5000)
    window.record(true, 5050)
    window.record(true, 5950)
    expect(window.read(5950)).toEqual({ total: 3, failures: 1 })
    expect(window.read(6000)).toEqual({ total: 1, failures: 0 })
    expect(window.read(60_000)).toEqual({ total: 0, failures: 0 })
  })

  test('counts what a plain list counts', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(400)), { minLength: 1, maxLength: 100 }), events => {
        const window = new SlidingWindow(1000)
        const seen: { cell: number; ok: boolean }[] = []
        let now = 0
        for (const [ok, gap] of events) {
          now += gap
          window.record(ok, now)
          seen.push({ cell: Math.floor(now / 100), ok })
        }
        const current = Math.floor(now / 100)
        const inside = seen.filter(one => one.cell > current - 10)
        expect(window.read(now)).toEqual({
          total: inside.length,
          failures: inside.filter(one => !one.ok).length,
        })
      }),
    )
  })
})

describe('thresholds', () => {
  const run = (results: string, rise = 2, fall = 3): string => {
    const thresholds = new Thresholds(rise, fall)
    return [...results]
      .map(one => {
        thresholds.record(one === '+')
        return thresholds.state[0]
      })
      .join('')
  }
  test.each([
    ['+', 'u', 'the first pass decides alone'],
    ['--+', 'uuu', 'failures in the beginning are counted'],
    ['+--+--+', 'uuuuuuu', 'single failures change nothing'],
    ['+---', 'uuud', 'three in a row do'],
    ['+---+-++', 'uuudddd' + 'u', 'two passes in a row bring it back'],
  ])('%s gives %s: %s', (results, states) => {
    expect(run(results)).toBe(states)
  })

  test('three failures from the start are down', () => {
    const thresholds = new Thresholds(2, 3)
    expect([false, false, false].map(ok => thresholds.record(ok))).toEqual([false, false, true])
    expect(thresholds.state).toBe('down')
  })
})

describe('the breaker', () => {
  const settings = { backoff: 100, maxBackoff: 1000, probes: 1, successes: 2 }
  const setUp = (changes = settings) => {
    const { clock, pass, waiting } = manualClock()
    const states: BreakerState[] = []
    const breaker = new Breaker(changes, clock, (from, to) => void (from !== to && states.push(to)))
    return { breaker, pass, states, waiting }
  }

  test('opens, waits, lets one probe through at a time, and closes after enough', () => {
    const { breaker, pass, states } = setUp()
    breaker.trip()
    expect([breaker.state, breaker.allows]).toEqual(['open', false])
    pass(99)
    expect(breaker.state).toBe('open')
    pass(1)
    expect([breaker.state, breaker.allows]).toEqual(['half-open', true])
    const first = breaker.started()
    expect(breaker.allows).toBe(false)
    breaker.finished(first, true)
    expect(breaker.allows).toBe(true)
    breaker.finished(breaker.started(), true)
    expect(states).toEqual(['open', 'half-open', 'closed'])
  })

  test('a failed probe doubles the time out, to the bound', () => {
    const { breaker, pass } = setUp()
    breaker.trip()
    let wait = 100
    for (let i = 0; i < 6; i++) {
      pass(wait - 1)
      expect(breaker.state).toBe('open')
      pass(1)
      expect(breaker.state).toBe('half-open')
      breaker.finished(breaker.started(), false)
      wait = Math.min(1000, wait * 2)
    }
  })

  test('a probe whose client left frees its place and says nothing', () => {
    const { breaker, pass } = setUp()
    breaker.trip()
    pass(100)
    for (let i = 0; i < 5; i++) breaker.finished(breaker.started(), null)
    expect([breaker.state, breaker.allows]).toEqual(['half-open', true])
  })

  test('requests from before the change count for nothing', () => {
    const { breaker, pass } = setUp()
    const old = breaker.started()
    breaker.trip()
    pass(100)
    breaker.finished(old, false)
    breaker.finished(old, true)
    breaker.finished(old, true)
    expect([breaker.state, breaker.allows]).toEqual(['half-open', true])
  })

  test('after a long good time the back-off starts anew', () => {
    const { breaker, pass } = setUp({ ...settings, successes: 1 })
    for (let i = 0; i < 3; i++) {
      breaker.trip()
      pass(1000)
      breaker.finished(breaker.started(), true)
    }
    pass(2000)
    breaker.trip()
    pass(100)
    expect(breaker.state).toBe('half-open')
  })

  test('leaves no timer when it is stopped', () => {
    const { breaker, waiting } = setUp()
    breaker.trip()
    breaker.trip()
    expect(waiting).toHaveLength(1)
    breaker.stop()
    expect(waiting).toHaveLength(0)
  })

  test('whatever happens, no more probes run than are allowed, and none is lost', () => {
    const events = fc.array(fc.constantFrom('start', 'ok', 'fail', 'null', 'trip', 'pass'), {
      maxLength: 200,
    })
    fc.assert(
      fc.property(events, fc.integer({ min: 1, max: 3 }), (list, probes) => {
        const { breaker, pass } = setUp({ ...settings, probes })
        let running: { generation: number; half: boolean }[] = []
        for (const event of list) {
          if (event === 'start' && breaker.allows) {
            running.push({ half: breaker.state === 'half-open', generation: breaker.started() })
          } else if (event === 'trip') breaker.trip()
          else if (event === 'pass') pass(1000)
          else {
            const one = running.shift()
            if (one) breaker.finished(one.generation, event === 'ok' ? true : event === 'fail' ? false : null)
          }
          if (breaker.state !== 'half-open') running = running.map(one => ({ ...one, half: false }))
          expect(running.filter(one => one.half).length).toBeLessThanOrEqual(probes)
        }
        // Whatever is still open comes to an end: then it can be used again.
        for (const one of running) breaker.finished(one.generation, null)
        pass(2000)
        expect(breaker.allows).toBe(true)
      }),
    )
  })
})

describe('passive checks', () => {
  const none: PassiveSettings = { consecutive: null, errorRate: null, slow: null }

  test('failures in a row', () => {
    const check = new PassiveCheck({ ...none, consecutive: 3 })
    const told = [false, false, true, false, false, false].map(ok => check.record(ok, 1))
    expect(told).toEqual([null, null, null, null, null, 'consecutive-failures'])
  })

  test('the share of failures, from a number of requests on', () => {
    const check = new PassiveCheck({ ...none, errorRate: { share: 0.5, window: 1000, atLeast: 10 } })
    for (let i = 0; i < 8; i++) expect(check.record(i % 2 === 0, 100)).toBe(null)
    check.record(true, 100)
    expect(check.record(false, 100)).toBe('error-rate')
    expect(check.record(false, 5000)).toBe(null)
  })

  test('slow against the median of its peers', () => {
    const slow = { factor: 3, atLeast: 50, requests: 5 }
    const group = Array.from({ length: 5 }, () => new PassiveCheck({ ...none, slow }))
    for (let i = 0; i < 5; i++) for (const [at, check] of group.entries()) check.observe(at === 2 ? 200 : 20)
    expect(group.map(check => check.isSlow(group))).toEqual([false, false, true, false, false])
    // All slow: nobody is.
    for (let i = 0; i < 200; i++) for (const check of group) check.observe(200)
    expect(group.map(check => check.isSlow(group))).toEqual([false, false, false, false, false])
  })

  test('few requests, few peers or small differences are not slow', () => {
    const slow = { factor: 3, atLeast: 50, requests: 5 }
    const make = (ms: number, times = 5) => {
      const check = new PassiveCheck({ ...none, slow })
      for (let i = 0; i < times; i++) check.observe(ms)
      return check
    }
    expect(make(500, 4).isSlow([make(1), make(1)])).toBe(false)
    expect(make(500).isSlow([make(1)])).toBe(false)
    expect(make(500).isSlow([make(1), make(1, 4)])).toBe(false)
    expect(make(30).isSlow([make(1), make(1)])).toBe(false)
    expect(make(500).isSlow([make(1), make(1)])).toBe(true)
  })
})
