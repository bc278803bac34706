import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeaderList } from '../headers/list.ts'
import { foldName } from '../headers/names.ts'
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

test('agrees with the plain way of doing it', () => {
  const name = fc.oneof(
    fc.constantFrom('x-id', 'X-Id', 'X_ID', 'x.id', 'xzid', 'x-i'),
    fc.stringMatching(/^[\w.-]{1,6}$/),
  )
  const lines = fc.array(fc.tuple(name, fc.constantFrom('1', '2'))).map(pairs => pairs.flat())
  fc.assert(
    fc.property(lines, fc.constantFrom('new', null), (raw, value) => {
      const plain = new HeaderList([...raw])
      plain.deleteWhere(other => foldName(other) === 'x-id')
      if (value !== null) plain.append('X-Id', value)
      const quick = [...raw]
      replaceField(quick, 'X-Id', 'x-id', value)
      expect(quick).toEqual(plain.raw)

      const all = new HeaderList([...raw]).all('x-id')
      expect(onlyValue(raw, 'x-id')).toBe(all.length > 1 ? null : all[0])
    }),
  )
})
