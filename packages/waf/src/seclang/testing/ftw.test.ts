/** The regression tests of the Core Rule Set. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { RuleProgram } from '../engine/program.ts'
import { loadRules } from '../rules/load.ts'
import { RECOMMENDED, TEST_SETUP } from './base.ts'
import { type FtwTest, runFtw } from './ftw.ts'

const folder = '../shared'
const there = existsSync(`${folder}/seclang/ftw.open.jsonl`) && existsSync(`${folder}/crs/rules`)

/** Tests that only a server can answer: it refuses the request before any rule runs. */
const SERVER = new Set(['920181-1', '920430-5', '920620-1', '921140-1'])

describe.skipIf(!there)('the tests of the Core Rule Set (skipped: ../shared/crs is not there)', () => {
  it('pass, but for what a server must answer', { timeout: 300_000 }, () => {
    const program = new RuleProgram(
      loadRules([
        { text: RECOMMENDED, name: 'recommended' },
        { text: TEST_SETUP, name: 'setup' },
        { path: `${folder}/crs/crs-setup.conf.example` },
        { path: `${folder}/crs/rules/*.conf` },
      ]),
    )
    const failed: string[] = []
    for (const line of readFileSync(`${folder}/seclang/ftw.open.jsonl`, 'utf8').split('\n')) {
      if (line === '') continue
      const test = JSON.parse(line) as FtwTest
      if (SERVER.has(test.id)) continue
      const problem = runFtw(program, test)
      if (problem !== null) failed.push(`${test.id}: ${problem}`)
    }
    expect(failed).toEqual([])
  })
})
