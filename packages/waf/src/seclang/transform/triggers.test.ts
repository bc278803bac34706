import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { transformation, transformationNames } from './index.ts'
import { classesIn, triggersOf } from './triggers.ts'

const PIECES = [
  'a',
  'A',
  '1',
  '%41',
  '+',
  '&amp;',
  '\\u0041',
  '\\',
  '\0',
  ' ',
  '\t',
  '\xa0',
  '\x85',
  '"',
  '^',
]
const MORE = [',', ';', '\xc3\xa9', '/', '.', '../', '/*', '*/', '--', '#', '<!--', '-->', '0x41', '=', '(']

test('what holds none of the bytes that matter comes out as it went in', () => {
  const values = fc.array(fc.constantFrom(...PIECES, ...MORE), { maxLength: 8 }).map(parts => parts.join(''))
  let quiet = 0
  fc.assert(
    fc.property(values, fc.constantFrom(...transformationNames), (value, name) => {
      if ((classesIn(Buffer.from(value, 'latin1')) & triggersOf(name)) !== 0) return
      quiet += 1
      expect(transformation(name)!(value)).toBe(value)
    }),
    { numRuns: 20_000 },
  )
  expect(quiet).toBeGreaterThan(2000)
})

const corpus = '../shared/seclang/regex-corpus.b64'

test.skipIf(!existsSync(corpus))(
  'the same for texts of attacks (skipped: ../shared/seclang is not there)',
  () => {
    const wrong: string[][] = []
    for (const line of readFileSync(corpus, 'utf8').split('\n')) {
      const value = Buffer.from(line, 'base64').toString('latin1')
      const classes = classesIn(Buffer.from(value, 'latin1'))
      for (const name of transformationNames) {
        if ((classes & triggersOf(name)) === 0 && transformation(name)!(value) !== value)
          wrong.push([name, value])
      }
    }
    expect(wrong).toEqual([])
  },
)
