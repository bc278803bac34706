import { expect, test } from 'vitest'
import type { ConfigFault } from '../errors.ts'
import { assertMilliseconds, assertWhole } from './check.ts'

test.each([
  [1, 1, 5, true],
  [5, 1, 5, true],
  [0, 1, 5, false],
  [6, 1, 5, false],
  [1.5, 1, 5, false],
  [Number.NaN, 1, 5, false],
  [Number.POSITIVE_INFINITY, 1, Number.POSITIVE_INFINITY, false],
  [2 ** 53, 0, 2 ** 60, false],
  ['3' as never, 1, 5, false],
  [undefined as never, 1, 5, false],
  [null as never, 0, 5, false],
  [3n as never, 1, 5, false],
])('%s from %s to %s is fine: %s', (value, least, most, fine) => {
  const faults: ConfigFault[] = []
  expect(assertWhole('here', value, least, most, faults)).toBe(value)
  expect(faults.map(fault => [fault.place, fault.problem])).toEqual(
    fine ? [] : [['here', `${value} is no whole number from ${least} to ${most}`]],
  )
})

test.each([
  [0, 0, true],
  [0, 1, false],
  [2_147_483_647, 1, true],
  [2_147_483_648, 1, false],
])('%i ms, at least %i, fits a timer: %s', (value, least, fine) => {
  const faults: ConfigFault[] = []
  assertMilliseconds('here', value, least, faults)
  expect(faults).toHaveLength(fine ? 0 : 1)
})
