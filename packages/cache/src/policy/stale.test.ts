import { expect, test } from 'vitest'
import { parseCacheControl } from './directives.ts'
import { mayUseStale, type StaleOccasion } from './stale.ts'

const rules = { ifError: 0, ifUnreachable: 100, whileRevalidate: 0 }

test.each([
  ['max-age=1', 'unreachable', 50, true],
  ['max-age=1', 'unreachable', 101, false],
  ['max-age=1', 'error', 1, false],
  ['max-age=1', 'revalidating', 1, false],
  ['max-age=1, stale-if-error=9', 'error', 9, true],
  ['max-age=1, stale-if-error=9', 'error', 10, false],
  ['max-age=1, stale-if-error=900', 'unreachable', 800, true],
  ['max-age=1, stale-while-revalidate=9', 'revalidating', 9, true],
  ['max-age=1, stale-while-revalidate=9', 'revalidating', 10, false],
  ['max-age=1, stale-while-revalidate=9', 'error', 1, false],
  ['s-maxage=1', 'unreachable', 1, false],
  ['s-maxage=1, stale-while-revalidate=9', 'revalidating', 1, true],
  ['max-age=1, must-revalidate, stale-if-error=9', 'unreachable', 1, false],
  ['max-age=1, proxy-revalidate', 'unreachable', 1, false],
  ['max-age=1, no-cache', 'unreachable', 1, false],
] as [string, StaleOccasion, number, boolean][])(
  '%s · %s after %i s',
  (line, occasion, staleness, expected) => {
    expect(mayUseStale(occasion, staleness, parseCacheControl([line]), null, rules)).toBe(expected)
  },
)

test('a request may ask for it, where the origin does not forbid it', () => {
  expect(mayUseStale('error', 5, parseCacheControl(['max-age=1']), 9, rules)).toBe(true)
  expect(mayUseStale('error', 5, parseCacheControl(['s-maxage=1']), 9, rules)).toBe(false)
})
