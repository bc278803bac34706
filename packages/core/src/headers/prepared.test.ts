import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeaderList } from './list.ts'
import { PreparedLines } from './prepared.ts'

const FIELDS = ['Content-Type', 'text/plain', 'Content-Length', '3', 'Date', 'now', 'X-\u0041', '\xe9\t ']

test('lines are written as HTTP/1.1 sends them, the length apart', () => {
  const prepared = PreparedLines.of(FIELDS)!
  expect(prepared.text).toBe('Content-Type: text/plain\r\nDate: now\r\nX-A: \xe9\t \r\n')
  expect([prepared.length, prepared.dated]).toEqual([3, true])
  expect(PreparedLines.of([])).toMatchObject({ text: '', length: null, dated: false })
})

test.each([
  [['A b', 'x']],
  [['A', 'x\r\nB: y']],
  [['A', 'x\0']],
  [['A', '\u0100']],
  [['Connection', 'close']],
  [['Transfer-Encoding', 'chunked']],
  [['Content-Length', '3', 'content-length', '3']],
  [['Content-Length', '+3']],
  [['Content-Length', '']],
])('%j cannot be sent as it is', raw => {
  expect(PreparedLines.of(raw)).toBeNull()
})

test('it leads a list only while its lines stand there untouched', () => {
  const prepared = PreparedLines.of(FIELDS)!
  const list = () => new HeaderList([...FIELDS, 'Age', '1'])
  expect(prepared.leads(list())).toBe(true)
  expect(prepared.leads(new HeaderList([...FIELDS]))).toBe(true)
  expect(prepared.leads(list().set('Date', 'then'))).toBe(false)
  const shorter = list()
  shorter.delete('content-type')
  expect(prepared.leads(shorter)).toBe(false)
  expect(prepared.leads(new HeaderList(['X', 'y', ...FIELDS]))).toBe(false)
  expect(prepared.leads(new HeaderList(FIELDS.slice(2)))).toBe(false)
})

test('what stands behind is written too, unless it needs a closer look', () => {
  const prepared = PreparedLines.of(FIELDS)!
  const rest = (...more: string[]) => prepared.rest(new HeaderList([...FIELDS, ...more]))
  expect(rest()).toBe('')
  expect(rest('Age', '1', 'X', 'y')).toBe('Age: 1\r\nX: y\r\n')
  for (const more of [
    ['Connection', 'close'],
    ['content-length', '4'],
    ['date', 'x'],
    ['A', 'b\nc'],
    ['', 'x'],
  ])
    expect(rest(...more)).toBeNull()
})

test('lines and rest together are the list', () => {
  const name = fc.stringMatching(/^[A-Za-z-]{1,8}$/)
  const value = fc.stringMatching(/^[\t -~\x80-\xff]{0,10}$/)
  const fields = fc.array(fc.tuple(name, value), { maxLength: 6 })
  fc.assert(
    fc.property(fields, fields, (mine, more) => {
      const prepared = PreparedLines.of(mine.flat())
      if (prepared === null) return
      const list = new HeaderList([...mine, ...more].flat())
      const rest = prepared.rest(list)
      if (rest === null) return
      const lengths = [...list].filter(([one]) => one.toLowerCase() === 'content-length')
      const expected = [...list].filter(([one]) => one.toLowerCase() !== 'content-length')
      expect(prepared.text + rest).toBe(expected.map(([one, text]) => `${one}: ${text}\r\n`).join(''))
      expect(lengths.length).toBe(prepared.length === null ? 0 : 1)
    }),
  )
})
