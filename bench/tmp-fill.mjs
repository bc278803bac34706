import { PerformanceObserver } from 'node:perf_hooks'
import { cache } from '@postern/cache'
import { HeaderList, pipeline, reply } from '@postern/core'
import { testHead } from '@postern/core/testing'

const entries = +process.argv[2]
const body = Buffer.alloc(174, 'x')
const fields = {
  'Content-Type': 'text/plain',
  'Content-Length': '174',
  'Cache-Control': 'max-age=86400',
  ETag: '"0123456789abcdef"',
  Server: 'origin',
}
const g = []
new PerformanceObserver(l => {
  for (const e of l.getEntries()) g.push([e.detail.kind, e.duration])
}).observe({ entryTypes: ['gc'] })
const origin = () => reply(200, Buffer.from(body), { headers: { ...fields, Date: new Date().toUTCString() } })
const shared = cache({ maxBytes: 2 ** 32, maxEntries: 2 * entries + 2 })
const app = pipeline().wrap(shared).handle(origin)
const link = { draining: false, bytesReceived: 0, inform() {} }
const sink = { write: () => true, end() {}, fail() {}, readsOnly: true }
let c = process.cpuUsage()
for (let i = 0; i < entries; i++) {
  const headers = new HeaderList(['Host', 'bench'])
  const exchange = app.open(testHead({ path: `/${i}`, authority: 'bench', headers }), null, link)
  const answer = await exchange.run()
  answer.body.start(sink)
  exchange.done(200, 0, null)
}
const cpu = () => {
  const d = process.cpuUsage(c)
  c = process.cpuUsage()
  return d.user + d.system
}
console.log('fill us/entry', (cpu() / entries).toFixed(1), 'gc', g.length, JSON.stringify(g.slice(-3)))
await new Promise(r => setTimeout(r, 100))
if (process.argv[3]) {
  for (let i = 0; i < 3; i++) gc()
}
await new Promise(r => setTimeout(r, 100))
console.log(
  'gc',
  g.length,
  g
    .filter(x => x[0] === 1)
    .slice(-3)
    .map(x => x[1].toFixed(1))
    .join(),
  process.memoryUsage(),
)
g.length = 0
cpu()
const N = 100000
for (const keys of [1000, entries]) {
  for (let r = 0; r < 3; r++) {
    cpu()
    for (let i = 0; i < N; i++) {
      const k = Math.floor(Math.random() * keys)
      const headers = new HeaderList(['Host', 'bench'])
      const exchange = app.open(testHead({ path: `/${k}`, authority: 'bench', headers }), null, link)
      const answer = exchange.run()
      exchange.done(200, 0, null)
      if ((i & 1023) === 0) await new Promise(r => setImmediate(r))
    }
    const u = cpu() / N
    await new Promise(r => setTimeout(r, 60))
    const s = g.filter(x => x[0] === 1).map(x => x[1])
    console.log(
      keys,
      'us/hit',
      u.toFixed(2),
      'scav',
      s.length,
      'avg ms',
      (s.reduce((a, b) => a + b, 0) / s.length).toFixed(2),
    )
    g.length = 0
  }
}
