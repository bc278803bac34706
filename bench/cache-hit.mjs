/**
 * What a hit costs beside a bare node:http answer of the same bytes, and whether it grows with the number of entries:
 * `npm run build && node bench/cache-hit.mjs [--entries 1000,1000000] [--rounds 7] [--seconds 1]`.
 *
 * With many entries there are two rows: one for a thousand keys that are asked for again and again, which shows what the size of the
 * store costs, and one for keys drawn evenly from all, which also shows what memory costs that no cache of the processor holds. `node:http
 * with a Map` pays that, too: answers of its own, ready to be sent, found by the target.
 *
 * Needs Linux and wrk. All servers run from the start to the end; rounds go from one to the next, and ratios are taken
 * within a round.  CPU µs a request, from /proc.
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
const HOT = 1000
try {
  await open('bare', counts[0], [['node:http', counts[0]]])
  await open('handler', counts[0], [['handler, no cache', counts[0]]])
  for (const count of counts) {
    await open('map', count, [[`node:http with a Map of ${count}`, count]])
    const draws = [[`${count} entries, ${Math.min(count, HOT)} asked for`, Math.min(count, HOT)]]
    if (count > HOT) draws.push([`${count} entries, all asked for`, count])
    await open('cache', count, draws)
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

/** Starts a server, with a row for each number of keys that are drawn from. */
async function open(kind, entries, draws) {
  const port = await freePort()
  const args = ['--port', `${port}`, '--kind', kind, '--entries', `${entries}`]
  const command = [process.execPath, '--max-old-space-size=8192', '--expose-gc', program, ...args]
  const { pid, failure } = await start(pinned(0, command), 900_000)
  if (failure) throw new Error(`${kind}: ${failure}`)
  for (const [name, keys] of draws) {
    const script = join(folder, `${port}-${keys}.lua`)
    writeFileSync(
      script,
      `request = function() return wrk.format(nil, "/" .. math.random(0, ${keys - 1})) end\n`,
    )
    rows.push({ name, port, pid, script, costs: [], rates: [] })
  }
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
