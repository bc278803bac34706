import { expect, test } from 'vitest'
import { onlyValue, replaceField } from './fields.ts'

test.each([
  { raw: [], value: 'n', out: ['X-Id', 'n'] },
  { raw: ['a', '1'], value: 'n', out: ['a', '1', 'X-Id', 'n'] },
  {
    raw: ['x-id', '1', 'a', '2', 'X_ID', '3', 'x.iD', '4', 'b', '5'],
    value: 'n',
    out: ['a', '2', 'b', '5', 'X-Id', 'n'],
  },
  { raw: ['x-id', '1', 'xxid', '2'], value: null, out: ['xxid', '2'] },
])('leaves one line: $raw', ({ raw, value, out }) => {
  const lines = [...raw]
  replaceField(lines, 'X-Id', 'x-id', value)
  expect(lines).toEqual(out)
})

test.each([
  { raw: ['a', '1'], found: undefined },
  { raw: ['X-Id', '1', 'a', '2'], found: '1' },
  { raw: ['X-Id', '1', 'x-id', '1'], found: null },
])('finds the only value: $raw', ({ raw, found }) => {
  expect(onlyValue(raw, 'x-id')).toBe(found)
})
