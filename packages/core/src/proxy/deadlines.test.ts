import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Deadline, Deadlines, noDeadline } from './deadlines.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const DURATION = 800
/** A wake-up serves whatever is due within an eighth. */
const LATE = DURATION / 8 + 1

class Item implements Deadline {
  readonly deadline = noDeadline()
  readonly fired: number[] = []
  onDeadline(): void {
    this.fired.push(Date.now())
  }
}

const make = (): Deadlines => new Deadlines(DURATION, Date.now)

test('fires once, not before the time', () => {
  const deadlines = make()
  const item = new Item()
  const start = Date.now()
  deadlines.add(item)
  vi.advanceTimersByTime(DURATION - 1)
  expect(item.fired).toEqual([])
  vi.advanceTimersByTime(1 + LATE)
  expect(item.fired).toHaveLength(1)
  expect(item.fired[0]! - start).toBeGreaterThanOrEqual(DURATION)
  vi.advanceTimersByTime(10 * DURATION)
  expect(item.fired).toHaveLength(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('what is removed never fires, in whatever place it stood', () => {
  for (const gone of [0, 1, 2]) {
    const deadlines = make()
    const items = [new Item(), new Item(), new Item()]
    for (const item of items) deadlines.add(item)
    deadlines.remove(items[gone]!)
    deadlines.remove(items[gone]!)
    vi.advanceTimersByTime(DURATION + LATE)
    expect(items.map(item => item.fired.length)).toEqual([0, 1, 2].map(at => (at === gone ? 0 : 1)))
  }
})

test('what was never added can be removed', () => {
  const deadlines = make()
  const item = new Item()
  deadlines.add(item)
  deadlines.remove(new Item())
  vi.advanceTimersByTime(DURATION + LATE)
  expect(item.fired).toHaveLength(1)
})

test('many deadlines share one timer', () => {
  const deadlines = make()
  for (let i = 0; i < 100; i++) deadlines.add(new Item())
  expect(vi.getTimerCount()).toBe(1)
})

test('a deadline may add and remove others while it fires', () => {
  const deadlines = make()
  const next = new Item()
  const doomed = new Item()
  const first = new Item()
  first.onDeadline = () => {
    deadlines.remove(doomed)
    deadlines.add(next)
  }
  deadlines.add(first)
  deadlines.add(doomed)
  vi.advanceTimersByTime(DURATION + LATE)
  expect([next.fired.length, doomed.fired.length]).toEqual([0, 0])
  vi.advanceTimersByTime(DURATION + LATE)
  expect([next.fired.length, doomed.fired.length]).toEqual([1, 0])
})

test('whatever is added and removed, each deadline that stays fires once, in its time', () => {
  const step = fc.record({ wait: fc.nat(400), remove: fc.option(fc.nat(20), { nil: null }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), steps => {
      const deadlines = make()
      const all: { item: Item; at: number; removed: boolean }[] = []
      for (const { wait, remove } of steps) {
        vi.advanceTimersByTime(wait)
        const old = remove === null ? undefined : all[remove]
        if (old && old.item.fired.length === 0) {
          deadlines.remove(old.item)
          old.removed = true
        }
        const item = new Item()
        deadlines.add(item)
        all.push({ item, at: Date.now(), removed: false })
      }
      vi.advanceTimersByTime(2 * DURATION)
      for (const { item, at, removed } of all) {
        expect(item.fired).toHaveLength(removed ? 0 : 1)
        if (removed) continue
        expect(item.fired[0]! - at).toBeGreaterThanOrEqual(DURATION)
        expect(item.fired[0]! - at).toBeLessThanOrEqual(DURATION + LATE)
      }
      expect(vi.getTimerCount()).toBe(0)
    }),
  )
})
