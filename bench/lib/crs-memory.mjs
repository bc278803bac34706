/** Inspections without sockets: what one costs, how long loading takes, and what an engine holds. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { BROWSER, get, JSON_FIELDS, numbers, post, strangers } from './crs-requests.mjs'

/** Each takes a generator of numbers and the count of requests so far. */
const KINDS = {
  'GET, new values of parameters': get,
  'GET, new header fields too': (next, index) => get(next, index, strangers(next, BROWSER)),
  'JSON, new values': post,
  'JSON, new header fields too': (next, index) => post(next, index, strangers(next, JSON_FIELDS)),
}
const BATCH = 20
/** Enough for all code to be compiled. */
const INSPECTIONS = 10_000

/** The files of a rule set. */
export function rulesOf(folder) {
  const setup = ['crs-setup.conf', 'crs-setup.conf.example'].map(name => `${folder}/${name}`).find(existsSync)
  return [...(setup ? [setup] : []), `${folder}/rules/*.conf`]
}

/** Prints all figures. */
export async function memoryFigures(folder, paranoia) {
  // In a process of its own: what was there before would count.
  const script = fileURLToPath(new URL('./crs-load.mjs', import.meta.url))
  const loads = Array.from({ length: 3 }, () =>
    JSON.parse(
      execFileSync(process.execPath, ['--expose-gc', script, folder, String(paranoia)], { encoding: 'utf8' }),
    ),
  )
  const least = name => Math.min(...loads.map(load => load[name]))
  process.stdout.write(`load ${least('milliseconds')} ms of CPU time, the best of 3   (bar 1500)\n`)
  process.stdout.write(
    `heap of an engine ${least('loaded')} MB, after 3,000 requests ${least('used')} MB   (bar 120)\n\n`,
  )
  const { seclang } = await import('@postern/waf')
  const engine = await seclang({ files: rulesOf(folder), set: { paranoia } })
  process.stdout.write('in memory, us an inspection: the best batch\n')
  for (const [name, make] of Object.entries(KINDS)) {
    process.stdout.write(`  ${name.padEnd(32)}${best(engine, make).toFixed(0).padStart(6)}\n`)
  }
}

/** Time of one inspection in the best of many batches: other work on the machine can only add to it. */
function best(engine, make) {
  const next = numbers(7)
  let count = 0
  let least = Number.POSITIVE_INFINITY
  while (count < INSPECTIONS) {
    const batch = Array.from({ length: BATCH }, () => make(next, count++))
    const from = performance.now()
    let found = 0
    for (const request of batch) found += engine.inspect(request).findings.length
    least = Math.min(least, ((performance.now() - from) * 1000) / BATCH)
    if (found > 0) throw new Error('a rule matched: these requests are meant to be ordinary')
  }
  return least
}
