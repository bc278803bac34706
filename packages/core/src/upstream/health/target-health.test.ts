import { expect, test } from 'vitest'
import { ActiveCheck, type Probe } from './active-check.ts'
import type { Clock } from './breaker.ts'
import { checkHealth } from './check-options.ts'
import type { PassiveCheck } from './passive.ts'
import { TargetHealth } from './target-health.ts'

function manualClock() {
  let time = 1000
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
  const pass = (milliseconds: number): void => {
    time += milliseconds
    for (const entry of waiting.filter(one => one.at <= time)) {
      waiting = waiting.filter(one => one !== entry)
      entry.run()
    }
  }
  return { clock, pass, waiting: () => waiting.length }
}

function setUp(options: Parameters<typeof checkHealth>[0], peers: PassiveCheck[] = []) {
  const { clock, pass } = manualClock()
  const told: string[] = []
  const health = new TargetHealth(
    checkHealth(options, 'x', []),
    clock,
    () => peers,
    (from, to, reason) => {
      if (from !== to) told.push(`${from}>${to} ${reason}`)
    },
  )
  return { health, told, pass }
}

test('checks and traffic must both agree', () => {
  const { health, told, pass } = setUp({
    check: { path: '/', rise: 1, fall: 1 },
    passive: { consecutive: 1, backoff: 100 },
  })
  expect([health.state, health.usable]).toEqual(['unknown', true])
  health.checked(true)
  health.finished(health.started(), 'failed')
  expect([health.state, health.usable]).toEqual(['open', false])
  health.checked(false)
  expect([health.state, health.usable]).toEqual(['down', false])
  pass(100)
  expect([health.state, health.usable]).toEqual(['down', false])
  health.checked(true)
  expect([health.state, health.usable]).toEqual(['half-open', true])
  expect(told).toEqual([
    'unknown>up check-passed',
    'up>open consecutive-failures',
    'open>down check-failed',
    'down>half-open check-passed',
  ])
})

test('initial: down is not used before a check has passed', () => {
  const { health } = setUp({ check: { path: '/', initial: 'down' } })
  expect([health.state, health.usable]).toEqual(['unknown', false])
  health.checked(true)
  expect([health.state, health.usable]).toEqual(['up', true])
})

test('a probe is answered with its head, and its end says nothing more', () => {
  const { health, pass } = setUp({ passive: { consecutive: 1, backoff: 100, successes: 2 } })
  health.finished(health.started(), 'failed')
  pass(100)
  const probe = health.started()
  expect(health.usable).toBe(false)
  const rest = health.headed(probe, 5, 200)
  expect([rest, health.usable, health.state]).toEqual([0, true, 'half-open'])
  health.finished(rest, 'failed')
  expect(health.state).toBe('half-open')
  expect(health.headed(health.started(), 5, 200)).toBe(0)
  expect(health.state).toBe('up')
})

test('a bad status is the verdict; a client that leaves gives none', () => {
  const { health } = setUp({ passive: { consecutive: 2 } })
  const first = health.started()
  expect(health.headed(first, 5, 503)).toBe(0)
  health.finished(health.started(), 'neutral')
  expect(health.state).toBe('up')
  health.headed(health.started(), 5, 504)
  expect(health.state).toBe('open')
})

test('slow is compared with the peers, and not for each request', () => {
  const fast = setUp({ passive: { slow: { factor: 2, atLeast: 10, requests: 3 } } })
  const peers: PassiveCheck[] = []
  const { health, pass, told } = setUp({ passive: { slow: { factor: 2, atLeast: 10, requests: 3 } } }, peers)
  for (let i = 0; i < 2; i++) {
    const other = setUp({ passive: { slow: { factor: 2, atLeast: 10, requests: 3 } } }).health.passive!
    for (let j = 0; j < 3; j++) other.observe(5)
    peers.push(other)
  }
  expect(fast.health.state).toBe('up')
  for (let i = 0; i < 3; i++) health.headed(health.started(), 500, 200)
  expect(health.state).toBe('up')
  pass(1000)
  health.headed(health.started(), 500, 200)
  expect(told).toEqual(['up>open slow'])
})

test('one check at a time, with a pause and a limit; stopped for good', () => {
  const { clock, pass, waiting } = manualClock()
  const open: { done: (ok: boolean) => void; given: boolean }[] = []
  const probe: Probe = done => {
    const entry = { done, given: false }
    open.push(entry)
    return () => {
      entry.given = true
    }
  }
  const results: boolean[] = []
  const check = new ActiveCheck(probe, { interval: 1000, timeout: 300 }, clock, ok => void results.push(ok))
  check.start()
  open[0]!.done(true)
  open[0]!.done(false)
  pass(999)
  expect([open.length, results]).toEqual([1, [true]])
  pass(1)
  expect(open.length).toBe(2)
  pass(300)
  expect([results, open[1]!.given]).toEqual([[true, false], true])
  // Too late.
  open[1]!.done(true)
  pass(1000)
  check.stop()
  expect([open.length, open[2]!.given, waiting()]).toEqual([3, true, 0])
  open[2]!.done(true)
  expect([results.length, waiting()]).toEqual([2, 0])
})

test('a probe that is over at once is followed by a pause', () => {
  const { clock, pass } = manualClock()
  let asked = 0
  const check = new ActiveCheck(
    done => {
      asked++
      done(false)
      return () => {}
    },
    { interval: 1000, timeout: 300 },
    clock,
    () => {},
  )
  check.start()
  expect(asked).toBe(1)
  pass(1000)
  expect(asked).toBe(2)
  check.stop()
})
