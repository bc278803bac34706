import { HeaderList } from '@postern/core'
import { describe, expect, test } from 'vitest'
import { varyKey, varyNames } from './vary.ts'

const names = (...lines: string[]) => varyNames(HeaderList.from({ Vary: lines }))
const key = (fields: Record<string, string | string[]>, ...of: string[]) =>
  varyKey(of, HeaderList.from(fields))

test.each([
  [['Foo, bar ,foo'], ['bar', 'foo']],
  [
    ['b', 'a'],
    ['a', 'b'],
  ],
  [[''], []],
  [['*'], null],
  [['a, *'], null],
  [['*', '*'], null],
  [[', *'], null],
] as [string[], string[] | null][])('Vary: %j', (lines, expected) => {
  expect(names(...lines)).toEqual(expected)
})

describe('match', () => {
  test.each([
    ['the same', { a: '1' }, { A: '1' }, true],
    ['another value', { a: '1' }, { a: '2' }, false],
    ['absent and empty', {}, { a: '' }, false],
    ['absent twice', {}, {}, true],
    ['two lines and one', { a: ['1', '2'] }, { a: '1, 2' }, true],
    ['case of an unknown field', { a: 'x' }, { a: 'X' }, false],
  ] as [string, Record<string, string>, Record<string, string>, boolean][])('%s', (_name, one, two, same) => {
    expect(key(one, 'a') === key(two, 'a')).toBe(same)
  })

  test.each([
    ['en, de', 'de, en'],
    ['en, de', 'eN,De'],
    ['en;q=0.5, de', 'de , en; q=0.5'],
    ['en', 'en, en'],
  ])('Accept-Language: %s and %s', (one, two) => {
    const of = 'accept-language'
    expect(key({ [of]: one }, of)).toBe(key({ [of]: two }, of))
  })

  test('weights count', () => {
    const of = 'accept-language'
    expect(key({ [of]: 'en;q=0.5, de' }, of)).not.toBe(key({ [of]: 'en, de' }, of))
  })

  test('one value cannot pass for two fields', () => {
    expect(key({ a: '1', b: '2' }, 'a', 'b')).not.toBe(key({ a: '1b:2' }, 'a', 'b'))
  })
})
