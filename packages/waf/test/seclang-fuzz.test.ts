/**
 * Mutated requests, replies and rule files through the rule engine: no exception but the documented one.
 *
 * 5,000 requests by default; `FUZZ=200000 npx vitest run packages/waf/test/seclang-fuzz.test.ts` for more, or
 * `node bench/seclang-fuzz.mjs`, which runs the Core Rule Set at paranoia level 4.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { USUAL } from '../src/cli/requests.ts'
import { type AuditEntry, type InspectRequest, RuleError, seclang } from '../src/index.ts'
import { Chance, damagedReply, damagedRequest, damagedRules } from '../src/seclang/testing/mutate.ts'
import { ftwSettings, readFtw, ruleFiles } from '../src/testing/index.ts'

const RUNS = Number(process.env.FUZZ ?? 5000)
const folder = '../shared/crs'
const suite = '../shared/seclang/ftw.open.jsonl'
const there = existsSync(`${folder}/rules`)

/** Rules of all kinds, for those who have no Core Rule Set. */
const OWN = `
SecRule ARGS|ARGS_NAMES|REQUEST_COOKIES|REQUEST_HEADERS|XML:/*|FILES|MULTIPART_PART_HEADERS "@rx (?i)(select|script|\\.\\./)" \\
  "id:1,phase:2,pass,log,capture,multiMatch,t:none,t:urlDecodeUni,t:htmlEntityDecode,t:jsDecode,t:lowercase,msg:'%{tx.0}',setvar:tx.n=+%{tx.n}"
SecRule ARGS "@detectSQLi" "id:2,phase:2,pass,log,t:utf8toUnicode,t:urlDecodeUni,t:removeNulls"
SecRule ARGS|REQUEST_URI_RAW "@detectXSS" "id:3,phase:2,pass,log,t:base64Decode,t:cssDecode,t:cmdLine"
SecRule REQUEST_URI_RAW "@validateUrlEncoding" "id:4,phase:1,pass,log,chain"
  SecRule REQUEST_HEADERS:User-Agent "@pm curl wget zap" "t:none"
SecRule REQUEST_BODY|ARGS "@validateByteRange 9,10,13,32-126" "id:5,phase:2,deny,log,t:urlDecodeUni"
SecRule RESPONSE_BODY|RESPONSE_HEADERS "@contains secret" "id:6,phase:4,deny,log"
SecAuditEngine On
SecAuditLogParts ABCEFHIJKZ`

function pool(): InspectRequest[] {
  if (!existsSync(suite)) return [...USUAL]
  const bytes = (text: string): string => Buffer.from(text).toString('latin1')
  const tests = readFtw(suite)[0]!.tests.flatMap(({ stages }) => {
    const { sent, method, uri } = stages[0]!.input
    if (!sent) return []
    const headers = sent.headers.map(([name, value]) => [bytes(name), bytes(value)] as const)
    return [{ method, target: bytes(uri), headers, body: Buffer.from(sent.body.text ?? '') }]
  })
  return [...USUAL, ...tests]
}

describe('fuzz', () => {
  test(`${RUNS} mutated requests and replies`, { timeout: 120_000 + RUNS * 200 }, async () => {
    const entries: AuditEntry[] = []
    const options = there ? { ...ftwSettings, files: ruleFiles(folder) } : {}
    const engine = await seclang({
      ...options,
      mode: 'On',
      set: { paranoia: there ? 2 : 1 },
      rules: [OWN, ftwSettings.rules as string],
      audit: { to: entry => void entries.push(entry), bodies: 500 },
    })
    const chance = new Chance(20261201)
    const requests = pool()
    let blocked = 0
    for (let i = 0; i < RUNS; i++) {
      const request = damagedRequest(chance, requests)
      const reply = damagedReply(chance, requests)
      const found = engine.inspectExchange(request, reply)
      const told = entries.splice(0)
      if (told.length !== 1 || !/^[\x20-\x7e]*$/.test(JSON.stringify(told))) expect([i, told]).toBeNull()
      for (const { place, excerpt, message } of found.findings) {
        if (!/^[\x20-\x7e]{0,200}$/.test(place) || !/^[\x20-\x7e]{0,280}$/.test(excerpt + message))
          expect([i, place, excerpt, message]).toBeNull()
      }
      if (found.blocked) blocked++
      if (i % 100 === 0) {
        engine.inspectExchange(damagedRequest(chance, requests), reply)
        expect(engine.inspectExchange(request, reply)).toEqual(found)
        entries.length = 0
      }
    }
    // Both kinds came up, so the checks above had something to check.
    expect(blocked).toBeGreaterThan(RUNS / 20)
    expect(blocked).toBeLessThan(RUNS)
  })

  test('mutated rule files are taken, or refused with their mistakes', { timeout: 120_000 }, async () => {
    const texts = there
      ? readdirSync(`${folder}/rules`)
          .filter(name => name.endsWith('.conf'))
          .map(name => readFileSync(join(folder, 'rules', name), 'latin1'))
      : [OWN]
    const chance = new Chance(20261202)
    let good = 0
    let bad = 0
    for (let i = 0; i < 1000; i++) {
      const rules = `${damagedRules(chance, texts)}\n`
      try {
        const engine = await seclang({ rules })
        engine.inspectExchange(USUAL[i % USUAL.length]!, { status: 200, headers: [], body: null })
        good += 1
      } catch (error) {
        if (!(error instanceof RuleError))
          throw new Error(`rules ${i}: ${JSON.stringify(rules)}`, { cause: error })
        expect(error.faults.every(({ problem, fix }) => problem !== '' && fix !== '')).toBe(true)
        bad += 1
      }
    }
    expect(good).toBeGreaterThan(10)
    expect(bad).toBeGreaterThan(100)
  })
})
