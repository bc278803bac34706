/** The published vectors of the rule language's transformations, where they are at hand. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { utf8Bytes } from './bytes.ts'
import { transformation } from './index.ts'

const folder = '../shared/seclang/vectors/transformations'
const there = existsSync(folder)

/** Where the vectors and ModSecurity v2 differ, v2 is followed; the reason stands beside it. */
const OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  // Code points above a byte: the vectors expect UTF-8, the rule language is bytes.
  cssDecode: ['test\\a\\b', '\\1A\\1 A'],
  // The vectors want a NUL where a comment was the whole value: an accident of one implementation.
  removeComments: ['/* Test', '/*Test'],
}
/** Vectors that write bytes of their input as `\\xHH`. */
const ESCAPED_INPUT = new Set(['md5', 'sha1', 'removeNulls'])

interface Vector {
  readonly input: string
  readonly output: string
}

const bytes = (text: string): string =>
  text.replace(/\\x([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
const nulls = (text: string): string => text.replaceAll('\\u0000', '\0')

describe.skipIf(!there)('published vectors (skipped: ../shared/seclang is not there)', () => {
  for (const file of there ? readdirSync(folder) : []) {
    const name = file.replace('.json', '')
    const vectors = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Vector[]
    it(`${name}: ${vectors.length} cases`, () => {
      const run = transformation(name)!
      expect(run).toBeTypeOf('function')
      for (const { input, output } of vectors) {
        if (OTHERWISE[name]?.some(start => input.startsWith(start))) continue
        expect({
          input,
          output: run(ESCAPED_INPUT.has(name) ? bytes(utf8Bytes(input)) : utf8Bytes(nulls(input))),
        }).toEqual({
          input,
          output: bytes(nulls(output)),
        })
      }
    })
  }
})
