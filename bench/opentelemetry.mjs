/**
 * What the filter of OpenTelemetry costs while no SDK is installed: CPU of requests in memory with it and without it, in turns.
 * `node bench/opentelemetry.mjs [rounds]`; the ratio of one run is what counts.
 */
import { pipeline, reply } from '@postern/core'
import { openTelemetry } from '@postern/core/opentelemetry'

const rounds = Number(process.argv[2] ?? 15)
const REQUESTS = 10_000
const without = pipeline().handle(() => reply(200, 'x'))
const filtered = pipeline()
  .use(openTelemetry())
  .handle(() => reply(200, 'x'))

async function cpu(app) {
  const before = process.cpuUsage()
  for (let i = 0; i < REQUESTS; i++) await app.inject()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / REQUESTS
}

const median = list => [...list].sort((a, b) => a - b)[list.length >> 1]
const plain = []
const differences = []
for (let round = 0; round <= rounds; round++) {
  let a
  let b
  if (round % 2) {
    a = await cpu(without)
    b = await cpu(filtered)
  } else {
    b = await cpu(filtered)
    a = await cpu(without)
  }
  if (round === 0) continue
  plain.push(a)
  differences.push(b - a)
}
console.log(
  `a request in memory: ${median(plain).toFixed(2)} µs; the filter adds ${median(differences).toFixed(2)} µs`,
)
