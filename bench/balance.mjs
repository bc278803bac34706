/**
 * What a choice of target costs: `node bench/balance.mjs`. CPU time of this process, in ns a pick, for groups of 2, 10 and 1000
 * targets. The last row is the consistent hash as its formula is written, for comparison.
 */
import { consistentHash, score } from '../packages/core/dist/upstream/balance/consistent-hash.js'
import { hash32, mix32, seedOf } from '../packages/core/dist/upstream/balance/hash.js'
import { leastRequests } from '../packages/core/dist/upstream/balance/least-requests.js'
import { PeakEwma } from '../packages/core/dist/upstream/balance/peak-ewma.js'
import { roundRobin } from '../packages/core/dist/upstream/balance/round-robin.js'
import { twoChoices } from '../packages/core/dist/upstream/balance/two-choices.js'
import { weighted } from '../packages/core/dist/upstream/balance/weighted.js'
import { table } from './lib/table.mjs'

const key = () => 'user-42'
const plainHash = {
  pick: (ready, cx) =>
    ready.reduce((a, b) => {
      const drawn = target => score(target.share(), mix32(hash32(key(cx)) ^ target.seed))
      return drawn(b) > drawn(a) ? b : a
    }),
}
const balancers = {
  'round robin': roundRobin(),
  weighted: weighted(),
  'least requests': leastRequests(),
  'two choices': twoChoices(),
  'consistent hash': consistentHash(key, roundRobin()),
  'the same, as written': plainHash,
}
const SIZES = [2, 10, 1000]

const groups = SIZES.map(size =>
  Array.from({ length: size }, (_, at) => {
    const id = `http://10.0.${at >> 8}.${at & 255}`
    return { id, seed: seedOf(id), inFlight: at % 7, share: () => 1, latency: new PeakEwma(), credit: 0 }
  }),
)
const rows = Object.entries(balancers).map(([name, balancer]) => [
  name,
  ...groups.map(ready => {
    const picks = Math.ceil(2e6 / (ready.length + 10))
    for (let i = 0; i < picks / 4; i++) balancer.pick(ready, {})
    const before = process.cpuUsage()
    for (let i = 0; i < picks; i++) balancer.pick(ready, {})
    const { user, system } = process.cpuUsage(before)
    return (((user + system) * 1000) / picks).toFixed(0)
  }),
])
console.log(table([['ns a pick', ...SIZES.map(size => `${size} targets`)], ...rows]))
