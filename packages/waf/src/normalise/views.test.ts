import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pathDots, shellQuotes, sqlComments, stringJoins, whiteSpace } from './fold.ts'
import { COMMENTS, DOTS, foldable, JOINS, QUOTES, RUNS } from './foldable.ts'
import { applyStep, type Step } from './step.ts'
import { type Encoding, type ViewName, viewer } from './views.ts'

function viewsOf(value: string, encoding: Encoding = 'plain'): [ViewName, string][] {
  const seen: [ViewName, string][] = []
  viewer((name, bytes, length) => seen.push([name, Buffer.from(bytes).toString('latin1', 0, length)]))(
    value,
    encoding,
  )
  return seen
}

describe('the forms of a value', () => {
  it('is one for a value with nothing to undo', () => {
    expect(viewsOf('winter-jacket 42')).toEqual([['base', 'winter-jacket 42']])
  })

  it('undoes the encoding of its place once, then everything until nothing changes', () => {
    expect(viewsOf('a%2527+b', 'form')).toEqual([
      ['base', 'a%27 b'],
      ['decoded', "a' b"],
    ])
    expect(viewsOf('%25252527', 'percent').at(-1)).toEqual(['decoded', "'"])
  })

  it('stops after five rounds', () => {
    const deep = `%${'25'.repeat(10)}27`
    expect(viewsOf(deep).at(-1)![1]).toBe(`%${'25'.repeat(5)}27`)
  })

  it('mixes steps', () => {
    expect(viewsOf('&#37;3cscript&amp;gt;').at(-1)).toEqual(['decoded', '<script>'])
    expect(viewsOf('\\u0026lt;x')).toContainEqual(['decoded', '<x'])
  })

  it('folds what languages read over', () => {
    expect(viewsOf('1/**/union/**/select')).toContainEqual(['folded', '1 union select'])
    expect(viewsOf("c'a't /etc/./passwd")).toContainEqual(['folded', 'cat /etc/passwd'])
    expect(viewsOf('aut<b>ofocus')).toContainEqual(['stripped', 'autofocus'])
  })

  it('finds text in base64: whole values, runs inside a text, segments of a path, both alphabets, no padding', () => {
    const hidden = Buffer.from("' or sleep(5)='?>>>").toString('base64')
    for (const value of [hidden, hidden.replaceAll('=', ''), `/${hidden}/x`, `say "${hidden}"`]) {
      expect(viewsOf(value)).toContainEqual(['base64', "' or sleep(5)='?>>>"])
    }
    const url = hidden.replaceAll('+', '-').replaceAll('/', '_')
    expect(viewsOf(url)).toContainEqual(['base64', "' or sleep(5)='?>>>"])
    expect(viewsOf('internationalisation-of-everything')).toHaveLength(1)
  })

  it('holds any length', () => {
    const long = 'ab '.repeat(1_000_000)
    expect(viewsOf(`${long}%41`, 'percent')[0]![1]).toBe(`${long}A`)
    expect(viewsOf('short')).toEqual([['base', 'short']])
  })

  it('forms no longer than the value', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), bytes => {
        const value = Buffer.from(bytes).toString('latin1')
        for (const [, text] of viewsOf(value, 'form')) expect(text.length).toBeLessThanOrEqual(value.length)
      }),
    )
  })
})

describe('foldable', () => {
  const steps: readonly (readonly [number, Step])[] = [
    [COMMENTS, sqlComments],
    [JOINS, stringJoins],
    [QUOTES, shellQuotes],
    [DOTS, pathDots],
    [RUNS, whiteSpace],
  ]
  const pieces = fc.constantFrom(
    '/*',
    '*/',
    '!',
    "'",
    '"',
    '+',
    '||',
    '.',
    '/',
    '\\',
    '^',
    '$IFS',
    '$@',
    ':',
    ' ',
    '\n',
    '          ',
    'a',
    'b',
  )

  it('names every step that would change the text', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), list => {
        const text = list.join('')
        const folds = foldable(Buffer.from(text, 'latin1'), text.length)
        for (const [bit, step] of steps) {
          if (applyStep(step, text) !== text) expect(folds & bit).toBe(bit)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
