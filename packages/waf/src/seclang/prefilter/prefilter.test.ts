import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { requiredLiterals } from '../regex/literals.ts'
import { Regex } from '../regex/regex.ts'
import { Subject } from '../regex/subject.ts'
import { isCandidate, Prefilter } from './prefilter.ts'

const of = (pattern: string): readonly (readonly string[])[] => requiredLiterals(new Regex(pattern).root)

describe('required literals', () => {
  it('takes fixed text, and the alternatives of a group together', () => {
    expect(of('(?i)union.*SELECT')).toEqual([['select'], ['union']])
    expect(of('a(?:bc|de)f')).toEqual([['abcf', 'adef']])
  })

  it('takes nothing from what may be missing', () => {
    expect(of('(?:foo)?.*')).toEqual([])
    expect(of('foo|.*')).toEqual([])
    expect(of('[^a]')).toEqual([])
  })

  it('drops literals that hold another of their set, and cuts long ones', () => {
    expect(of('ab|abc|xabx')).toEqual([['ab']])
    expect(of('abcdefghijkl')).toEqual([['abcdefgh']])
  })

  it('never rules out a value that matches', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '[ab]',
      '.',
      '(?:ab|c)',
      '(?i:Ab)',
      'b?',
      'a*',
      '(?:bc)+',
      '[^a]',
      'a{2}',
      '(?:a|b|)',
    )
    const patterns = fc.array(atom, { minLength: 1, maxLength: 5 }).map(parts => parts.join(''))
    const values = fc
      .array(fc.constantFrom('a', 'b', 'c', 'A', 'B', 'C', 'x'), { maxLength: 12 })
      .map(parts => parts.join(''))
    fc.assert(
      fc.property(fc.array(patterns, { minLength: 1, maxLength: 6 }), values, (list, value) => {
        const regexes = list.map(pattern => new Regex(pattern))
        const sets = regexes.map(regex => requiredLiterals(regex.root))
        const subject = new Subject(value)
        const found = new Uint32Array(1)
        new Prefilter(sets).scan(subject.bytes, found)
        for (const [index, regex] of regexes.entries()) {
          if (sets[index]!.length > 0 && regex.test(subject))
            expect(isCandidate(found, index), `${list[index]} in ${value}`).toBe(true)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

const folder = '../shared/seclang'
const there = existsSync(`${folder}/regex-oracle.jsonl`)

describe.skipIf(!there)('the rule set (skipped: ../shared/seclang is not there)', () => {
  it('is never filtered where Perl finds a match, and mostly where it finds none', () => {
    const lines = (name: string): string[] =>
      readFileSync(`${folder}/${name}`, 'utf8').split('\n').filter(Boolean)
    const rows = lines('regex-oracle.jsonl').map(
      line => JSON.parse(line) as { pattern: string; matches: [number][] },
    )
    const matching = rows.map(row => new Set(row.matches.map(match => match[0])))
    const sets = rows.map(row => requiredLiterals(new Regex(row.pattern).root))
    const filter = new Prefilter(sets)
    const found = new Uint32Array((rows.length + 31) >> 5)
    let kept = 0
    const wrong: string[] = []
    const values = lines('regex-corpus.b64')
    for (const [index, line] of values.entries()) {
      found.fill(0)
      filter.scan(Buffer.from(line, 'base64'), found)
      for (let pattern = 0; pattern < rows.length; pattern++) {
        const may = sets[pattern]!.length === 0 || isCandidate(found, pattern)
        if (may) kept += 1
        else if (matching[pattern]!.has(index)) wrong.push(rows[pattern]!.pattern)
      }
    }
    expect(wrong).toEqual([])
    expect(kept / (values.length * rows.length)).toBeLessThan(0.25)
  })
})
