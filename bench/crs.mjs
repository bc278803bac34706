/**
 * What the Core Rule Set costs a request, beside nginx with ModSecurity v3 on the same rules:
 *
 *     npm run build && CRS_DIR=/usr/share/modsecurity-crs node bench/crs.mjs [--rounds 5] [--seconds 2] [--connections 16]
 *
 * Four servers on one origin: nginx, nginx with ModSecurity, the edge, the edge with `crs`. The cost of the rules is what a
 * server with them takes more than the same server without, in CPU time; all servers take their turn in each round. Requests
 * are a browser's GET with four parameters and a JSON body of half a kilobyte. No two have the same values of parameters.
 *
 * Then the same requests in memory, without sockets, also with header fields that never repeat; how long loading takes, and
 * the memory of an engine. `--only memory` does that alone. CRS_PL is the paranoia level, 1 by default.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, pinned, run, start, stopAll } from './lib/children.mjs'
import { treeMicroseconds } from './lib/cpu.mjs'
import { memoryFigures } from './lib/crs-memory.mjs'
import { luaScript } from './lib/crs-requests.mjs'
import { names, orUsage, parseFlags, whole } from './lib/flags.mjs'
import { SKIPPED } from './lib/peer.mjs'
import { median } from './lib/stats.mjs'
import { parseWrk } from './lib/wrk.mjs'

const SERVERS = {
  nginx: ['peers/nginx.mjs'],
  'nginx + ModSecurity': ['peers/nginx-modsecurity.mjs'],
  edge: ['edge.mjs', '--with', 'none'],
  'edge + crs': ['edge.mjs', '--with', 'crs'],
}
/** Requests of each kind before the first round, and the seconds that may take: the edge must have compiled what matters. */
const WARM_UP = 15_000
const WARM_UP_LIMIT = 240
const KINDS = { get: 'GET, 4 parameters', post: 'JSON, 0.5 KB' }
const USAGE =
  'usage: CRS_DIR=folder node bench/crs.mjs [--rounds 5] [--seconds 2] [--connections 16] [--only traffic,memory]'

const options = orUsage(USAGE, () => {
  const defaults = { rounds: '5', seconds: '2', connections: '16', only: 'traffic,memory' }
  const flags = parseFlags(process.argv.slice(2), defaults)
  return {
    rounds: whole('rounds', flags.rounds, 1, 100),
    seconds: whole('seconds', flags.seconds, 1, 60),
    connections: whole('connections', flags.connections, 1, 1000),
    only: names('only', flags.only, ['traffic', 'memory']),
  }
})
const folder = process.env.CRS_DIR
if (!folder || !existsSync(`${folder}/rules`)) {
  process.stderr.write(
    'CRS_DIR must name a folder with the rule set: crs-setup.conf or its example, and rules/\n',
  )
  process.exit(2)
}
const scratch = mkdtempSync(join(tmpdir(), 'postern-crs-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await stopAll()
    process.exit(130)
  })
}

let failed = false
try {
  if (options.only.includes('traffic')) failed = !(await traffic())
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  failed = true
}
await stopAll()
if (options.only.includes('memory')) await memoryFigures(folder, Number(process.env.CRS_PL ?? 1))
process.exit(failed ? 1 : 0)

async function traffic() {
  const pinning = availableParallelism() > 1
  const [core, rest] = pinning ? [0, 1] : [null, null]
  const originPort = await freePort()
  const origin = await start(pinned(rest, program(['lib/crs-origin.mjs', '--port', `${originPort}`])))
  if (origin.failure !== null) throw new Error(`the origin: ${origin.failure}`)
  const servers = []
  for (const [name, args] of Object.entries(SERVERS)) {
    const port = await freePort()
    const rest = ['--port', `${port}`, '--origin', `http://127.0.0.1:${originPort}`]
    const { pid, failure, code } = await start(pinned(core, program([...args, ...rest])), 60_000)
    if (failure !== null) {
      process.stdout.write(`${name}: ${code === SKIPPED ? 'left out, ' : ''}${failure}\n`)
      if (code !== SKIPPED) return false
    } else servers.push({ name, port, pid, costs: { get: [], post: [] } })
  }
  for (const kind of Object.keys(KINDS)) writeFileSync(join(scratch, `${kind}.lua`), luaScript(kind))
  for (const server of servers) {
    await checkBlocks(server)
    for (const kind of Object.keys(KINDS)) await warmUp(server, kind, rest)
  }
  for (const server of servers) server.costs = { get: [], post: [] }
  for (let round = 0; round < options.rounds; round++) {
    for (const kind of Object.keys(KINDS)) {
      // There and back again: what drifts in one direction hits the first and the last alike.
      for (const server of round % 2 === 0 ? servers : servers.toReversed())
        await measure(server, kind, rest, options.seconds)
    }
    process.stderr.write(`round ${round + 1} of ${options.rounds}\n`)
  }
  const { rounds, seconds, connections } = options
  process.stdout.write(
    `${rounds} rounds of ${seconds} s, ${connections} connections, paranoia level ${process.env.CRS_PL ?? 1}, Node ${process.version}\n\n`,
  )
  for (const [kind, title] of Object.entries(KINDS)) report(servers, kind, title)
  return true
}

/** One run of wrk, in CPU time of the server for each request. Gives their number; anything but success ends the bench. */
async function measure(server, kind, core, seconds) {
  const args = ['-t1', `-c${options.connections}`, `-d${seconds}s`, '--timeout', '20s', '--latency']
  const script = ['-s', join(scratch, `${kind}.lua`), `http://127.0.0.1:${server.port}`]
  const before = treeMicroseconds(server.pid)
  const result = parseWrk(await run(pinned(core, ['wrk', ...args, ...script]), (seconds + 30) * 1000))
  const cpu = treeMicroseconds(server.pid) - before
  if (result.refused + result.socketErrors > 0) {
    throw new Error(
      `${server.name}, ${kind}: ${result.refused} answers not 2xx, ${result.socketErrors} socket errors`,
    )
  }
  server.costs[kind].push(cpu / result.requests)
  return result.requests
}

async function warmUp(server, kind, core) {
  // A program in C is as quick with its first request as with any other.
  if (!server.name.startsWith('edge')) {
    await measure(server, kind, core, 1)
    return
  }
  const until = performance.now() + WARM_UP_LIMIT * 1000
  let requests = 0
  while (requests < WARM_UP && performance.now() < until) requests += await measure(server, kind, core, 3)
}

/** The comparison means something only if the rules run: an attack must be refused by those that have them. */
async function checkBlocks({ name, port }) {
  const status = await new Promise((resolve, reject) => {
    const path = "/?id=1'%20or%20'1'='1'--%20&x=%3Cscript%3Ealert(1)%3C/script%3E"
    request({ port, host: '127.0.0.1', path, headers: { Host: 'shop.example' } }, res => {
      res.resume()
      resolve(res.statusCode)
    })
      .on('error', reject)
      .end()
  })
  const expected = name.includes('+') ? 403 : 200
  if (status !== expected) throw new Error(`${name} answers an attack with ${status}, not ${expected}`)
}

function report(servers, kind, title) {
  const costs = name => servers.find(server => server.name === name)?.costs[kind]
  process.stdout.write(`${title}: CPU us a request, median of the rounds\n`)
  for (const { name, costs } of servers) {
    process.stdout.write(`  ${name.padEnd(22)}${median(costs[kind]).toFixed(0).padStart(7)}\n`)
  }
  const parts = ['edge', 'nginx'].map(base => {
    const more = costs(base === 'edge' ? 'edge + crs' : 'nginx + ModSecurity')
    return more?.map((cost, round) => cost - costs(base)[round])
  })
  const [ours, theirs] = parts
  process.stdout.write(`  rules in the edge     ${median(ours).toFixed(0).padStart(7)}\n`)
  if (theirs) {
    const ratio = median(ours.map((cost, round) => cost / theirs[round]))
    process.stdout.write(`  rules in ModSecurity  ${median(theirs).toFixed(0).padStart(7)}\n`)
    process.stdout.write(`  ratio, median of the rounds' ${ratio.toFixed(3)}   (bar 0.1, goal 0.033)\n`)
  }
  process.stdout.write('\n')
}

function program([file, ...args]) {
  return [process.execPath, fileURLToPath(new URL(file, import.meta.url)), ...args]
}
