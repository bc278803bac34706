/**
 * Fills a cache far beyond its bound and prints what the process has taken for it, divided by the bound, as JSON: `node --expose-gc
 * memory.mjs BYTES_OF_A_BODY [MIB]`. Replies come over sockets, so that the strings and buffers are those of real traffic.
 */
import { Agent, createServer, request } from 'node:http'
import { attach, pipeline, proxy, upstream } from '@postern/core'
import { cache } from '../dist/index.js'

const size = Number(process.argv[2])
const maxBytes = Number(process.argv[3] ?? 16) * 1024 * 1024

const origin = createServer((req, res) => {
  res.writeHead(200, {
    'Cache-Control': 'max-age=600, stale-while-revalidate=60',
    'Content-Type': 'text/plain; charset=utf-8',
    ETag: `"${req.url}"`,
    'Last-Modified': 'Tue, 01 Dec 2026 00:00:00 GMT',
    'Surrogate-Key': `page ${req.url}`,
    'X-Request': `${Math.random()}`,
  })
  res.end(Buffer.alloc(size, 'x'))
})
await new Promise(resolve => origin.listen(0, '127.0.0.1', resolve))
const target = `http://127.0.0.1:${origin.address().port}`
const shared = cache({ maxBytes, maxEntries: 1_000_000 })
const server = createServer()
attach(
  server,
  pipeline()
    .wrap(shared)
    .handle(proxy(upstream({ name: 'o', targets: [target] }))),
)
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
const agent = new Agent({ keepAlive: true, maxSockets: 16 })

function get(path) {
  return new Promise((resolve, reject) => {
    const options = { agent, host: '127.0.0.1', port: server.address().port, path }
    request(options, res => res.resume().on('end', resolve))
      .on('error', reject)
      .end()
  })
}

async function fill(from, to) {
  let next = from
  const worker = async () => {
    while (next < to) await get(`/some/path/to/a/page/${next++}`)
  }
  await Promise.all(Array.from({ length: 16 }, worker))
}

async function taken() {
  for (let i = 0; i < 3; i++) {
    await new Promise(resolve => setTimeout(resolve, 50))
    globalThis.gc()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

// Warm: code, pools and sockets are there before it counts.
await fill(0, 300)
await shared.purge.all()
const before = await taken()
const count = Math.ceil((1.5 * maxBytes) / (size + 1500))
await fill(1000, 1000 + count)
const { bytes, entries } = shared.stats()
const ratio = ((await taken()) - before) / maxBytes
process.stdout.write(`${JSON.stringify({ ratio, accounted: bytes / maxBytes, entries, count })}\n`)
process.exit(0)
