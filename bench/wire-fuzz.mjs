/**
 * Messages that are wrong in every way, read by the wire and by the parsers of Node, in memory:
 * `npm run build && node bench/wire-fuzz.mjs --side server [--count 1000000] [--seed 1]`. Ends with code 1 at a difference.
 */
import { orUsage, parseFlags, UsageError, whole } from './lib/flags.mjs'
import { fuzzServer } from './lib/wire-fuzz-server.mjs'

/** What is fuzzed: each takes a count and a seed, and tells what it found, `differences` among it. */
const SIDES = { server: fuzzServer }
/** Cases between two lines of output. */
const STEP = 20_000

const usage = `usage: node bench/wire-fuzz.mjs --side ${Object.keys(SIDES).join('|')} [--count 1000000] [--seed 1]`
const { side, count, seed } = orUsage(usage, () => {
  const flags = parseFlags(process.argv.slice(2), { side: undefined, count: '1000000', seed: '1' })
  if (!Object.hasOwn(SIDES, flags.side))
    throw new UsageError(`--side is one of ${Object.keys(SIDES).join(', ')}`)
  return {
    side: flags.side,
    count: whole('count', flags.count, 1, 100_000_000),
    seed: whole('seed', flags.seed, 0, 999_999_999),
  }
})

const total = {}
let differences = 0
for (let done = 0; done < count && differences === 0; done += STEP) {
  const found = await SIDES[side](Math.min(STEP, count - done), seed + done)
  for (const [name, value] of Object.entries(found)) {
    if (typeof value === 'number') total[name] = (total[name] ?? 0) + value
  }
  differences += found.differences.length
  for (const difference of found.differences) console.log(JSON.stringify(difference))
  if (done % (5 * STEP) === 0) console.error(JSON.stringify(total))
}
console.log(JSON.stringify({ side, seed, ...total, differences }))
process.exit(differences === 0 ? 0 : 1)
