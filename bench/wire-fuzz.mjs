/**
 * Mutated messages against the parsers of the wire, and the same against Node's own: it agrees, or it refuses.
 * `npm run build && node bench/wire-fuzz.mjs --side server|client [--count 1000000] [--seed 0]`. Ends with code 1 at a difference.
 */
import { readAnswer } from '../packages/core/dist/wire/client/read-answer.js'
import { names, orUsage, parseFlags, whole } from './lib/flags.mjs'
import { compareAnswers, compareWithUndici } from './lib/wire-fuzz-client.mjs'
import { fuzzServer } from './lib/wire-fuzz-server.mjs'

const SIDES = { client, server }
/** Messages between two lines of output, and how many of them undici reads, too. */
const STEP = 50_000
const BY_UNDICI = 500

const usage = `usage: node bench/wire-fuzz.mjs --side ${Object.keys(SIDES).join('|')} [--count 1000000] [--seed 0]`
const { sides, count, seed } = orUsage(usage, () => {
  const flags = parseFlags(process.argv.slice(2), { side: undefined, count: '1000000', seed: '0' })
  return {
    sides: names('side', flags.side, Object.keys(SIDES)),
    count: whole('count', flags.count, 1, 100_000_000),
    seed: whole('seed', flags.seed, 0, 999_999_999),
  }
})

let differences = 0
for (const side of sides) {
  for (let done = 0; done < count; done += STEP) {
    const found = await SIDES[side](Math.min(STEP, count - done), seed + done)
    console.log(
      JSON.stringify({
        side,
        done: Math.min(count, done + STEP),
        ...found.seen,
        differences: found.differences.length,
      }),
    )
    for (const difference of found.differences.slice(0, 10)) console.log(difference)
    differences += found.differences.length
  }
}
process.exit(differences === 0 ? 0 : 1)

async function client(count, seed) {
  const byNode = compareAnswers(readAnswer, count, seed)
  const byUndici = await compareWithUndici(readAnswer, Math.min(count, BY_UNDICI), seed)
  return {
    seen: { ...byNode.seen, byUndici: byUndici.compared },
    differences: [...byNode.differences, ...byUndici.differences],
  }
}

async function server(count, seed) {
  const { differences, ...seen } = await fuzzServer(count, seed)
  return { seen, differences: differences.map(one => JSON.stringify(one)) }
}
