/** From the runs of all rows to the printed table. */
import { median, quantile, ratios } from './stats.mjs'
import { fixed, table } from './table.mjs'

const EDGE = 'postern'
const BASELINE = 'postern+baseline'
const FLOOR = 'undici'

/**
 * Medians over the rounds for each entry, and medians of the ratios within a round: noise that hits a round hits both
 * sides of its ratio. A row with a failure keeps its reason and has no numbers.
 */
export function summarize(entries) {
  const costs = new Map(
    entries.map(entry => [entry.name, valid(entry) ? entry.runs.map(run => run.cpu) : []]),
  )
  const ratio = (name, base) => ratios(costs.get(name) ?? [], costs.get(base) ?? [])
  return entries.map(entry => {
    const { name, failure, skipped } = entry
    const runs = valid(entry) ? entry.runs : []
    const toFloor = ratio(name, FLOOR)
    return {
      name,
      skipped,
      failure,
      cpu: median(runs.map(run => run.cpu)),
      toFloor: median(toFloor),
      toFloorQuartiles: [quantile(toFloor, 0.25), quantile(toFloor, 0.75)],
      edgeToIt: median(ratio(EDGE, name)),
      rate: median(runs.map(run => run.rate)),
      p99: median(runs.map(run => run.p99)),
      share: median(runs.map(run => run.share)),
      errors: entry.runs.reduce((sum, run) => sum + run.refused + run.socketErrors, 0),
      rounds: runs.map(run => run.cpu),
    }
  })
}

/** The table, then what went wrong, then the two ratios that the project promises to keep. */
export function report(rows) {
  const head = [
    '',
    'CPU µs/req',
    `to ${FLOOR}`,
    'quartiles',
    `${EDGE} to it`,
    'req/s',
    'p99 ms',
    'core %',
    'errors',
  ]
  const lines = [table([head, ...rows.map(cells)])]
  for (const row of rows.filter(row => row.failure !== null)) {
    lines.push(`${row.name}: ${row.skipped ? 'skipped' : 'INVALID'}, ${row.failure}`)
  }
  const byName = new Map(rows.map(row => [row.name, row]))
  const bare = byName.get(EDGE)?.toFloor
  if (Number.isFinite(bare)) lines.push(`${EDGE} to ${FLOOR}: ${fixed(bare, 3)} (goal: at most 1.15)`)
  const added = 1 / byName.get(BASELINE)?.edgeToIt
  if (Number.isFinite(added)) lines.push(`${BASELINE} to ${EDGE}: ${fixed(added, 3)} (goal: at most 1.15)`)
  return `${lines.join('\n')}\n`
}

function cells(row) {
  const [low, high] = row.toFloorQuartiles
  return [
    row.name,
    fixed(row.cpu, 1),
    fixed(row.toFloor, 3),
    Number.isFinite(low) ? `${fixed(low, 2)}..${fixed(high, 2)}` : '-',
    fixed(row.edgeToIt, 3),
    fixed(row.rate, 0),
    fixed(row.p99, 2),
    fixed(row.share * 100, 0),
    row.skipped ? '-' : row.errors,
  ]
}

function valid(entry) {
  return entry.failure === null
}
