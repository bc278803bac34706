/** The published vectors of the rule language's operators, where they are at hand. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Mistake } from '../parse/fault.ts'
import { Subject } from '../regex/subject.ts'
import { utf8Bytes } from '../transform/bytes.ts'
import { operatorFactory } from './index.ts'
import type { OperatorContext, OperatorSource } from './operator.ts'

const folder = '../shared/seclang/vectors/operators'
const there = existsSync(folder)
/** Not operators of this engine, and files that the vectors name but do not bring. */
const LEFT_OUT = new Set(['nids.json', 'pmFromFile.json', 'validateSchema.json', 'validateDTD.json'])

interface Vector {
  readonly param?: string
  readonly input: string
  readonly ret: number
}

const bytes = (text: string): string =>
  text
    .replace(/\\x([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\u0000|\\0/g, '\0')

const source: OperatorSource = {
  macro: text => ({ source: text, constant: text, parts: [text] }),
  file: () => '',
}
const context: OperatorContext = { expand: macro => macro.source, capture: () => {} }

describe.skipIf(!there)('published vectors (skipped: ../shared/seclang is not there)', () => {
  for (const file of (there ? readdirSync(folder) : []).filter(name => !LEFT_OUT.has(name))) {
    const vectors = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Vector[]
    it(`${file}: ${vectors.length} cases`, () => {
      const wrong: Vector[] = []
      for (const vector of vectors) {
        let found: boolean
        try {
          const operator = operatorFactory(file.replace('.json', '').toLowerCase())(
            utf8Bytes(vector.param ?? ''),
            source,
          )
          found = operator.match(new Subject(bytes(utf8Bytes(vector.input))), context, false)
        } catch (error) {
          if (!(error instanceof Mistake)) throw error
          found = false
        }
        if (found !== (vector.ret === 1)) wrong.push(vector)
      }
      expect(wrong).toEqual([])
    })
  }
})
