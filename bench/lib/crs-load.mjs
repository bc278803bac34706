/** Loads a rule set and prints the CPU time it took and the memory that the engine holds: `node --expose-gc … FOLDER LEVEL`. */
import { seclang } from '@postern/waf'
import { rulesOf } from './crs-memory.mjs'
import { get, numbers, post } from './crs-requests.mjs'

const [folder, level] = process.argv.slice(2)
const before = used()
const cpu = process.cpuUsage()
const engine = await seclang({ files: rulesOf(folder), set: { paranoia: Number(level) } })
const { user, system } = process.cpuUsage(cpu)
const loaded = used() - before
const next = numbers(3)
for (let i = 0; i < 1500; i++) {
  engine.inspect(get(next, i))
  engine.inspect(post(next, i))
}
const megabytes = bytes => Math.round(bytes / 2 ** 20)
process.stdout.write(
  JSON.stringify({
    milliseconds: Math.round((user + system) / 1000),
    loaded: megabytes(loaded),
    used: megabytes(used() - before),
    rules: engine.rules,
  }),
)

/** Bytes of the heap and of buffers outside it. */
function used() {
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
