import AhoCorasick from 'ahocorasick'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Automaton, compileAutomaton } from './automaton.ts'
import { scanner } from './scan.ts'

type Hit = readonly [word: string, end: number]

/** Hits of the flattened automaton, in a fixed order. */
function scan(words: readonly string[], chunks: readonly (string | Uint8Array)[]): Hit[] {
  const hits: Hit[] = []
  const run = scanner(compileAutomaton(words), (word, end) => hits.push([words[word]!, end]))
  for (const chunk of chunks) run.feed(chunk)
  return hits.sort(byEnd)
}

/** Hits of the library. It knows no case, so words and text are folded first. */
function search(words: readonly string[], text: string): Hit[] {
  const hits: Hit[] = []
  for (const [last, found] of new AhoCorasick(words).search(text.toLowerCase())) {
    for (const word of found) hits.push([word, last + 1])
  }
  return hits.sort(byEnd)
}

const byEnd = (a: Hit, b: Hit): number => a[1] - b[1] || (a[0] < b[0] ? -1 : 1)

const letters = (alphabet: string, size: { minLength: number; maxLength: number }) =>
  fc.array(fc.constantFrom(...alphabet), size).map(list => list.join(''))
const wordLists = fc.uniqueArray(letters("abc'<", { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 20,
})
const texts = letters("abcABC'<d0", { minLength: 0, maxLength: 200 })

describe('the flattened automaton', () => {
  it('finds what the search of the library finds', () => {
    fc.assert(
      fc.property(wordLists, texts, (words, text) => {
        expect(scan(words, [text])).toEqual(search(words, text))
      }),
      { numRuns: 500 },
    )
  })

  it('finds the same in bytes as in strings, for every byte', () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(
        fc.array(bytes, { minLength: 1, maxLength: 8 }),
        fc.uint8Array({ maxLength: 200 }),
        (list, text) => {
          const words = [...new Set(list.map(word => Buffer.from(word).toString('latin1')))]
          const whole = Uint8Array.from([...text, ...list[0]!])
          const hits = scan(words, [whole])
          expect(hits).toEqual(scan(words, [Buffer.from(whole).toString('latin1')]))
          expect(hits.some(([word, end]) => word === words[0] && end === whole.length)).toBe(true)
        },
      ),
    )
  })

  it('finds the same wherever the text is cut', () => {
    fc.assert(
      fc.property(wordLists, texts, fc.array(fc.nat(200)), (words, text, cuts) => {
        const places = [0, ...cuts.filter(cut => cut < text.length), text.length].sort((a, b) => a - b)
        const chunks = places.slice(1).map((to, i) => text.slice(places[i]!, to))
        const mixed = chunks.map((chunk, i) => (i % 2 === 0 ? chunk : Buffer.from(chunk, 'latin1')))
        expect(scan(words, mixed)).toEqual(scan(words, [text]))
      }),
    )
  })

  it('ignores the case of ASCII letters, and of no others', () => {
    expect(scan(['select', 'é'], ['SeLeCt SELECT É é'])).toEqual([
      ['select', 6],
      ['select', 13],
      ['é', 17],
    ])
    // U+212A lower-cases to k, U+0153 is above 0xff: neither is a byte.
    expect(scan(['k'], ['\u212a\u0153'])).toEqual([])
  })

  it('reports equal words under each of their indices', () => {
    const seen: number[] = []
    scanner(compileAutomaton(['ab', 'AB', 'b']), word => seen.push(word)).feed('ab')
    expect(seen.sort()).toEqual([0, 1, 2])
  })

  it('starts anew after reset', () => {
    const ends: number[] = []
    const run = scanner(compileAutomaton(['ab']), (_, end) => ends.push(end))
    run.feed('a')
    run.reset()
    run.feed('bab')
    expect(ends).toEqual([3])
  })

  it('holds two bytes for each state and column, as stated', () => {
    const words = ['union', 'unite', 'on']
    const automaton: Automaton = compileAutomaton(words)
    expect(automaton.states).toBeLessThanOrEqual(words.join('').length + 1)
    expect(automaton.next.byteLength).toBe(automaton.states * 2 ** automaton.shift * 2)
  })

  it('refuses words that it cannot hold', () => {
    expect(() => compileAutomaton([''])).toThrow(RangeError)
    expect(() => compileAutomaton(['\u0153'])).toThrow(RangeError)
    const many = Array.from({ length: 3 }, (_, i) => String(i).repeat(30_000))
    expect(() => compileAutomaton(many)).toThrow(/states/)
  })
})
