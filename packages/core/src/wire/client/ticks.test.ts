import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Ticks } from './ticks.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it.each([1, 7, 50, 4000, 30_000, 3_600_000])('%i ms are over in time, never early', milliseconds => {
  let at = -1
  let due = Number.POSITIVE_INFINITY
  const ticks = new Ticks(Math.min(milliseconds, 4000), () => {
    if (at < 0 && ticks.now >= due) at = Date.now() - from
  })
  ticks.start()
  vi.advanceTimersByTime(13)
  const from = Date.now()
  due = ticks.now + ticks.of(milliseconds)
  vi.advanceTimersByTime(2 * milliseconds + 1000)
  ticks.stop()
  expect(at).toBeGreaterThanOrEqual(milliseconds)
  expect(at).toBeLessThanOrEqual(milliseconds + Math.max(8, Math.min(milliseconds, 4000) / 4))
})

it('stands still when it is stopped, and starts once', () => {
  let calls = 0
  const ticks = new Ticks(80, () => calls++)
  ticks.start()
  ticks.start()
  vi.advanceTimersByTime(100)
  ticks.stop()
  vi.advanceTimersByTime(1000)
  expect(calls).toBe(10)
})
