import { expect, test } from 'vitest'
import { ALL_READINGS, isOpenToReadings, readingsBy } from './readings.ts'

const all = readingsBy(ALL_READINGS)

test.each([
  ['/a/b', []],
  ['/a/', []],
  ['/a%20b', []],
  ['//a', ['/a']],
  ['/a%2Fb', ['/a/b']],
  ['/%5Ca', ['//a', '/a']],
  ['/a;x/b', ['/a/b']],
  ['/;/a', ['//a', '/a']],
  ['/a%3Bx', ['/a;x', '/a']],
  ['/a;x%2Fb', ['/a', '/a;x/b', '/a/b']],
  ['/a%252Fb', []],
])('%s is also %j', (path, readings) => {
  expect(all(path)?.sort()).toEqual(readings.sort())
})

test.each([
  [['encoded-slash'], ['/a;x/b//%5C']],
  [['backslash'], ['/a;x%2Fb///']],
  [['empty-segments'], ['/a;x%2Fb/%5C']],
  [['parameters'], ['/a//%5C']],
  [[], []],
] as const)('with %j only those are made', (kinds, readings) => {
  expect(readingsBy(kinds)('/a;x%2Fb//%5C')).toEqual(readings)
})

test('what has no other reading is told at a glance, what has one never is', () => {
  expect(['/', '/a/b.c', "/a!$&'()+,=@:-_~"].filter(isOpenToReadings)).toEqual([])
  expect(['/a%2Fb', '/%5Ca', '/a;x', '//', '/a//'].every(isOpenToReadings)).toBe(true)
})

test('a long path with many readings is too many; a longer one with few is not', () => {
  const odd = '/%2F;x//%5C%3B'
  expect(all(odd)!.length).toBeGreaterThan(20)
  expect(all(odd + 'x'.repeat(3000))).toBeNull()
  expect(all(`/a%2Fb${'x'.repeat(30_000)}`)).toHaveLength(1)
})
