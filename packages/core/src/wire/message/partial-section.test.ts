import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BAD, MORE } from './field-lines.ts'
import { PartialSection, TOO_LONG } from './partial-section.ts'

/** Feeds pieces; what the last said, how many bytes were taken, and what is kept. */
function feed(text: string, cuts: readonly number[], most = 1000, startLine = true) {
  const section = new PartialSection(most, startLine)
  const all = Buffer.from(text, 'latin1')
  const places = [...cuts.map(cut => cut % (all.length + 1)), all.length].sort((a, b) => a - b)
  let from = 0
  for (const to of places) {
    const what = section.add(all, from, to)
    if (what !== MORE) return { what, kept: section.bytes.toString('latin1', 0, section.length) }
    from = to
  }
  return { what: MORE, kept: section.bytes.toString('latin1', 0, section.length) }
}

it('keeps a section up to its end, however it is cut', () => {
  const first = fc.stringMatching(/^[\t -~\x80-\xff]{0,40}$/)
  const line = fc.stringMatching(/^[!a-zA-Z~]{1,10}:[\t -~\x80-\xff]{0,40}$/)
  fc.assert(
    fc.property(first, fc.array(line), fc.array(fc.nat()), fc.string(), (start, lines, cuts, behind) => {
      const text = `${[start, ...lines].map(one => `${one}\r\n`).join('')}\r\n`
      expect(feed(text + behind, cuts)).toEqual({ what: text.length, kept: text })
      expect(feed(text.slice(0, -1), cuts).what).toBe(MORE)
    }),
  )
})

it.each([
  ...[
    'a\nb',
    'a\rb',
    'a\r\n\rb',
    '\n',
    '\0',
    'a\x7f',
    'a\r\r\n',
    'a\r\n b',
    'a\r\nb c',
    'a\r\nb\r',
    'a\r\n:',
  ],
  ...['a\r\nb:\0', 'a\r\nb:c\n', 'a\r\nb\x85'],
])('refuses %j at once', text => {
  for (let cut = 0; cut <= text.length; cut++) expect(feed(text, [cut]).what).toBe(BAD)
})

it('without a start line an empty line is the end', () => {
  expect(feed('\r\nx', [1], 1000, false)).toEqual({ what: 2, kept: '\r\n' })
  expect(feed('a b', [], 1000, false).what).toBe(BAD)
})

it('is bounded, to the byte', () => {
  const text = `${'x'.repeat(96)}\r\n\r\n`
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 5 }), cuts => {
      expect(feed(text, cuts, 100).what).toBe(100)
      expect(feed(text, cuts, 99).what).toBe(TOO_LONG)
      expect(feed('x'.repeat(100), cuts, 99).what).toBe(TOO_LONG)
    }),
  )
})

it('begins anew after clear()', () => {
  const section = new PartialSection(10, false)
  expect(section.add(Buffer.from('abc:'), 0, 4)).toBe(MORE)
  section.clear()
  expect([section.begun, section.add(Buffer.from('\r\n'), 0, 2), section.length]).toEqual([false, 2, 2])
})
