import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HeaderList, isFieldName, isFieldValue, sameName } from './list.ts'

describe('reading', () => {
  const list = new HeaderList(['Host', 'a', 'X-A', '1', 'x-a', '2', 'Set-Cookie', 'c'])

  test.each([
    ['x-a', '1', ['1', '2'], '1, 2'],
    ['X-A', '1', ['1', '2'], '1, 2'],
    ['HOST', 'a', ['a'], 'a'],
    ['missing', undefined, [], undefined],
    ['', undefined, [], undefined],
  ])('%s', (name, first, all, joined) => {
    expect(list.get(name)).toBe(first)
    expect(list.all(name)).toEqual(all)
    expect(list.joined(name)).toBe(joined)
    expect(list.has(name)).toBe(first !== undefined)
  })

  test('gives lines in order, in their own case', () => {
    expect([...list]).toEqual([
      ['Host', 'a'],
      ['X-A', '1'],
      ['x-a', '2'],
      ['Set-Cookie', 'c'],
    ])
    expect(list.size).toBe(4)
  })

  test('a clone is independent', () => {
    const copy = list.clone().set('host', 'b')
    expect([list.get('host'), copy.get('host')]).toEqual(['a', 'b'])
  })
})

test('from() makes several lines of an array, and text of a number', () => {
  expect(HeaderList.from({ A: ['1', '2'], B: 3, C: '' }).raw).toEqual(['A', '1', 'A', '2', 'B', '3', 'C', ''])
  expect(() => HeaderList.from({ 'a b': '1' })).toThrow(TypeError)
})

test('an empty value is there', () => {
  expect(new HeaderList(['A', '']).has('a')).toBe(true)
})

test.each([
  ['', '1'],
  ['a b', '1'],
  ['a:', '1'],
  ['a\n', '1'],
  ['\u00e4', '1'],
  ['a', 'b\r\nc: d'],
  ['a', '\n'],
  ['a', '\0'],
  ['a', '\x7f'],
  ['a', '\u0100'],
  ['a', { toString: () => 'x' } as unknown as string],
  [['a'] as unknown as string, 'x'],
])('%j: %j is never taken', (name, value) => {
  const list = new HeaderList(['A', '1'])
  expect(() => list.append(name, value)).toThrow(TypeError)
  expect(() => list.set(name, value)).toThrow(TypeError)
  expect(list.raw).toEqual(['A', '1'])
})

test('the message of a refused line does not tell its value', () => {
  expect(() => new HeaderList().set('authorization', 'secret\n')).toThrow(
    /^illegal value for header authorization$/,
  )
})

test('every byte is either legal in names or values as RFC 9110 has it, or not', () => {
  for (let code = 0; code < 0x180; code++) {
    const char = String.fromCharCode(code)
    expect([code, isFieldName(char)]).toEqual([code, /^[A-Za-z0-9!#$%&'*+.^_`|~-]$/.test(char)])
    const legal = code === 9 || (code >= 0x20 && code <= 0x7e) || (code >= 0x80 && code <= 0xff)
    expect([code, isFieldValue(char)]).toEqual([code, legal])
  }
})

test.each([
  ['Host', 'host', true],
  ['host', 'host', true],
  ['hosts', 'host', false],
  ['hose', 'host', false],
])('sameName(%s, %s) is %s', (name, lower, same) => {
  expect(sameName(name, lower)).toBe(same)
})

describe('against a naive list', () => {
  type Model = [string, string][]
  const name = fc.constantFrom('a', 'A', 'b', 'B', 'ab', 'aB')
  const value = fc.string({ maxLength: 3, unit: fc.constantFrom('x', 'y', ' ') })
  const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

  const edit = fc.oneof(
    fc.tuple(name, value).map(([n, v]) => ({
      says: `append ${n}`,
      real: (list: HeaderList) => void list.append(n, v),
      model: (lines: Model): Model => [...lines, [n, v]],
    })),
    fc.tuple(name, value).map(([n, v]) => ({
      says: `set ${n}`,
      real: (list: HeaderList) => void list.set(n, v),
      model: (lines: Model): Model => {
        const first = lines.findIndex(line => same(line[0], n))
        if (first === -1) return [...lines, [n, v]]
        return lines.flatMap((line, at): Model => (at === first ? [[n, v]] : same(line[0], n) ? [] : [line]))
      },
    })),
    name.map(n => ({
      says: `delete ${n}`,
      real: (list: HeaderList) => void list.delete(n),
      model: (lines: Model): Model => lines.filter(line => !same(line[0], n)),
    })),
    value.map(v => ({
      says: `delete where ${v}`,
      real: (list: HeaderList) => void list.deleteWhere((_, other) => other === v),
      model: (lines: Model): Model => lines.filter(line => line[1] !== v),
    })),
  )

  test('any sequence of edits leaves the same lines', () => {
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 30 }), name, (edits, asked) => {
        const list = new HeaderList()
        let lines: Model = []
        for (const step of edits) {
          step.real(list)
          lines = step.model(lines)
          expect([...list]).toEqual(lines)
        }
        const values = lines.filter(line => same(line[0], asked)).map(line => line[1])
        expect(list.all(asked)).toEqual(values)
        expect(list.get(asked)).toBe(values[0])
        expect(list.size).toBe(lines.length)
        expect(list.delete(asked)).toBe(values.length > 0)
        expect(list.has(asked)).toBe(false)
      }),
      { numRuns: 500 },
    )
  })
})
