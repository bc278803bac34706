/**
 * The longest that one request can hold up the event loop, with the Core Rule Set at paranoia level 4:
 *
 *     npm run build && CRS_DIR=/usr/share/modsecurity-crs node bench/crs-limits.mjs [--size 65536] [--attacks FILE] [--places a,b] [--every 1]
 *
 * Texts of 64 KB that are meant to be slow, in each place of a request: fragments over and over, texts made of each pattern
 * of the rules, and those of a file that names one a line (rule, kind and strings as in JavaScript, tabs between). Each is
 * measured three times in CPU time, the least counts. The engine only tells (`DetectionOnly`), so that all rules run.
 */
import { readdirSync } from 'node:fs'
import { seclang } from '@postern/waf'
import { builtIn, fromFile, fromRules, PLACES } from './lib/crs-attacks.mjs'
import { rulesOf } from './lib/crs-memory.mjs'
import { names, orUsage, parseFlags, whole } from './lib/flags.mjs'

const BAR = 50
const RUNS = 3
const SHOWN = 15

const { size, attacks, places, every } = orUsage(
  'usage: CRS_DIR=folder node bench/crs-limits.mjs [--size 65536] [--attacks FILE] [--places a,b] [--every 1]',
  () => {
    const known = Object.keys(PLACES)
    const flags = parseFlags(process.argv.slice(2), { size: '65536', attacks: '', places: '', every: '1' })
    return {
      size: whole('size', flags.size, 1, 1_000_000),
      attacks: flags.attacks,
      places: flags.places === '' ? known : names('places', flags.places, known),
      every: whole('every', flags.every, 1, 1000),
    }
  },
)
const folder = process.env.CRS_DIR
if (!folder) {
  process.stderr.write('name the folder of the rule set in CRS_DIR\n')
  process.exit(2)
}

const engine = await seclang({ files: rulesOf(folder), mode: 'DetectionOnly', set: { paranoia: 4 } })
const files = readdirSync(`${folder}/rules`)
  .filter(name => name.endsWith('.conf'))
  .map(name => `${folder}/rules/${name}`)
const texts = [
  ...builtIn(size),
  ...(attacks === '' ? [] : fromFile(attacks, size)),
  ...fromRules(files, size),
].filter((_, index) => index % every === 0)

const results = []
for (const [name, text] of texts) {
  for (const place of places) {
    const request = PLACES[place](text)
    let least = Number.POSITIVE_INFINITY
    for (let run = 0; run < RUNS; run++) {
      const from = process.cpuUsage()
      engine.inspect(request)
      const { user, system } = process.cpuUsage(from)
      least = Math.min(least, (user + system) / 1000)
    }
    results.push({ name, place, least })
  }
}
results.sort((a, b) => b.least - a.least)
const slow = results.filter(({ least }) => least > BAR).length
process.stdout.write(
  `${texts.length} texts of ${size} bytes in ${places.length} places: ${slow} take more than ${BAR} ms\n`,
)
for (const { name, place, least } of results.slice(0, SHOWN)) {
  process.stdout.write(
    `  ${least.toFixed(1).padStart(8)} ms  ${place.padEnd(12)} ${JSON.stringify(name).slice(0, 60)}\n`,
  )
}
for (const place of places) {
  const [worst] = results.filter(result => result.place === place)
  process.stdout.write(`  worst in ${place.padEnd(12)} ${worst.least.toFixed(1)} ms\n`)
}
process.exit(slow === 0 ? 0 : 1)
