/**
 * The wire beside node:http, bare undici, fast-proxy and nginx: CPU per request, with the baseline and routing on. See README.md.
 *
 * `npm run build && node bench/wire.mjs [--rounds 5] [--seconds 2] [--only small,large,tls,tls-large,hit,many]`
 */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { freePort, pinned, run, start, stopAll } from './lib/children.mjs'
import { treeMicroseconds } from './lib/cpu.mjs'
import { names, orUsage, parseFlags, whole } from './lib/flags.mjs'
import { median, quantile, ratios } from './lib/stats.mjs'
import { fixed, table } from './lib/table.mjs'
import { parseWrk } from './lib/wrk.mjs'

const PROXIES = {
  wire: ['edge.mjs', '--with', 'baseline,wire'],
  node: ['edge.mjs', '--with', 'baseline'],
  undici: ['peers/undici.mjs'],
  'fast-proxy': ['peers/fast-proxy.mjs'],
  nginx: ['peers/nginx.mjs'],
}
const SECURE = {
  wire: ['edge.mjs', '--with', 'baseline,wire,tls'],
  node: ['edge.mjs', '--with', 'baseline,tls'],
  undici: ['peers/undici.mjs', '--tls', 'yes'],
  nginx: ['peers/nginx.mjs', '--tls', 'yes'],
}
const HITS = {
  wire: ['lib/cache-server.mjs', '--kind', 'cache', '--wire', 'yes'],
  node: ['lib/cache-server.mjs', '--kind', 'cache'],
  bare: ['lib/cache-server.mjs', '--kind', 'bare'],
  nginx: ['peers/nginx-cache.mjs'],
}

/** What is measured: ratios are those of `wire` to each other row in the same round. */
const SCENES = {
  small: { rows: PROXIES, scheme: 'http', path: () => '/', connections: 64 },
  large: { rows: PROXIES, scheme: 'http', path: () => '/100k', connections: 64 },
  tls: { rows: SECURE, scheme: 'https', path: () => '/', connections: 64 },
  'tls-large': { rows: SECURE, scheme: 'https', path: () => '/100k', connections: 64 },
  hit: { rows: HITS, scheme: 'http', path: name => (name === 'nginx' ? '/' : '/0'), connections: 64 },
  many: {
    // All of them ask at once, for 128 connections to the origin.
    rows: { wire: [...PROXIES.wire, '--queue', '10000'], nginx: PROXIES.nginx },
    scheme: 'http',
    path: () => '/',
    connections: 9000,
  },
}
/** Seconds: enough for the engine to compile what matters. */
const WARM_UP = 3

const usage = `usage: node bench/wire.mjs [--rounds 5] [--seconds 2] [--only ${Object.keys(SCENES).join(',')}]`
const { rounds, seconds, scenes } = orUsage(usage, () => {
  const flags = parseFlags(process.argv.slice(2), { rounds: '5', seconds: '2', only: '' })
  return {
    rounds: whole('rounds', flags.rounds, 1, 1000),
    seconds: whole('seconds', flags.seconds, 1, 600),
    scenes: flags.only === '' ? Object.keys(SCENES) : names('only', flags.only, Object.keys(SCENES)),
  }
})

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stopAll().then(() => process.exit(130)))
const cores = availableParallelism() > 1 ? { edge: 0, rest: 1 } : { edge: null, rest: null }
let failed = false
try {
  for (const name of scenes) await measureScene(name, SCENES[name])
} catch (error) {
  failed = true
  process.stderr.write(`${error.message}\n`)
}
await stopAll()
process.exit(failed ? 1 : 0)

async function measureScene(name, scene) {
  const originPort = await freePort()
  const origin = await start(pinned(cores.rest, program(['origin.mjs', '--port', `${originPort}`])))
  if (origin.failure !== null) throw new Error(`the origin: ${origin.failure}`)
  const rows = []
  for (const [row, [file, ...args]] of Object.entries(scene.rows)) {
    const port = await freePort()
    const place = file.startsWith('lib/') ? [] : ['--origin', `http://127.0.0.1:${originPort}`]
    const { pid, failure } = await start(
      pinned(cores.edge, program([file, ...args, '--port', `${port}`, ...place])),
    )
    if (failure !== null) process.stdout.write(`${name}, ${row}: ${failure}\n`)
    else rows.push({ row, pid, url: `${scene.scheme}://127.0.0.1:${port}${scene.path(row)}`, runs: [] })
  }
  for (const each of rows) await measure(each, scene, Math.max(seconds, WARM_UP), false)
  for (let round = 0; round < rounds; round++) {
    for (const each of round % 2 === 0 ? rows : rows.toReversed()) await measure(each, scene, seconds, true)
  }
  print(name, scene, rows)
  await stopAll()
}

async function measure(each, { connections }, time, keep) {
  const args = ['-t1', `-c${connections}`, `-d${time}s`, '--timeout', '20s', '--latency', each.url]
  const before = treeMicroseconds(each.pid)
  const result = parseWrk(await run(pinned(cores.rest, ['wrk', ...args]), (time + 60) * 1000))
  if (result.refused > 0) throw new Error(`${each.row}: ${result.refused} answers not 2xx at ${each.url}`)
  if (keep) each.runs.push({ ...result, cpu: (treeMicroseconds(each.pid) - before) / result.requests })
}

function print(name, { connections }, rows) {
  const wire = rows.find(each => each.row === 'wire')
  const of = (each, key) => each.runs.map(one => one[key])
  const lines = rows.map(each => {
    const to = ratios(of(wire, 'cpu'), of(each, 'cpu'))
    const late = ratios(of(wire, 'p99'), of(each, 'p99'))
    return [
      each.row,
      fixed(median(of(each, 'cpu')), 1),
      fixed(median(to), 3),
      `${fixed(quantile(to, 0.25), 2)}..${fixed(quantile(to, 0.75), 2)}`,
      fixed(median(of(each, 'rate')), 0),
      fixed(median(of(each, 'p99')), 1),
      fixed(median(late), 2),
      each.runs.reduce((sum, one) => sum + one.socketErrors, 0),
    ]
  })
  const head = [name, 'CPU µs/req', 'wire to it', 'quartiles', 'req/s', 'p99 ms', 'wire to it', 'errors']
  process.stdout.write(
    `${rounds} rounds of ${seconds} s, ${connections} connections\n${table([head, ...lines])}\n\n`,
  )
}

function program([file, ...args]) {
  return [process.execPath, fileURLToPath(new URL(file, import.meta.url)), ...args]
}
