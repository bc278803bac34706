/** The machine takes what the plain reading of the tokens takes: the one in this file, which remembers nothing. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldCase, setOf } from './bytes.ts'
import { machine } from './machine.ts'
import { Assembler } from './program.ts'
import { any, border, edge, isSequence, maybe, not, odd, run, type Token, within } from './tokens.ts'

/** Tokens read as tokens.ts says, forwards. Backwards is forwards in the mirrored text with mirrored tokens. */
function plain(token: Token, text: string, at: number): number {
  if (typeof token === 'string')
    return foldCase(text.slice(at, at + token.length)) === foldCase(token) ? at + token.length : -1
  if (isSequence(token)) return token.reduce((place, part) => (place < 0 ? -1 : plain(part, text, place)), at)
  switch (token.op) {
    case 'any':
      return token.of.map(part => plain(part, text, at)).find(place => place >= 0) ?? -1
    case 'maybe':
      return Math.max(at, plain(token.of, text, at))
    case 'not':
      return plain(token.of, text, at) < 0 ? at : -1
    case 'run': {
      const set = setOf(token.set)
      let end = at
      while (end < text.length && end - at < token.most && set[text.charCodeAt(end)] === 1) end += 1
      return end - at < token.least ? -1 : end
    }
    case 'within': {
      const stop = setOf(token.stop)
      for (let i = at; i <= Math.min(at + token.bytes, text.length); i += 1) {
        const place = plain(token.of, text, i)
        if (place >= 0) return place
        if (stop[text.charCodeAt(i)] === 1) return -1
      }
      return -1
    }
    case 'edge':
      return /^\w/.test(text.slice(at)) ? -1 : at
    case 'border':
      return at === text.length ? at : -1
    case 'odd': {
      const kind = text[at]
      if (kind === undefined || !'\'"`'.includes(kind)) return -1
      const count = [...text.slice(at, at + token.bytes).split('\n')[0]!].filter(
        character => character === kind,
      ).length
      return count % 2 === 1 ? at + 1 : -1
    }
  }
}

const reversed = (text: string): string => [...text].reverse().join('')
function mirrored(token: Token): Token {
  if (typeof token === 'string') return reversed(token)
  if (isSequence(token)) return token.map(mirrored).reverse()
  if (token.op === 'any') return { ...token, of: token.of.map(mirrored) }
  return 'of' in token ? { ...token, of: mirrored(token.of) } : token
}

const letters = 'aAbB\'"_ <\n'
const texts = fc.array(fc.constantFrom(...letters), { maxLength: 60 }).map(list => list.join(''))
const literals = fc
  .array(fc.constantFrom(...letters), { minLength: 1, maxLength: 3 })
  .map(list => list.join(''))
const sets = fc.constantFrom('a', 'ab', "'", ' <', '^a', '^ab', 'a-z_')

function tokens(back: boolean): fc.Arbitrary<Token> {
  const { token } = fc.letrec<{ token: Token }>(tie => ({
    token: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.oneof(
        literals,
        fc.tuple(sets, fc.nat(2), fc.nat(4)).map(([set, least, more]) => run(set, least, least + more)),
        fc.constantFrom<Token>(edge, border, ...(back ? [odd] : [])),
      ),
      fc.array(tie('token'), { minLength: 1, maxLength: 3 }),
      fc.array(tie('token'), { minLength: 1, maxLength: 3 }).map(list => any(...list)),
      tie('token').map(one => maybe(one)),
      tie('token').map(one => not(one)),
      fc
        .tuple(fc.nat(12), tie('token'), fc.constantFrom('', '<', ' '))
        .map(([n, one, stop]) => within(n, one, stop)),
    ),
  }))
  return token
}

describe('the machine', () => {
  it('takes forwards what the tokens say, at every place and in any order of places', () => {
    fc.assert(
      fc.property(tokens(false), texts, fc.infiniteStream(fc.nat(60)), (token, text, places) => {
        const assembler = new Assembler()
        const start = assembler.sequence([token], 1)
        const run = machine(assembler.finish())
        const bytes = Buffer.from(text, 'latin1')
        run.next()
        const order = [
          ...Array(text.length + 1).keys(),
          ...[...places.take(20)].filter(at => at <= text.length),
        ]
        for (const at of order) expect(run.after(start, bytes, at, text.length)).toBe(plain(token, text, at))
      }),
      { numRuns: 1000 },
    )
  })

  it('takes backwards what the tokens say', () => {
    fc.assert(
      fc.property(tokens(true), texts, fc.infiniteStream(fc.nat(60)), (token, text, places) => {
        const assembler = new Assembler()
        const start = assembler.sequence([token], -1)
        const run = machine(assembler.finish())
        const bytes = Buffer.from(text, 'latin1')
        run.next()
        const order = [
          ...Array(text.length + 1).keys(),
          ...[...places.take(20)].filter(at => at <= text.length),
        ]
        for (const at of order) {
          const expected = plain(mirrored(token), reversed(text), text.length - at)
          expect(run.before(start, bytes, at, text.length)).toBe(expected < 0 ? -1 : text.length - expected)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('forgets what it knows when the next text comes', () => {
    const assembler = new Assembler()
    const start = assembler.sequence([within(10, 'x')], 1)
    const run = machine(assembler.finish())
    run.next()
    expect(run.after(start, Buffer.from('aaaa'), 0, 4)).toBe(-1)
    run.next()
    expect(run.after(start, Buffer.from('aaxa'), 0, 4)).toBe(3)
  })

  it('tries each place once, however many searches look over it', () => {
    const assembler = new Assembler()
    const start = assembler.sequence([within(5000, ['a', 'x'])], 1)
    const run = machine(assembler.finish())
    const bytes = Buffer.alloc(20_000, 'a')
    let reads = 0
    const counted = new Proxy(bytes, {
      get(target, key) {
        reads += 1
        return Reflect.get(target, key)
      },
    })
    run.next()
    for (let at = 0; at < bytes.length; at += 1) run.after(start, counted, at, bytes.length)
    expect(reads).toBeLessThan(6 * bytes.length)
  })
})

describe('sets', () => {
  it('have ranges of letters, digits and bytes that cannot be seen, and dashes everywhere else', () => {
    const members = (text: string): string =>
      [...setOf(text)].map((present, code) => (present === 1 ? String.fromCharCode(code) : '')).join('')
    expect(members('0-3')).toBe('0123')
    expect(members('+-/')).toBe('+-/')
    expect(members('a-c')).toBe('ABCabc')
    expect(members('\t-\r')).toBe('\t\n\v\f\r')
    expect(setOf('^a').reduce((sum, present) => sum + present, 0)).toBe(254)
    expect(() => setOf('z-a')).toThrow(RangeError)
  })

  it('refuse `odd` behind a literal', () => {
    expect(() => new Assembler().sequence([odd], 1)).toThrow(RangeError)
  })
})
