import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { roundRobin } from './balance/round-robin.ts'
import { checkConnect } from './check-connect.ts'
import type { Endpoint } from './endpoint.ts'
import type { GroupEvent, TargetState } from './events.ts'
import { Group, type GroupSettings } from './group.ts'
import type { Clock } from './health/breaker.ts'
import { checkHealth } from './health/check-options.ts'
import type { UpstreamHealthOptions } from './options.ts'
import { readTarget, type TargetSpec } from './target-url.ts'

/** A group on a clock that the test moves. Nothing of it ever connects. */
function setUp(
  targets: readonly string[],
  health?: UpstreamHealthOptions,
  changes: Partial<GroupSettings> = {},
) {
  let time = 1000
  let waiting: { at: number; run: () => void }[] = []
  const clock: Clock = {
    now: () => time,
    random: () => 1,
    after(milliseconds, run) {
      const entry = { at: time + milliseconds, run }
      waiting.push(entry)
      return () => void (waiting = waiting.filter(one => one !== entry))
    },
  }
  const events: GroupEvent[] = []
  const group = new Group(
    {
      name: 'g',
      drainTimeout: 1000,
      slowStart: 0,
      ...checkConnect({}, 'g', []),
      balancer: roundRobin(),
      measured: false,
      affinity: null,
      health: checkHealth(health, 'g', []),
      dns: null,
      onChange: event => events.push(event),
      clock,
      ...changes,
    },
    targets.map(one => readTarget(one, 'g', []) as TargetSpec),
  )
  const pass = (milliseconds: number): void => {
    time += milliseconds
    for (const entry of waiting.filter(one => one.at <= time)) {
      waiting = waiting.filter(one => one !== entry)
      entry.run()
    }
  }
  return { group, events, pass, waiting: () => waiting.length }
}

const URLS = ['http://10.0.0.1', 'http://10.0.0.2', 'http://10.0.0.3', 'http://10.0.0.4']
const labels = (group: Group): string[] => group.stats().targets.map(one => one.target)

test('a target alone is not watched; the second one makes both watched', async () => {
  const { group } = setUp([URLS[0]!])
  const first = group.targets[0] as Endpoint
  expect(first.health).toBe(null)
  const ticket = first.enter()
  group.add(URLS[1]!)
  expect(group.targets.map(one => (one as Endpoint).health !== null)).toEqual([true, true])
  // A request from before has nothing to tell.
  first.leave(ticket, 'failed')
  expect(group.stats().targets[0]).toMatchObject({ inFlight: 0, failures: 1, state: 'up' })
  await group.destroy()
})

test('health that is asked for watches a target alone too, and panic keeps it in use', async () => {
  const { group, events } = setUp([URLS[0]!], { passive: { consecutive: 2 } })
  for (let i = 0; i < 2; i++) {
    const target = group.pick(null, null)!
    target.leave(target.enter(), 'failed')
  }
  expect(group.stats()).toMatchObject({ panic: true, targets: [{ state: 'open', used: true }] })
  expect(group.pick(null, null)).toBe(group.targets[0])
  expect(events.map(event => event.kind)).toEqual(['target', 'panic'])
  await group.destroy()
})

test('pick leaves out what was tried, and has nothing when all were', async () => {
  const { group } = setUp(URLS)
  const tried = [group.targets[0]!, group.targets[2]!]
  for (let i = 0; i < 10; i++) expect(tried).not.toContain(group.pick(null, tried))
  expect(group.pick(null, group.targets)).toBe(null)
  await group.destroy()
})

test('slow start begins with a tenth and ends with all', async () => {
  const { group } = setUp([URLS[0]!], undefined, { slowStart: 60_000 })
  group.add(URLS[1]!)
  const [first, second] = group.targets as Endpoint[]
  expect(first!.share()).toBe(1)
  expect(second!.share()).toBeCloseTo(0.1)
  await group.destroy()
})

test('a group that is closed has no timers and no targets', async () => {
  const { group, waiting } = setUp(URLS, { passive: { consecutive: 1 } })
  const target = group.pick(null, null)!
  target.leave(target.enter(), 'failed')
  expect(waiting()).toBe(1)
  await group.close()
  expect([waiting(), group.pick(null, null)]).toEqual([0, null])
  // What comes late sets none.
  target.leave(target.enter(), 'failed')
  expect(waiting()).toBe(0)
})

describe('whatever happens', () => {
  type Step =
    | readonly ['pick' | 'pass' | 'end']
    | readonly ['add' | 'remove' | 'drain' | 'restore', number]
    | readonly ['over', 'ok' | 'failed' | 'neutral' | 'bad']
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constant(['pick'] as const) },
      {
        weight: 5,
        arbitrary: fc.constantFrom('ok', 'failed', 'neutral', 'bad').map(end => ['over', end] as const),
      },
      fc.tuple(fc.constantFrom('add', 'remove', 'drain', 'restore'), fc.nat(3)),
      fc.constant(['pass'] as const),
    ),
    { maxLength: 120 },
  )

  test('who gets requests is there, is not draining, and is fit unless nobody is; nothing is counted twice', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async list => {
        const { group, events, pass } = setUp(URLS.slice(0, 2), {
          passive: { consecutive: 2, backoff: 100, maxBackoff: 200, successes: 1 },
        })
        const running: { target: Endpoint; ticket: number }[] = []
        const states = new Map<string, TargetState>()
        let seen = 0
        for (const step of list) {
          const present = labels(group)
          if (step[0] === 'pick') {
            const target = group.pick(null, null) as Endpoint | null
            const { targets } = group.stats()
            const able = targets.filter(one => one.state !== 'draining')
            expect(target === null).toBe(able.length === 0)
            if (target === null) continue
            const own = targets.find(one => one.target === target.label)!
            expect(own).toMatchObject({ used: true })
            const fit = able.filter(one => one.state === 'up')
            if (fit.length > 0) expect(['up', 'half-open']).toContain(own.state)
            running.push({ target, ticket: target.enter() })
          } else if (step[0] === 'over') {
            const one = running.shift()
            if (one === undefined) continue
            const { target } = one
            let { ticket } = one
            const end = step[1]
            if (end !== 'failed') ticket = target.headed(ticket, 5, end === 'bad' ? 503 : 200)
            target.leave(ticket, end === 'bad' ? 'ok' : end)
          } else if (step[0] === 'pass') pass(200)
          else if (step[0] !== 'end') {
            const url = URLS[step[1]!]!
            const isThere = present.includes(url)
            if (step[0] === 'add') {
              if (!isThere) group.add(url)
            } else if (isThere) {
              if (step[0] === 'remove') void group.remove(url)
              else if (step[0] === 'drain') void group.drain(url)
              else group.restore(url)
            }
          }
          // Each change begins where the last one ended.
          for (const event of events.slice(seen)) {
            if (event.kind !== 'target') continue
            const before = states.get(event.target) ?? (URLS.indexOf(event.target) < 2 ? 'up' : 'absent')
            expect([event.target, event.from]).toEqual([event.target, before])
            expect(event.to).not.toBe(event.from)
            states.set(event.target, event.to)
          }
          seen = events.length
          for (const target of group.stats().targets) {
            const own = running.filter(
              one => one.target === group.targets.find(other => other.label === target.target),
            )
            expect(target.inFlight).toBe(own.length)
          }
        }
        await group.destroy()
      }),
      { numRuns: 60 },
    )
  })
})
