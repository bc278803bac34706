/** Verdicts of libinjection over its own test data and the values of the rule set's tests. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { detectSqli } from './sqli/detect.ts'
import { detectXss } from './xss/detect.ts'

const file = '../shared/seclang/libinjection-oracle.open.jsonl'
const there = existsSync(file)

interface Row {
  readonly s: string
  readonly sqli: 0 | 1
  readonly fp: string
  readonly xss: 0 | 1
}

describe.skipIf(!there)('verdicts of libinjection (skipped: ../shared/seclang is not there)', () => {
  const rows = there
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line) as Row)
        .map(row => ({ ...row, value: Buffer.from(row.s, 'base64').toString('latin1') }))
    : []

  it(`@detectSQLi agrees on 99.9 % of ${rows.length} values, and on the fingerprints`, {
    timeout: 60_000,
  }, () => {
    const wrong = rows.filter(({ value, sqli }) => (detectSqli(value) !== null) !== (sqli === 1))
    const other = rows.filter(({ value, sqli, fp }) => sqli === 1 && detectSqli(value) !== fp)
    expect(wrong.length).toBeLessThan(rows.length / 1000)
    expect(other.length).toBeLessThan(rows.length / 1000)
  })

  it(`@detectXSS agrees on ${rows.length} values`, { timeout: 60_000 }, () => {
    expect(
      rows.filter(({ value, xss }) => detectXss(value) !== (xss === 1)).map(({ value }) => value),
    ).toEqual([])
  })
})
