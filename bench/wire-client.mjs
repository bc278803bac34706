/**
 * What a request to an upstream costs over the wire client and over undici, without a server in front: CPU time of this process,
 * in batches that take turns; medians, and the median of the ratios of neighbours.
 * `npm run build && node bench/wire-client.mjs [--batches 40] [--requests 500] [--path /] [--connections 64]`
 */
import { fileURLToPath } from 'node:url'
import { upstream } from '@postern/core'
import { freePort, start, stopAll } from './lib/children.mjs'
import { orUsage, parseFlags, whole } from './lib/flags.mjs'

const usage =
  'usage: node bench/wire-client.mjs [--batches 40] [--requests 500] [--path /] [--connections 64]'
const options = orUsage(usage, () => {
  const flags = parseFlags(process.argv.slice(2), {
    batches: '40',
    requests: '500',
    path: '/',
    connections: '64',
  })
  return {
    batches: whole('batches', flags.batches, 1, 10_000),
    requests: whole('requests', flags.requests, 1, 1_000_000),
    connections: whole('connections', flags.connections, 1, 1000),
    path: flags.path,
  }
})

const port = await freePort()
const origin = await start([
  process.execPath,
  fileURLToPath(new URL('origin.mjs', import.meta.url)),
  '--port',
  `${port}`,
])
if (origin.failure !== null) throw new Error(`the origin: ${origin.failure}`)

const rows = ['undici', 'wire'].map(http1 => {
  const group = upstream({
    name: http1,
    http1,
    targets: [`http://127.0.0.1:${port}`],
    connections: options.connections,
  })
  return { http1, group, connector: group.targets[0].connector, costs: [], bytes: 0 }
})
for (const row of rows) for (let i = 0; i < 10; i++) await batch(row)
for (let i = 0; i < options.batches; i++) {
  for (const row of i % 2 === 0 ? rows : rows.toReversed()) row.costs.push(await batch(row))
}
for (const { http1, costs } of rows) console.log(`${http1.padEnd(8)}${median(costs).toFixed(1)} µs a request`)
const [undici, wire] = rows
if (undici.bytes !== wire.bytes) throw new Error('they did not give the same bytes')
console.log(`wire to undici: ${median(wire.costs.map((cost, i) => cost / undici.costs[i])).toFixed(2)}`)
await Promise.all(rows.map(row => row.group.destroy()))
await stopAll()
process.exit(0)

/** Microseconds of CPU for each request of a batch. */
function batch(row) {
  const before = process.cpuUsage()
  let sent = 0
  let left = options.requests
  return new Promise((resolve, reject) => {
    const next = () => {
      if (left === 0) {
        const { user, system } = process.cpuUsage(before)
        return resolve((user + system) / options.requests)
      }
      if (sent++ < options.requests) send(row, finished, reject)
    }
    const finished = () => {
      left--
      next()
    }
    for (let i = 0; i < options.connections; i++) next()
  })
}

function send(row, done, failed) {
  const headers = ['accept', '*/*', 'user-agent', 'bench', 'x-request-id', 'a1b2c3d4', 'Host', 'a.test']
  row.connector.send(
    { method: 'GET', target: options.path, headers, body: null },
    {
      onInterim() {},
      onHead(status) {
        if (status !== 200) failed(new Error(`status ${status}`))
      },
      onData(bytes) {
        row.bytes += bytes.length
        return true
      },
      onEnd: done,
      onError: failed,
    },
  )
}

function median(list) {
  return list.toSorted((a, b) => a - b)[list.length >> 1]
}
