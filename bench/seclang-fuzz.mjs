/**
 * Mutated requests, and mutated rule files, through the rule engine with the Core Rule Set at paranoia level 4:
 * `npm run build && node bench/seclang-fuzz.mjs [requests] [seed] [rule files]`; rules from the folder CRS_DIR.
 *
 * It ends with 1 at the first exception, or at a result that breaks its own bounds, and prints the input.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RuleError, seclang } from '@postern/waf'
import { ftwSettings, readFtw, ruleFiles } from '@postern/waf/testing'
import { USUAL } from '../packages/waf/dist/cli/requests.js'
import {
  Chance,
  damagedReply,
  damagedRequest,
  damagedRules,
} from '../packages/waf/dist/seclang/testing/mutate.js'

const runs = Number(process.argv[2] ?? 200_000)
const seed = Number(process.argv[3] ?? 1)
const files = Number(process.argv[4] ?? Math.ceil(runs / 20))
const folder = process.env.CRS_DIR ?? '../shared/crs'
const suite = process.env.CRS_TESTS ?? '../shared/seclang/ftw.open.jsonl'

const pool = [...USUAL]
if (existsSync(suite)) {
  for (const { stages } of readFtw(suite)[0].tests) {
    const { sent, method, uri } = stages[0].input
    if (sent)
      pool.push({
        method,
        target: bytes(uri),
        headers: sent.headers.map(pair => pair.map(bytes)),
        body: Buffer.from(sent.body.text ?? ''),
      })
  }
}

const entries = []
const engines = await Promise.all(
  ['On', 'DetectionOnly'].map(mode =>
    seclang({
      ...ftwSettings,
      mode,
      files: ruleFiles(folder),
      rules: [ftwSettings.rules, 'SecAuditEngine On\nSecAuditLogParts ABCEFHIJKZ'],
      audit: { to: entry => void entries.push(entry), bodies: 1000 },
    }),
  ),
)

const chance = new Chance(seed)
const started = process.cpuUsage()
let blocked = 0
let found = 0
for (let run = 0; run < runs; run += 1) {
  const request = damagedRequest(chance, pool)
  const reply = damagedReply(chance, pool)
  const engine = engines[run & 1]
  try {
    const inspection = engine.inspectExchange(request, reply)
    check(inspection)
    checkEntry(entries.splice(0))
    if (inspection.blocked) blocked += 1
    found += inspection.findings.length
    // The same request, the same findings, whatever came between.
    if (run % 100 === 0) {
      engine.inspectExchange(damagedRequest(chance, pool), reply)
      const again = engine.inspectExchange(request, reply)
      entries.length = 0
      if (JSON.stringify(again) !== JSON.stringify(inspection)) throw new Error('not the same findings')
    }
  } catch (error) {
    fail(
      `run ${run}, seed ${seed}`,
      { ...request, body: request.body && Buffer.from(request.body).toString('base64') },
      error,
    )
  }
  if (run > 0 && run % 5_000 === 0) console.log(`${run} requests, ${blocked} refused, ${found} findings`)
}
console.log(`${runs} requests: no exception, ${blocked} refused, ${found} findings, ${cpu(started)} s of CPU`)

const texts = readdirSync(join(folder, 'rules'))
  .filter(name => name.endsWith('.conf'))
  .map(name => readFileSync(join(folder, 'rules', name), 'latin1'))
const second = process.cpuUsage()
let good = 0
let faults = 0
let longest = 0
for (let run = 0; run < files; run += 1) {
  const rules = damagedRules(chance, texts)
  try {
    const start = process.cpuUsage()
    const engine = await seclang({ rules: rules === '' ? ' ' : rules })
    engine.inspectExchange(pool[run % pool.length], { status: 200, headers: [], body: null })
    longest = Math.max(longest, process.cpuUsage(start).user / 1000)
    good += 1
  } catch (error) {
    if (!(error instanceof RuleError)) fail(`rule file ${run}, seed ${seed}`, rules, error)
    faults += error.faults.length
    if (error.faults.some(({ problem, fix }) => problem === '' || fix === ''))
      fail('a fault without words', rules, error)
  }
}
console.log(
  `${files} rule files: ${good} taken, ${files - good} refused with ${faults} mistakes, no other exception, ${cpu(second)} s of CPU, ${longest.toFixed(0)} ms the slowest`,
)

function check({ findings, blocked, answer, violation }) {
  if (findings.length > 1000) throw new Error(`${findings.length} findings`)
  if (answer !== undefined && !blocked) throw new Error('an answer without a refusal')
  if (violation !== null && !blocked) throw new Error('a violation without a refusal')
  for (const { excerpt, place, message } of findings) {
    if (!/^[\x20-\x7e]{0,80}$/.test(excerpt)) throw new Error(`excerpt ${JSON.stringify(excerpt)}`)
    if (!/^[\x20-\x7e]{0,200}$/.test(place)) throw new Error(`place ${JSON.stringify(place)}`)
    if (!/^[\x20-\x7e]{0,200}$/.test(message)) throw new Error(`message ${JSON.stringify(message)}`)
  }
}

function checkEntry(all) {
  if (all.length !== 1) throw new Error(`${all.length} entries of the audit log`)
  const text = JSON.stringify(all[0])
  if (!/^[\x20-\x7e]*$/.test(text) || text.length > 2_000_000)
    throw new Error('the entry of the audit log is not clean')
}

function fail(where, input, error) {
  console.error(where)
  console.error(JSON.stringify(input))
  console.error(error)
  process.exit(1)
}

function cpu(start) {
  const { user, system } = process.cpuUsage(start)
  return ((user + system) / 1e6).toFixed(0)
}

function bytes(text) {
  return Buffer.from(text).toString('latin1')
}
