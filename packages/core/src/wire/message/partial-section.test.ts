import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BAD, MORE } from './field-lines.ts'
import { PartialSection, TOO_LONG } from './partial-section.ts'

/** Feeds pieces; what the last said, how many bytes were taken, and what is kept. */
function feed(text: string, cuts: readonly number[], most = 1000) {
  const section = new PartialSection(most)
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
  const line = fc.stringMatching(/^[\t -~\x80-\xff]{1,40}$/)
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), fc.array(fc.nat()), fc.string(), (lines, cuts, behind) => {
      const text = `${lines.map(one => `${one}\r\n`).join('')}\r\n`
      expect(feed(text + behind, cuts)).toEqual({ what: text.length, kept: text })
      expect(feed(text.slice(0, -1), cuts).what).toBe(MORE)
    }),
  )
})

it.each(['a\nb', 'a\rb', 'a\r\n\rb', '\n', '\0', 'a\x7f', 'a\r\r\n'])('refuses %j at once', text => {
  for (let cut = 0; cut <= text.length; cut++) expect(feed(text, [cut]).what).toBe(BAD)
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
  const section = new PartialSection(10)
  expect(section.add(Buffer.from('abc\r'), 0, 4)).toBe(MORE)
  section.clear()
  expect([section.begun, section.add(Buffer.from('\r\n'), 0, 2), section.length]).toEqual([false, 2, 2])
})
