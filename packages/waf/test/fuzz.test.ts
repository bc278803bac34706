/**
 * Mutated requests: whatever comes in, an engine answers, and nothing of one request is left in the next.
 *
 * 10 000 requests by default; `FUZZ=1000000 npx vitest run packages/waf/test/fuzz.test.ts` for a million.
 */
import { existsSync } from 'node:fs'
import { deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type InspectRequest, signatures } from '../src/index.ts'
import { readCorpus, request, requestOf } from '../src/testing/index.ts'
import { kinds } from '../src/texts/support/load.ts'

const RUNS = Number(process.env.FUZZ ?? 10_000)
const CORPUS = '../shared/waf-corpora/attacks-and-texts.jsonl'

/** A small generator of chance (mulberry32), so that a failure can be run again. */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const MARKS = [
  ...[
    '\0',
    '%',
    '%25',
    '%u0027',
    '%c0%af',
    '&#x27;',
    '\\u0027',
    '\\x27',
    "'",
    '"',
    '`',
    '<',
    '>',
    '/*',
    '*/',
    '--',
    '#',
  ],
  ...[
    ';',
    '&',
    '=',
    '+',
    '\r\n',
    '\n',
    '{',
    '}',
    '[',
    ']',
    '(',
    ')',
    '$',
    '\\',
    '../',
    '\xff',
    '\xef\xbc\x87',
    '\x00\x01',
  ],
  ...[
    '--b',
    '--b--',
    '\r\n--b\r\n',
    'Content-Disposition: form-data; name="a"',
    '<!--',
    ']]>',
    '<![CDATA[',
    '"""',
    '\x1f\x8b',
  ],
]
const TYPES = [
  ...[
    'application/json',
    'text/xml',
    'application/graphql',
    'text/plain',
    'application/x-www-form-urlencoded',
  ],
  ...[
    'multipart/form-data; boundary=b',
    'application/x-ndjson',
    'image/png',
    'application/soap+xml',
    'nonsense',
    '',
  ],
]

function seeds(): InspectRequest[] {
  const texts = kinds().flatMap(kind => kind.texts)
  const made = texts.slice(0, 400).map((text, i) => {
    if (i % 4 === 0) return request('POST /a', { json: { a: [text], b: { c: text } } })
    if (i % 4 === 1)
      return request('POST /a', { multipart: { a: text, f: { filename: text, content: text } } })
    return i % 4 === 2
      ? request('POST /a', { form: { a: text, b: 1 } })
      : request('GET /a', { query: { q: text } })
  })
  made.push(
    request('POST /x', {
      headers: { 'Content-Type': 'text/xml' },
      body: '<?xml version="1.0"?><a b="c">d<!-- e --><f/></a>',
    }),
    request('POST /x', {
      headers: { 'Content-Type': 'application/graphql' },
      body: 'query Q { a(b: "c") { d } }',
    }),
    request("GET /?id=1'%20or%20'1'='1"),
  )
  return existsSync(CORPUS) ? [...made, ...readCorpus(CORPUS).map(requestOf)] : made
}

test(`${RUNS} mutated requests`, { timeout: 60_000 + RUNS * 2 }, () => {
  const engines = [
    signatures(),
    signatures({ profile: 'aggressive', read: { maxDepth: 4, maxParameters: 20 } }),
  ]
  const pool = seeds()
  const next = chance(20261201)
  const whole = (below: number): number => Math.floor(next() * below)
  const pick = <T>(list: readonly T[]): T => list[whole(list.length)]!

  function mutated(text: string): string {
    let out = text.slice(0, 4000)
    for (let n = 1 + whole(4); n > 0; n--) {
      const at = whole(out.length + 1)
      const to = Math.min(out.length, at + whole(20))
      const kind = whole(6)
      if (kind === 0) out = out.slice(0, at) + pick(MARKS) + out.slice(at)
      else if (kind === 1) out = out.slice(0, at) + out.slice(to)
      else if (kind === 2) out = out.slice(0, to) + out.slice(at)
      else if (kind === 3) out = out.slice(0, at) + String.fromCharCode(whole(256)) + out.slice(at + 1)
      else if (kind === 4) out = out.slice(0, at) + pick(MARKS).repeat(1 + whole(30)) + out.slice(to)
      else out = out.slice(0, at) + pick(pool).target.slice(0, 200) + out.slice(to)
    }
    return out
  }

  function make(): InspectRequest {
    const { method, target, headers, body } = pick(pool)
    const fields = headers.map(([name, value]): [string, string] => [
      name,
      whole(4) === 0 ? mutated(value) : value,
    ])
    if (whole(3) === 0) fields.push(['Content-Type', pick(TYPES)])
    if (whole(4) === 0) fields.push(['Cookie', mutated('a=b; c=d')])
    let bytes: Uint8Array | null =
      body === undefined || body === null
        ? null
        : Buffer.from(mutated(Buffer.from(body).toString('latin1')), 'latin1')
    if (bytes !== null && whole(8) === 0) {
      const gzip = whole(2) === 0
      fields.push(['Content-Encoding', gzip ? 'gzip' : 'deflate'])
      bytes = gzip ? gzipSync(bytes) : deflateSync(bytes)
      if (whole(3) === 0) bytes = bytes.subarray(0, whole(bytes.length))
    }
    return { method, target: mutated(target), headers: fields, body: bytes, bodyTruncated: whole(6) === 0 }
  }

  let blocked = 0
  for (let i = 0; i < RUNS; i++) {
    const one = make()
    const engine = engines[i & 1]!
    const found = engine.inspect(one)
    const { score, threshold, findings, violation } = found
    if (found.blocked !== (violation !== null || score >= threshold)) expect([i, found]).toBeNull()
    for (const { place, excerpt } of findings) {
      if (!/^[\x20-\x7e]{1,256}$/.test(place) || !/^[\x20-\x7e]{0,80}$/.test(excerpt))
        expect([i, place, excerpt]).toBeNull()
    }
    if (found.blocked) blocked++
    // Again, after others: the same request gives the same findings.
    if (i % 50 === 0) {
      engine.inspect(make())
      expect(engine.inspect(one)).toEqual(found)
    }
  }
  // Both kinds came up, so the checks above had something to check.
  expect(blocked).toBeGreaterThan(RUNS / 20)
  expect(blocked).toBeLessThan(RUNS)
})
