import { PerformanceObserver } from 'node:perf_hooks'
import { cache } from '@postern/cache'
import { HeaderList, KeptBody, pipeline, reply } from '@postern/core'
import { testHead } from '@postern/core/testing'

const mode = process.argv[2]
const g = []
new PerformanceObserver(l => {
  for (const e of l.getEntries()) g.push([e.detail.kind, e.duration])
}).observe({ entryTypes: ['gc'] })
const raw = ['Content-Type', 'text/plain', 'Content-Length', '174']
const body = new KeptBody('x'.repeat(174))
const P = await import('../packages/cache/dist/exchange/engine.js')
const app =
  mode === 'cache'
    ? pipeline()
        .wrap(cache())
        .handle(() =>
          reply(200, 'x'.repeat(174), { headers: { 'Cache-Control': 'max-age=1000', ETag: '"a"' } }),
        )
    : pipeline().handle(() => ({ status: 200, headers: new HeaderList([...raw, 'Age', '1']), body }))
const link = { draining: false, bytesReceived: 0, inform() {} }
const N = 100000
const paths = Array.from({ length: 1000 }, (_, i) => `/${i}`)
for (let r = 0; r < 5; r++) {
  const c = process.cpuUsage()
  for (let i = 0; i < N; i++) {
    if (mode === 'head') {
      testHead({ path: paths[i % 1000], authority: 'bench', headers: new HeaderList(['Host', 'bench']) })
      if ((i & 1023) === 0) await new Promise(r => setImmediate(r))
      continue
    }
    const exchange = app.open(
      testHead({ path: paths[i % 1000], authority: 'bench', headers: new HeaderList(['Host', 'bench']) }),
      null,
      link,
    )
    const answer = exchange.run()
    if (answer instanceof Promise) (await answer).body.start({ write: () => true, end() {}, fail() {} })
    exchange.done(200, 0, null)
    if ((i & 1023) === 0) await new Promise(r => setImmediate(r))
  }
  const d = process.cpuUsage(c)
  await new Promise(r => setTimeout(r, 60))
  const s = g.filter(x => x[0] === 1).map(x => x[1])
  console.log(
    mode,
    'us/hit',
    ((d.user + d.system) / N).toFixed(2),
    'scav',
    s.length,
    'avg ms',
    (s.reduce((a, b) => a + b, 0) / s.length).toFixed(2),
  )
  g.length = 0
}
