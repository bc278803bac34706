/**
 * What a hit costs beside a bare node:http answer of the same bytes, and whether it grows with the number of entries:
 * `npm run build && node bench/cache-hit.mjs [--entries 1000,1000000] [--rounds 7] [--seconds 1]`.
 *
 * Needs Linux and wrk. All servers run from the start to the end; rounds go from one to the next, and ratios are taken
 * within a round. Keys are drawn evenly from all that are stored. CPU µs a request, from /proc.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, pinned, run, start, stopAll } from './lib/children.mjs'
import { treeMicroseconds } from './lib/cpu.mjs'
import { orUsage, parseFlags, whole } from './lib/flags.mjs'
import { median, ratios } from './lib/stats.mjs'
import { fixed, table } from './lib/table.mjs'
import { parseWrk } from './lib/wrk.mjs'

const { counts, rounds, seconds } = orUsage(
  'usage: cache-hit.mjs [--entries N,N] [--rounds R] [--seconds S]',
  () => {
    const flags = parseFlags(process.argv.slice(2), { entries: '1000,1000000', rounds: '7', seconds: '1' })
    return {
      counts: flags.entries.split(',').map(text => whole('entries', text, 1, 4_000_000)),
      rounds: whole('rounds', flags.rounds, 1, 100),
      seconds: whole('seconds', flags.seconds, 1, 60),
    }
  },
)

const folder = mkdtempSync(join(tmpdir(), 'postern-bench-'))
const program = fileURLToPath(new URL('lib/cache-server.mjs', import.meta.url))
const rows = []
try {
  for (const [name, kind, entries] of [
    ['node:http', 'bare', counts[0]],
    ['handler, no cache', 'handler', counts[0]],
    ...counts.map(count => [`cache, ${count} entries`, 'cache', count]),
  ]) {
    const port = await freePort()
    const args = ['--port', `${port}`, '--kind', kind, '--entries', `${entries}`]
    const started = await start(
      pinned(0, [process.execPath, '--max-old-space-size=8192', program, ...args]),
      900_000,
    )
    if (started.failure) throw new Error(`${name}: ${started.failure}`)
    const script = join(folder, `${port}.lua`)
    writeFileSync(
      script,
      `request = function() return wrk.format(nil, "/" .. math.random(0, ${entries - 1})) end\n`,
    )
    rows.push({ name, port, pid: started.pid, script, costs: [], rates: [] })
  }
  for (const row of rows) await load(row, seconds)
  for (let round = 0; round < rounds; round++) {
    for (const row of round % 2 === 0 ? rows : rows.toReversed()) {
      const { cost, rate } = await load(row, seconds)
      row.costs.push(cost)
      row.rates.push(rate)
    }
  }
  const base = rows[0].costs
  process.stdout.write(
    `${table([
      ['', 'CPU µs/req', 'to node:http', 'to no cache', 'req/s'],
      ...rows.map(({ name, costs, rates }) => [
        name,
        fixed(median(costs), 1),
        fixed(median(ratios(costs, base)), 2),
        fixed(median(ratios(costs, rows[1].costs)), 2),
        fixed(median(rates), 0),
      ]),
    ])}\n`,
  )
} finally {
  await stopAll()
  rmSync(folder, { recursive: true })
}

async function load({ port, pid, script }, duration) {
  const before = treeMicroseconds(pid)
  const command = ['wrk', '--latency', '-t1', '-c32', `-d${duration}s`, '-s', script, '-H', 'Host: bench']
  const result = parseWrk(
    await run(pinned(1, [...command, `http://127.0.0.1:${port}`]), duration * 1000 + 10_000),
  )
  if (result.refused + result.socketErrors > 0) throw new Error('answers that are errors')
  return { cost: (treeMicroseconds(pid) - before) / result.requests, rate: result.rate }
}
