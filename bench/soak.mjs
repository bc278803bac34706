/**
 * An edge at full load before targets that flap, reset, stall and talk nonsense: no client may see a wrong or mixed body, no
 * rejection goes unhandled, memory and sockets return to where they began, and each failed request has a cause in the log.
 *
 * `node bench/soak.mjs [--seconds 60] [--warm 10] [--clients 64]`
 *
 * Three processes: targets, edge, and this one as its clients, half of them over HTTP/1.1 and half over h2c; each goes to both
 * groups of targets, HTTP/1.1 and h2c. It ends with code 1 when one of the four does not hold.
 */
import { fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { orUsage, parseFlags, whole } from './lib/flags.mjs'
import { client1, client2 } from './lib/soak-clients.mjs'
import { startEdge } from './lib/soak-edge.mjs'
import { startTargets } from './lib/soak-targets.mjs'

/** What a heap may have grown by, beyond a tenth: code that was compiled meanwhile, and the collector's own. */
const SLACK = 8 << 20
/** How long connections may take to be gone once nobody uses them, in ms. */
const SETTLE = 15_000

const ROLES = { targets, edge, clients }
await ROLES[process.env.BENCH_ROLE ?? 'clients']()

async function targets() {
  process.send(await startTargets())
  process.on('disconnect', () => process.exit(0))
}

async function edge() {
  const { ports, look } = await startEdge(JSON.parse(process.env.BENCH_TARGETS))
  process.send(ports)
  process.on('message', () => process.send(look()))
  process.on('disconnect', () => process.exit(0))
}

async function clients() {
  const usage = 'usage: node bench/soak.mjs [--seconds N] [--warm N] [--clients N]'
  const { seconds, warm, workers } = orUsage(usage, () => {
    const given = parseFlags(process.argv.slice(2), { seconds: '60', warm: '10', clients: '64' })
    return {
      seconds: whole('seconds', given.seconds, 1, 86_400),
      warm: whole('warm', given.warm, 1, 600),
      workers: whole('clients', given.clients, 4, 1000),
    }
  })
  const rejections = []
  process.on('unhandledRejection', reason => rejections.push(String(reason)))
  const children = []
  process.on('exit', () => {
    for (const one of children) one.kill('SIGKILL')
  })
  const child = (role, env = {}) => {
    const stdio = ['ignore', role === 'edge' ? 'pipe' : 'inherit', 'inherit', 'ipc']
    const execArgv = role === 'edge' ? ['--expose-gc'] : []
    const made = fork(fileURLToPath(import.meta.url), {
      stdio,
      execArgv,
      env: { ...process.env, BENCH_ROLE: role, ...env },
    })
    children.push(made)
    return made
  }
  const answer = made =>
    new Promise((resolve, reject) => {
      const ended = code => reject(new Error(`a process ended with code ${code}`))
      made.once('exit', ended)
      made.once('message', message => {
        made.off('exit', ended)
        resolve(message)
      })
    })
  const urls = await answer(child('targets'))
  const running = child('edge', { BENCH_TARGETS: JSON.stringify(urls) })
  const log = logOf(running.stdout)
  const ports = await answer(running)
  const look = () => {
    const answered = answer(running)
    running.send('look')
    return answered
  }

  let number = 0
  const load = async time => {
    const counts = { whole: 0, failed: 0, cut: 0, wrong: 0, left: 0, lost: 0 }
    const bad = []
    const end = performance.now() + 1000 * time
    const half = Math.ceil(workers / 2)
    const two = [client1(ports.http, half), client2(ports.h2c, 4)]
    const worker = async at => {
      const client = two[at % 2]
      while (performance.now() < end) {
        const mine = number++
        const { path, verdict } = await client.ask(mine, mine % 4 < 2 ? 'h1' : 'h2c')
        counts[verdict]++
        if (verdict !== 'whole') bad.push({ path, verdict })
      }
    }
    await Promise.all(Array.from({ length: workers }, (_, at) => worker(at)))
    for (const one of two) one.close()
    return { counts, bad }
  }
  /** Waits until nobody is connected any more. */
  const settled = async () => {
    const end = performance.now() + SETTLE
    for (;;) {
      const seen = await look()
      const open = seen.clients + seen.upstreams + seen.inFlight
      if (open === 0 || performance.now() > end) return seen
      await new Promise(resolve => setTimeout(resolve, 250))
    }
  }

  await load(warm)
  const before = await settled()
  log.clear()
  const first = number
  const begun = performance.now()
  const { counts, bad } = await load(seconds)
  const took = (performance.now() - begun) / 1000
  const asked = number - first
  const after = await settled()
  await log.holds(asked)

  const silent = bad.filter(({ path, verdict }) => verdict !== 'left' && !log.causes.has(path))
  const grown = after.heapUsed - before.heapUsed
  const problems = []
  if (counts.wrong > 0) problems.push(`${counts.wrong} wrong bodies`)
  if (counts.lost > 0) problems.push(`${counts.lost} requests were never answered`)
  if (silent.length > 0)
    problems.push(`${silent.length} failures without a cause, such as ${JSON.stringify(silent[0])}`)
  if (log.lines !== asked) problems.push(`${asked} requests, ${log.lines} lines in the log`)
  if (log.causeless > 0) problems.push(`${log.causeless} lines of failures without a cause`)
  for (const fault of [...after.faults, ...rejections]) problems.push(`unhandled: ${fault}`)
  for (const what of ['clients', 'upstreams', 'inFlight', 'sockets']) {
    if (after[what] > before[what]) problems.push(`${what}: ${before[what]} before, ${after[what]} after`)
  }
  if (grown > before.heapUsed / 10 + SLACK) problems.push(`the heap has grown by ${mib(grown)} MiB`)
  const share = 100 * (counts.whole / asked)
  if (counts.whole === 0) problems.push('no request succeeded')

  console.log(
    `${asked} requests in ${took.toFixed(1)} s (${Math.round(asked / took)} a second), ${share.toFixed(1)} % whole`,
  )
  console.log(`seen by clients: ${list(counts)}`)
  console.log(`causes in the log: ${list(Object.fromEntries(log.byCode))}`)
  console.log(`attempts: ${after.requests - before.requests}`)
  console.log(
    `edge before and after: heap ${mib(before.heapUsed)} and ${mib(after.heapUsed)} MiB, external ${mib(before.external)} and ${mib(after.external)} MiB, ` +
      `RSS ${mib(before.rss)} and ${mib(after.rss)} MiB, sockets ${before.sockets} and ${after.sockets}`,
  )
  console.log(problems.length === 0 ? 'all holds' : problems.join('\n'))
  process.exit(problems.length === 0 ? 0 : 1)
}

/** Reads the access log as it is written. */
function logOf(stream) {
  const log = {
    lines: 0,
    /** Lines of failures that do not say why. */
    causeless: 0,
    causes: new Map(),
    byCode: new Map(),
    clear() {
      log.lines = log.causeless = 0
      log.causes.clear()
      log.byCode.clear()
    },
    /** Resolves when so many lines have come, or none has for two seconds. */
    async holds(count) {
      for (let seen = -1; log.lines < count && seen !== log.lines; ) {
        seen = log.lines
        await new Promise(resolve => setTimeout(resolve, 2000))
      }
    },
  }
  createInterface({ input: stream }).on('line', text => {
    const line = JSON.parse(text)
    log.lines++
    const code = line.error?.code ?? line.code ?? null
    if (code === null) {
      if (line.status >= 400) log.causeless++
      return
    }
    log.causes.set(line.path, code)
    log.byCode.set(code, (log.byCode.get(code) ?? 0) + 1)
  })
  return log
}

function mib(bytes) {
  return (bytes / 2 ** 20).toFixed(1)
}

function list(counts) {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
