import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CONNECTION, CONTENT_LENGTH, HOST } from '../../headers/names.ts'
import { BAD, FieldLines, MORE, TOO_MANY } from './field-lines.ts'

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
const token = fc.stringMatching(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,20}$/)
const value = fc.stringMatching(/^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]{0,20}[!-~\x80-\xff])?)?$/)

function scan(text: string): { end: number; raw: string[] } {
  const lines = new FieldLines(100)
  const all = bytes(text)
  const end = lines.scan(all, 0, all.length)
  return { end, raw: end < 0 ? [] : lines.strings(all) }
}

it('reads what was written: order, case, duplicates, obs-text; whitespace around values goes', () => {
  const ows = fc.stringMatching(/^[ \t]{0,3}$/)
  fc.assert(
    fc.property(fc.array(fc.tuple(token, ows, value, ows), { maxLength: 40 }), lines => {
      const text = `${lines.map(([name, before, text, after]) => `${name}:${before}${text}${after}\r\n`).join('')}\r\n`
      expect(scan(text)).toEqual({ end: text.length, raw: lines.flatMap(([name, , text]) => [name, text]) })
    }),
  )
})

it('each beginning of a section wants more, and nothing behind it is looked at', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(token, value), { maxLength: 6 }), fc.string(), (lines, behind) => {
      const text = `${lines.map(([name, text]) => `${name}: ${text}\r\n`).join('')}\r\n`
      for (let cut = 0; cut < text.length; cut++) expect(scan(text.slice(0, cut)).end).toBe(MORE)
      expect(scan(text + behind).end).toBe(text.length)
    }),
    { numRuns: 50 },
  )
})

describe('refuses', () => {
  it.each([
    ['a space before the colon', 'A : b\r\n\r\n'],
    ['a space before the name', ' A: b\r\n\r\n'],
    ['folding', 'A: b\r\n c\r\n\r\n'],
    ['folding with a tab', 'A: b\r\n\tc: d\r\n\r\n'],
    ['a bare LF', 'A: b\nC: d\r\n\r\n'],
    ['a bare CR', 'A: b\rC: d\r\n\r\n'],
    ['a bare CR as the empty line', 'A: b\r\n\rX'],
    ['a LF as the empty line', 'A: b\r\n\n'],
    ['NUL', 'A: b\0\r\n\r\n'],
    ['NUL in a name', 'A\0: b\r\n\r\n'],
    ['DEL', 'A: b\x7f\r\n\r\n'],
    ['0x85 in a name', 'A\x85: b\r\n\r\n'],
    ['no colon', 'A\r\n\r\n'],
    ['no name', ': b\r\n\r\n'],
    ['a vertical tab', 'A:\x0bb\r\n\r\n'],
  ])('%s', (_, text) => {
    expect(scan(text).end).toBe(BAD)
  })

  it('any control but HTAB in a value, at any place', () => {
    for (let code = 0; code < 256; code++) {
      const legal = code === 9 || (code >= 32 && code !== 127)
      expect(scan(`A: b${String.fromCharCode(code)}c\r\n\r\n`).end >= 0).toBe(legal)
    }
  })

  it('more lines than allowed', () => {
    const lines = new FieldLines(100)
    const some = (count: number): Buffer => bytes(`${'A: b\r\n'.repeat(count)}\r\n`)
    expect(lines.scan(some(100), 0, 602)).toBe(602)
    expect(lines.scan(some(101), 0, 608)).toBe(TOO_MANY)
  })
})

it('tells where the fields are that matter, in any case of letters, and whether they come twice', () => {
  const lines = new FieldLines(100)
  const text = bytes('A: b\r\ncOnTeNt-LeNgTh:  12 \r\nHOST: x\r\nhost: y\r\n\r\n')
  expect(lines.scan(text, 0, text.length)).toBe(text.length)
  const line = lines.first(CONTENT_LENGTH)
  expect([line, lines.repeats(CONTENT_LENGTH), lines.first(HOST), lines.repeats(HOST)]).toEqual([
    1,
    false,
    2,
    true,
  ])
  expect(lines.first(CONNECTION)).toBe(-1)
  expect(text.toString('latin1', lines.valueFrom(line), lines.valueTo(line))).toBe('12')
  const tab = bytes('Transfer-Encoding: chunked \t \r\n\r\n')
  lines.scan(tab, 0, tab.length)
  expect(tab.toString('latin1', lines.valueFrom(0), lines.valueTo(0))).toBe('chunked \t')
  // Nothing of it is left for the next section.
  expect(lines.scan(bytes('\r\n'), 0, 2)).toBe(2)
  expect([lines.count, lines.first(CONTENT_LENGTH), lines.repeats(HOST)]).toEqual([0, -1, false])
})
