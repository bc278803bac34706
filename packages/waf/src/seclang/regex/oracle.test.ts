/** All patterns of the Core Rule Set over values of its own tests, against what Perl finds. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Regex } from './regex.ts'
import { Subject } from './subject.ts'

const folder = '../shared/seclang'
const there = existsSync(`${folder}/regex-oracle.jsonl`)

interface Row {
  readonly ids: string[]
  readonly pattern: string
  /** `[value, start, length, lengths of the groups]` */
  readonly matches: [number, number, number, (number | null)[]?][]
}

describe.skipIf(!there)(
  'regular expressions of the rule set (skipped: ../shared/seclang is not there)',
  () => {
    const values = there
      ? readFileSync(`${folder}/regex-corpus.b64`, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map(line => new Subject(Buffer.from(line, 'base64').toString('latin1')))
      : []
    const rows = there
      ? readFileSync(`${folder}/regex-oracle.jsonl`, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map(line => JSON.parse(line) as Row)
      : []

    it(`finds what Perl finds: ${rows.length} patterns, ${values.length} values`, {
      timeout: 300_000,
    }, () => {
      const wrong: string[] = []
      for (const { ids, pattern, matches } of rows) {
        const regex = new Regex(pattern)
        const expected = new Map(matches.map(match => [match[0], match]))
        for (const [index, value] of values.entries()) {
          const found = regex.exec(value)
          const known = expected.get(index)
          const right =
            known === undefined
              ? found === null
              : found !== null && found.start === known[1] && found.end - found.start === known[2]
          if (!right)
            wrong.push(
              `${ids[0]} value ${index}: ${JSON.stringify(known?.slice(0, 3))} but ${found?.start}+${found ? found.end - found.start : ''}`,
            )
          if (known === undefined && regex.test(value)) wrong.push(`${ids[0]} value ${index}: test() is true`)
          if (known !== undefined && !regex.test(value))
            wrong.push(`${ids[0]} value ${index}: test() is false`)
          const lengths = known?.[3]
          if (right && found && lengths && lengths.length > 0) {
            const groups = found
              .groups()
              .slice(1, lengths.length + 1)
              .map(group => group?.length ?? null)
            if (JSON.stringify(groups) !== JSON.stringify(lengths))
              wrong.push(`${ids[0]} value ${index}: groups ${groups} for ${lengths}`)
          }
        }
      }
      expect([...new Map(wrong.map(line => [line.slice(0, 9), line])).values()].slice(0, 40)).toEqual([])
    })
  },
)
