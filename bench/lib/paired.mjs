/**
 * Compares what servers of one process cost. Rounds are short, their order changes, and each server's cost stands beside the
 * base's of the same round, so what disturbs the machine for a while disturbs both. CPU time is read from outside, in
 * nanoseconds, when the process rests.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { quantile, ratios } from './stats.mjs'

/** CPU time of a process so far, all its threads, in µs. */
export function cpuOf(pid) {
  let nanoseconds = 0
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    // A thread that ends between the two calls has nothing to do with the work.
    try {
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ')[0])
    } catch {}
  }
  return nanoseconds / 1000
}

/** Waits until the process does nothing: what is left of a round belongs to it, not to the next one. */
async function rest(pid) {
  for (let before = -1; ; ) {
    const now = cpuOf(pid)
    if (now - before < 50) return now
    before = now
    await sleep(2)
  }
}

/**
 * Runs `load(kind, units)` for each kind, `rounds` times. `settle` is called before each measurement, for example to collect
 * garbage, so that no kind pays for another one's.
 * @returns for each kind, µs a unit in each round.
 */
export async function measure({ pid, kinds, rounds, units, load, settle }) {
  const costs = Object.fromEntries(kinds.map(kind => [kind, []]))
  for (const kind of kinds) await load(kind, units * 10)
  for (let round = 0; round < rounds; round++) {
    for (const kind of orderOf(kinds, round)) {
      await settle()
      // What the one before has left in caches is not this one's fault, nor its merit.
      await load(kind, Math.ceil(units / 5))
      const before = await rest(pid)
      await load(kind, units)
      costs[kind].push(((await rest(pid)) - before) / units)
    }
  }
  return costs
}

/** Each kind comes at each place, and behind each other one as often as behind any. */
function orderOf(kinds, round) {
  const from = round % kinds.length
  const order = [...kinds.slice(from), ...kinds.slice(0, from)]
  return Math.floor(round / kinds.length) % 2 === 0 ? order : order.toReversed()
}

/**
 * A line for a kind: its cost, and what it is to the base. The interval holds the median of the ratios with a chance of 95 % (its
 * ranks follow the binomial distribution); `low` compares the cheapest tenth of the rounds, which nobody disturbed.
 */
export function line(kind, costs, base) {
  const shares = ratios(costs[kind], costs[base])
  const spread = Math.sqrt(shares.length) / shares.length
  const at = share => quantile(shares, Math.min(1, Math.max(0, share))).toFixed(3)
  const low = quantile(costs[kind], 0.1) / quantile(costs[base], 0.1)
  return [
    kind.padEnd(20),
    `${quantile(costs[kind], 0.5).toFixed(1).padStart(8)} µs`,
    `to ${base}: ${at(0.5)} (95 %: ${at(0.5 - spread)}..${at(0.5 + spread)}, quartiles ${at(0.25)}..${at(0.75)})`,
    `low ${low.toFixed(3)}`,
  ].join('  ')
}
