/**
 * Mutated inputs, a million by default: `npm run build && node bench/waf-fuzz.mjs [runs] [seed]`.
 *
 * Seeds are the cases of all patterns. Each run joins, cuts, repeats and damages some of them and sends the result through both
 * profiles, in a place chosen by chance. It ends with 1 at the first exception, or at an inspection that breaks its own
 * bounds, and prints the input and the seed that leads there.
 */
import { signatures } from '@postern/waf'
import { patterns } from '../packages/waf/dist/patterns/index.js'

const runs = Number(process.argv[2] ?? 1_000_000)
const seed = Number(process.argv[3] ?? 1)
const MOST_BYTES = 400

const engines = [signatures({ profile: 'balanced' }), signatures({ profile: 'aggressive' })]
const texts = patterns.flatMap(pattern => [...pattern.match, ...pattern.pass, ...pattern.literals])
const marks = [
  '\0',
  '%',
  '%25',
  '%u0027',
  '%c0%ae',
  '&#x',
  '&lt',
  '\\u',
  '\\x2',
  "'",
  '"',
  '`',
  '<',
  '/*',
  '*/',
  '--',
  ';',
  '$IFS',
  '\r\n',
  '\xff',
  '\xef\xbc',
  '${',
  '{{',
  '../',
  ' '.repeat(20),
]
const types = [
  'application/x-www-form-urlencoded',
  'application/json',
  'text/plain',
  'application/xml',
  'multipart/form-data; boundary=b',
  'application/graphql',
  'application/octet-stream',
]

let state = seed >>> 0
const started = process.cpuUsage()
let blocked = 0
for (let run = 0; run < runs; run += 1) {
  const request = make()
  for (const engine of engines) {
    try {
      const inspection = engine.inspect(request)
      check(inspection)
      if (inspection.blocked) blocked += 1
    } catch (error) {
      console.error(`run ${run}, seed ${seed}, ${engine.name}`)
      console.error(
        JSON.stringify({ ...request, body: request.body && Buffer.from(request.body).toString('base64') }),
      )
      console.error(error)
      process.exit(1)
    }
  }
}
const { user, system } = process.cpuUsage(started)
console.log(
  `${runs} inputs through ${engines.length} engines: no exception, ${blocked} blocked, ${((user + system) / 1e6).toFixed(0)} s of CPU`,
)

function check({ findings, score, threshold, blocked: isBlocked, violation }) {
  if (findings.length > 65) throw new Error(`${findings.length} findings`)
  if (isBlocked !== (violation !== null || score >= threshold)) throw new Error('blocked and score disagree')
  for (const { excerpt, place } of findings) {
    if (!/^[\x20-\x7e]{0,80}$/.test(excerpt)) throw new Error(`excerpt ${JSON.stringify(excerpt)}`)
    if (!/^[\x20-\x7e]{1,300}$/.test(place)) throw new Error(`place ${JSON.stringify(place)}`)
  }
}

function make() {
  let text = ''
  const parts = 1 + chance(4)
  for (let i = 0; i < parts && text.length < MOST_BYTES; i += 1) text += damage(pick(texts))
  text = text.slice(0, MOST_BYTES)
  const encoded = chance(2) === 0 ? text : escaped(text)
  switch (chance(6)) {
    case 0:
      return { method: 'GET', target: `/${encoded}`, headers: [] }
    case 1:
      return { method: 'GET', target: `/?q=${encoded}`, headers: [] }
    case 2:
      return {
        method: 'GET',
        target: '/',
        headers: [[pick(['User-Agent', 'Cookie', 'Referer', 'X-Note']), text]],
      }
    default: {
      const type = pick(types)
      return {
        method: 'POST',
        target: '/',
        headers: [['Content-Type', type]],
        body: Buffer.from(wrap(type, text, encoded), 'latin1'),
      }
    }
  }
}

/** Mostly well formed, so that it gets past the readers. */
function wrap(type, text, encoded) {
  if (chance(8) === 0) return text
  if (type.endsWith('json')) return JSON.stringify({ a: [text, { [text.slice(0, 20)]: 1 }] })
  if (type.endsWith('xml')) return `<r a="${text.replace(/[<&"]/g, '')}"><![CDATA[${text}]]></r>`
  if (type.startsWith('multipart'))
    return `--b\r\nContent-Disposition: form-data; name="q"\r\n\r\n${text}\r\n--b--\r\n`
  return type.endsWith('urlencoded') ? `q=${encoded}` : text
}

function damage(text) {
  const at = chance(text.length + 1)
  switch (chance(7)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return text.slice(0, at) + pick(marks) + text.slice(at)
    case 2:
      return text.slice(0, at) + String.fromCharCode(chance(256)) + text.slice(at + 1)
    case 3:
      return text.repeat(1 + chance(3))
    case 4:
      return escaped(text)
    case 5:
      return Buffer.from(text, 'latin1').toString('base64')
    default:
      return text
  }
}

function escaped(text) {
  return text.replace(/[^a-z0-9]/gi, c => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

function pick(list) {
  return list[chance(list.length)]
}

/** A small generator (mulberry32): the same seed, the same inputs. */
function chance(below) {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) % below
}
