/**
 * Edge and peers side by side, on one origin: what a request costs in CPU time. See README.md for how to read it.
 *
 * `node bench/compare.mjs [--rounds 5] [--seconds 2] [--connections 64] [--path /] [--only a,b] [--json FILE]`
 */
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { freePort, pinned, run, start, stopAll } from './lib/children.mjs'
import { treeMicroseconds } from './lib/cpu.mjs'
import { names, orUsage, parseFlags, UsageError, whole } from './lib/flags.mjs'
import { SKIPPED } from './lib/peer.mjs'
import { report, summarize } from './lib/report.mjs'
import { parseWrk } from './lib/wrk.mjs'

/** The rows, with the program of each. */
const ROWS = {
  postern: ['edge.mjs'],
  'postern+baseline': ['edge.mjs', '--with', 'baseline'],
  undici: ['peers/undici.mjs'],
  'http-proxy': ['peers/http-proxy.mjs'],
  httpxy: ['peers/httpxy.mjs'],
  'fast-proxy': ['peers/fast-proxy.mjs'],
  '@fastify/http-proxy': ['peers/fastify-http-proxy.mjs'],
  nginx: ['peers/nginx.mjs'],
  haproxy: ['peers/haproxy.mjs'],
  caddy: ['peers/caddy.mjs'],
}
/** Seconds: enough for the engine to compile what matters. */
const WARM_UP = 3
const USAGE = `usage: node bench/compare.mjs [--rounds 5] [--seconds 2] [--connections 64] [--path /] [--only a,b] [--json FILE]
rows: ${Object.keys(ROWS).join(', ')}`

const options = orUsage(USAGE, () => {
  const defaults = { rounds: '5', seconds: '2', connections: '64', path: '/', only: '', json: '' }
  const flags = parseFlags(process.argv.slice(2), defaults)
  if (!/^\/[!-~]*$/.test(flags.path)) throw new UsageError('--path must start with / and hold no spaces')
  return {
    rounds: whole('rounds', flags.rounds, 1, 1000),
    seconds: whole('seconds', flags.seconds, 1, 600),
    connections: whole('connections', flags.connections, 1, 10_000),
    path: flags.path,
    rows: flags.only === '' ? Object.keys(ROWS) : names('only', flags.only, Object.keys(ROWS)),
    json: flags.json,
  }
})

/** Kept once the end has begun: nothing may be started or reported after that. */
let ending = null
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => finish(130))
try {
  await main()
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  await finish(1)
}

async function main() {
  if (process.platform !== 'linux') throw new Error('CPU time is read from /proc: this needs Linux.')
  if (!(await works(['wrk', '-v'], /^wrk /m))) {
    throw new Error(
      'wrk is not installed. Install it (Debian, Ubuntu: apt-get install wrk) and run this again.',
    )
  }
  const pinning = availableParallelism() > 1 && (await works(['taskset', '-c', '0,1', 'echo', 'yes'], /yes/))
  const cores = pinning ? { edge: 0, rest: 1 } : { edge: null, rest: null }

  const originPort = await freePort()
  const origin = await start(pinned(cores.rest, program(['origin.mjs', '--port', `${originPort}`])))
  if (origin.failure !== null) throw new Error(`the origin: ${origin.failure}`)
  const expected = await fetchBody(originPort)
  if (expected.status !== 200) throw new Error(`the origin answers ${expected.status} at ${options.path}`)

  const entries = []
  for (const name of options.rows) {
    if (ending) return
    const port = await freePort()
    const args = [...ROWS[name], '--port', `${port}`, '--origin', `http://127.0.0.1:${originPort}`]
    const { pid, failure, code } = await start(pinned(cores.edge, program(args)))
    const skipped = code === SKIPPED
    entries.push({ name, port, pid, skipped, failure, runs: [] })
  }
  const ready = entries.filter(entry => entry.failure === null)
  for (const entry of ready) {
    entry.failure = await difference(entry.port, expected.body)
    if (entry.failure === null && !ending)
      await measure(entry, cores.rest, Math.max(WARM_UP, options.seconds), false)
  }
  for (let round = 0; round < options.rounds; round++) {
    // There and back again: what drifts in one direction hits the first and the last alike.
    for (const entry of round % 2 === 0 ? ready : ready.toReversed()) {
      if (entry.failure === null && !ending) await measure(entry, cores.rest, options.seconds, true)
    }
    if (ending) return
    process.stderr.write(`round ${round + 1} of ${options.rounds}\n`)
  }

  const where = pinning ? 'edges on core 0, origin and wrk on core 1' : 'nothing pinned'
  const { rounds, seconds, connections, path } = options
  const rows = summarize(entries)
  process.stdout.write(
    `${rounds} rounds of ${seconds} s, ${connections} connections, ${path}, Node ${process.version}, ${where}\n\n`,
  )
  process.stdout.write(report(rows))
  if (options.json !== '') {
    const record = { rounds, seconds, connections, path, node: process.version, pinning, rows }
    writeFileSync(options.json, `${JSON.stringify(record, null, 2)}\n`)
  }
  await finish(rows.some(row => row.failure !== null && !row.skipped) ? 1 : 0)
}

/** One run of wrk against a row. A warm-up, which is not kept, still has to succeed. */
async function measure(entry, core, seconds, keep) {
  const { connections, path } = options
  const url = `http://127.0.0.1:${entry.port}${path}`
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '--latency', url]
  try {
    const before = treeMicroseconds(entry.pid)
    const from = performance.now()
    const result = parseWrk(await run(pinned(core, ['wrk', ...args]), (seconds + 30) * 1000))
    const cpu = treeMicroseconds(entry.pid) - before
    const share = cpu / 1000 / (performance.now() - from)
    if (keep) entry.runs.push({ ...result, cpu: cpu / result.requests, share })
    if (result.refused + result.socketErrors > 0) {
      entry.failure = `${result.refused} answers not 2xx, ${result.socketErrors} socket errors`
    }
  } catch (error) {
    entry.failure = error.message
  }
}

/** What is wrong with a proxy's answer; `null` when it is the origin's, byte for byte. */
async function difference(port, expected) {
  try {
    const { status, body } = await fetchBody(port)
    if (status !== 200) return `it answers ${status}`
    return body.equals(expected) ? null : `its body differs: ${body.length} bytes of ${expected.length}`
  } catch (error) {
    return error.message
  }
}

function fetchBody(port) {
  return new Promise((resolve, reject) => {
    const req = request({ port, host: '127.0.0.1', path: options.path, agent: false }, async res => {
      try {
        resolve({ status: res.statusCode, body: Buffer.concat(await res.toArray()) })
      } catch (error) {
        reject(error)
      }
    })
    req.setTimeout(10_000, () => req.destroy(new Error('no answer in 10 s')))
    req.on('error', reject).end()
  })
}

async function works(command, expected) {
  try {
    return expected.test(await run(command, 5000))
  } catch {
    return false
  }
}

function program([file, ...args]) {
  return [process.execPath, fileURLToPath(new URL(file, import.meta.url)), ...args]
}

function finish(code) {
  ending ??= stopAll().then(() => process.exit(code))
  return ending
}
