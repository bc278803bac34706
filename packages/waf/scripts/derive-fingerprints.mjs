/**
 * Derives the fingerprints of SQL injections from labelled data, and writes `src/seclang/detect/sqli/fingerprint-data.ts`.
 *
 * `node packages/waf/scripts/derive-fingerprints.mjs LABELLED.jsonl`, after `npm run build`. Each line has `s` (base64), `sqli`
 * (0 or 1) and `fp`, the fingerprint that libinjection (BSD-3-Clause) gives the value.
 *
 * Data never hold every fingerprint, so three lists are made: fingerprints of injections; the beginnings of four tokens
 * that injections have much more often than other values, with all plain values counted as one; and fingerprints that
 * other values have although the first two lists would take them for injections.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { readSql } from '../dist/seclang/detect/sqli/detect.js'

const OUT = new URL('../src/seclang/detect/sqli/fingerprint-data.ts', import.meta.url)
/** A beginning counts when injections have it this many times more often. */
const ODDS = 3

const rows = readFileSync(process.argv[2], 'utf8')
  .split('\n')
  .filter(Boolean)
  .map(line => JSON.parse(line))
const known = new Set()
const others = new Set()
for (const { s, sqli, fp } of rows) {
  if (sqli) known.add(fp.toUpperCase())
  else
    for (const fingerprint of readings(Buffer.from(s, 'base64').toString('latin1'))) others.add(fingerprint)
}
known.delete('X')
const shapes = new Set([...known].map(plain))
const count = list => {
  const counts = new Map()
  for (const fingerprint of list) {
    if (fingerprint.length !== 5) continue
    const beginning = plain(fingerprint).slice(0, 4)
    counts.set(beginning, (counts.get(beginning) ?? 0) + 1)
  }
  return counts
}
const inOthers = count(others)
const beginnings = [...count(known)]
  .filter(([text, times]) => times > ODDS * (inOthers.get(text) ?? 0))
  .map(([text]) => text)
const taken = new Set(beginnings)
const harmless = [...others].filter(
  fingerprint =>
    !known.has(fingerprint) &&
    (shapes.has(plain(fingerprint)) ||
      (fingerprint.length === 5 && taken.has(plain(fingerprint).slice(0, 4)))),
)

const list = texts => `\`${[...texts].sort().join(' ')}\``
writeFileSync(
  OUT,
  `/** Made by scripts/derive-fingerprints.mjs from ${rows.length} labelled values; verdicts of libinjection (BSD-3-Clause). */
export const KNOWN: string = ${list(known)}
export const BEGINNINGS: string = ${list(beginnings)}
export const HARMLESS: string = ${list(harmless)}
`,
)
process.stdout.write(
  `${known.size} fingerprints, ${beginnings.length} beginnings, ${harmless.length} harmless\n`,
)

function readings(value) {
  const found = []
  for (const quote of ['', "'", '"']) {
    if (quote !== '' && !value.includes(quote)) continue
    for (const mysql of quote === '"' ? [true] : [false, true]) {
      const { fingerprint, ambiguous } = readSql(value, quote, mysql)
      found.push(fingerprint.toUpperCase())
      if (!ambiguous) break
    }
  }
  return found
}

/** Strings, numbers, names and variables are one thing to an attacker. */
function plain(fingerprint) {
  return fingerprint.replace(/[1SNV]/g, '1')
}
