import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readWindow, renewalTime, retryDelay, shareOf, windowRecheck } from './schedule.ts'

const DAY = 86_400_000

test('renewal lies in the window, or between 61 and 67 per cent of the life', () => {
  fc.assert(
    fc.property(
      fc.nat(4e12),
      fc.integer({ min: 1, max: 1e11 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (from, life, share) => {
        const validity = { validFrom: from, validTo: from + life }
        const part = (renewalTime(validity, null, share) - from) / life
        expect(part).toBeGreaterThan(0.61)
        expect(part).toBeLessThan(0.67)
        const window = { start: from, end: from + life }
        const time = renewalTime(validity, window, share)
        expect(time >= window.start && time <= window.end).toBe(true)
      },
    ),
  )
})

test('waits grow to a day, never shrink below what the CA asks, and are spread by a quarter', () => {
  const waits = Array.from({ length: 12 }, (_, i) => retryDelay(i + 1, 0, () => 0) / 60_000)
  expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440, 1440])
  expect(retryDelay(1, 2 * DAY, () => 0)).toBe(2 * DAY)
  expect(retryDelay(1, 0, () => 1)).toBe(375_000)
  expect(retryDelay(1e9, 0, () => 0)).toBe(DAY)
})

describe('windows', () => {
  const window = (start: unknown, end: unknown): unknown => ({ suggestedWindow: { start, end } })
  test.each([
    [
      window('2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'),
      { start: Date.UTC(2026, 0, 2), end: Date.UTC(2026, 0, 3) },
    ],
    [window('2026-01-03T00:00:00Z', '2026-01-02T00:00:00Z'), null],
    [window('soon', 'later'), null],
    [window(null, null), null],
    [{}, null],
    [null, null],
  ])('%j', (body, expected) => expect(readWindow(body)).toEqual(expected))

  test('are asked for again from a minute to a day later', () => {
    expect([0, 1000, 7_200_000, 9 * DAY].map(windowRecheck)).toEqual([21_600_000, 60_000, 7_200_000, DAY])
  })
})

test('a share is fixed for a text and lies between 0 and 1', () => {
  expect(shareOf('a')).toBe(shareOf('a'))
  fc.assert(fc.property(fc.string(), text => shareOf(text) >= 0 && shareOf(text) < 1))
})
