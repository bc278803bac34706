/** The plan never changes what a request does to a transaction: matches, captured texts, scores, variables, what is asked for. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { preamble } from '../api/recommended.ts'
import { endTransaction, startTransaction, takeRequestBody } from '../engine/process.ts'
import { RuleProgram } from '../engine/program.ts'
import type { Transaction } from '../engine/transaction.ts'
import { loadRules, type RuleSource } from '../rules/load.ts'
import { RECOMMENDED, TEST_SETUP } from '../testing/base.ts'
import { transactionsOf } from '../testing/ftw.ts'
import type { FtwTest } from '../testing/types.ts'

const folder = '../shared'
const there = existsSync(`${folder}/seclang/ftw.open.jsonl`) && existsSync(`${folder}/crs/rules`)
const RULES: readonly RuleSource[] = [
  { path: `${folder}/crs/crs-setup.conf.example` },
  { path: `${folder}/crs/rules/*.conf` },
]

/** Of so many tests and values one is run; all of them with POSTERN_ALL=1, which takes minutes. */
const EVERY = process.env.POSTERN_ALL === '1' ? 1 : 16

/** Two programs of the same rules, one without a plan. */
function pair(...before: RuleSource[]): [RuleProgram, RuleProgram] {
  const sources = [...before, ...RULES]
  return [new RuleProgram(loadRules(sources)), new RuleProgram(loadRules(sources), { plain: true })]
}

/** All that a transaction ends with. */
function outcome(tx: Transaction): unknown {
  return {
    matches: tx.matches.map(({ rule, message, data, variable, value }) => [
      rule.id,
      message,
      data,
      variable,
      value,
    ]),
    variables: tx.collection('TX').map(({ key, value }) => [key, value]),
    interruption: tx.interruption,
    severity: tx.highestSeverity,
    mode: tx.mode,
  }
}

const lines = (name: string): string[] =>
  readFileSync(`${folder}/seclang/${name}`, 'utf8').split('\n').filter(Boolean)

describe.skipIf(!there)('the plan (skipped: ../shared/crs is not there)', () => {
  it.each([
    ['as their tests are run', [{ text: RECOMMENDED }, { text: TEST_SETUP }]],
    ['at paranoia level 1', [{ text: preamble({ set: { paranoia: 1 } }) }]],
    ['at paranoia level 2', [{ text: preamble({ mode: 'DetectionOnly', set: { paranoia: 2 } }) }]],
    ['at paranoia level 4', [{ text: preamble({ mode: 'DetectionOnly', set: { paranoia: 4 } }) }]],
  ] as const)('changes nothing for the tests of the Core Rule Set, %s', { timeout: 600_000 }, (_, before) => {
    const [planned, plain] = pair(...before)
    let matches = 0
    for (const line of lines('ftw.open.jsonl').filter((_line, i) => i % EVERY === 0)) {
      const test = JSON.parse(line) as FtwTest
      const [one, other] = [transactionsOf(planned, test), transactionsOf(plain, test)]
      expect(one.map(outcome), test.id).toEqual(other.map(outcome))
      for (const tx of one) matches += tx.matches.length
    }
    expect(matches).toBeGreaterThan(100)
  })

  it('changes nothing for values of the oracles, wherever they stand', { timeout: 600_000 }, () => {
    const [planned, plain] = pair({ text: preamble({ mode: 'DetectionOnly', set: { paranoia: 4 } }) })
    const values = lines('regex-corpus.b64').filter((_, i) => i % (EVERY * 4) === 0)
    const run = (program: RuleProgram, value: string, place: number): unknown => {
      const encoded = encodeURIComponent(value)
      const headers: [string, string][] = [
        ['Host', 'a.test'],
        ['Content-Type', place === 1 ? 'application/json' : 'application/x-www-form-urlencoded'],
      ]
      if (place === 2) headers.push(['Cookie', `a=${value}`])
      if (place === 3) headers.push(['User-Agent', value], ['X-Odd', value])
      const target = place === 0 ? `/?a=${encoded}&${encoded}=b` : place === 4 ? `/${encoded}` : '/'
      const tx = startTransaction(program, { method: 'POST', target, protocol: 'HTTP/1.1', headers })
      const body = place === 1 ? JSON.stringify({ a: [value], [value]: 1 }) : `a=${encoded}`
      takeRequestBody(tx, place === 1 || place === 5 ? Buffer.from(body, 'latin1') : null)
      endTransaction(tx)
      return outcome(tx)
    }
    for (const [index, line] of values.entries()) {
      const value = Buffer.from(line, 'base64').toString('latin1')
      expect(run(planned, value, index % 6), JSON.stringify(value)).toEqual(run(plain, value, index % 6))
    }
  })

  it('is given up for rules that look at what others have matched', () => {
    const text = `SecRule ARGS "@rx x" "id:1,phase:1,pass,nolog"
      SecAction "id:2,phase:1,pass,log,msg:'%{MATCHED_VAR}'"`
    expect(new RuleProgram(loadRules([{ text }])).plan).toBe(null)
  })
})
