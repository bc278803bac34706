/**
 * Mixed load with every body compared: `npm run build && node bench/cache-mixed.mjs [--seconds 60]`. Ends with code 1 when one
 * answer was wrong, staler than allowed, or the cache held more than its bound.
 */

import { runMix } from './lib/cache-mix.mjs'
import { orUsage, parseFlags, whole } from './lib/flags.mjs'

const seconds = orUsage('usage: cache-mixed.mjs [--seconds S]', () =>
  whole('seconds', parseFlags(process.argv.slice(2), { seconds: '60' }).seconds, 1, 3600),
)
const { faults, counts, most, entries } = await runMix({ seconds })
process.stdout.write(`${JSON.stringify({ ...counts, entries, mostBytes: most })}\n`)
for (const fault of faults) process.stdout.write(`${fault}\n`)
process.exit(faults.length > 0 ? 1 : 0)
