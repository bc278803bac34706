/**
 * What the baseline's hooks cost, one by one: `npm run build && node bench/baseline-gates.mjs [seconds a hook]`.
 *
 * Each hook runs in a loop on contexts like those of a browser's request; what the loop itself costs (a fresh copy of
 * the field lines) is measured too and taken off. Numbers are nanoseconds, the median of several rounds.
 */
import { baseline } from '../packages/core/dist/gates/baseline.js'
import { HeaderList } from '../packages/core/dist/headers/list.js'
import { pipeline } from '../packages/core/dist/pipeline/pipeline.js'
import { testContext } from '../packages/core/dist/testing/index.js'

const ROUNDS = 9
const seconds = Number(process.argv[2] ?? 1)

const REQUEST = [
  ...[
    'Host',
    'shop.example',
    'User-Agent',
    'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
  ],
  ...['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ...['Accept-Language', 'en-US,en;q=0.5', 'Accept-Encoding', 'gzip, deflate, br, zstd'],
  ...['Connection', 'keep-alive', 'Cookie', 'session=0123456789abcdef; theme=dark'],
  ...['Sec-Fetch-Dest', 'document', 'Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Site', 'none'],
]
const REPLY = [
  ...[
    'Server',
    'origin/1.0',
    'Date',
    'Tue, 01 Dec 2026 00:00:00 GMT',
    'Content-Type',
    'text/html; charset=utf-8',
  ],
  ...['Content-Length', '1234', 'Cache-Control', 'max-age=60', 'ETag', '"abc"', 'Vary', 'Accept-Encoding'],
  ...['Set-Cookie', 'a=b; Secure', 'X-Powered-By', 'origin'],
]

const filters = flatten(baseline({ hosts: ['shop.example', 'www.shop.example'] }).parts)
const contexts = Array.from({ length: 64 }, (_, i) => {
  const state = Object.assign({}, ...filters.map(filter => filter.state?.() ?? {}))
  const headers = new HeaderList(fresh(REQUEST))
  return testContext(
    { path: `/products/${i}?page=2&sort=price`, authority: 'shop.example', scheme: 'https', headers },
    state,
  )
})
for (const cx of contexts) for (const filter of filters) filter.onRequest?.(cx)

const loop = {
  onRequest: median(() => 0),
  onForward: median(
    cx => ({ headers: copy(REQUEST), method: 'GET', target: cx.request.target }).headers.raw.length,
  ),
  onReply: median(() => ({ status: 200, headers: copy(REPLY), body: null }).headers.raw.length),
}
let total = 0
for (const filter of filters) {
  const row = []
  for (const hook of ['state', 'onRequest', 'onForward', 'onReply']) {
    const run = filter[hook]
    if (run === undefined) continue
    const cost = Math.max(0, costOf(hook, run))
    total += cost
    row.push(`${hook} ${cost.toFixed(0)}`)
  }
  console.log(`${filter.name.padEnd(20)} ${row.join(', ')}`)
}
console.log(`${'sum of the hooks'.padEnd(20)} ${total.toFixed(0)} ns a request`)

const bare = exchangeCost(pipeline())
const gated = exchangeCost(pipeline().use(baseline({ hosts: ['shop.example', 'www.shop.example'] })))
console.log(
  `${'whole exchange'.padEnd(20)} bare ${bare.toFixed(0)}, baseline ${gated.toFixed(0)} ns; no forward hooks`,
)

function costOf(hook, run) {
  if (hook === 'state') return median(() => run()) - loop.onRequest
  if (hook === 'onRequest') return median(cx => run(cx)) - loop.onRequest
  if (hook === 'onForward') {
    return (
      median(cx => run(cx, { headers: copy(REQUEST), method: 'GET', target: cx.request.target })) -
      loop.onForward
    )
  }
  return median(cx => run(cx, { status: 200, headers: copy(REPLY), body: null })) - loop.onReply
}

/** An exchange as a transport runs it, with a handler that answers at once. */
function exchangeCost(start) {
  const app = start.handle(() => ({ status: 200, headers: copy(REPLY), body: null }))
  const link = { draining: false, bytesReceived: 0, inform() {} }
  return median(cx => {
    const exchange = app.open(cx.request, null, link, null)
    exchange.run()
    exchange.done(200, 0, null)
  })
}

function median(step) {
  const results = []
  let count = 1 << 12
  for (let round = 0; round < ROUNDS; round++) {
    const from = process.hrtime.bigint()
    let sink = 0
    for (let i = 0; i < count; i++) if (step(contexts[i & 63]) !== undefined) sink++
    const spent = Number(process.hrtime.bigint() - from)
    if (sink === -1) throw new Error('unreachable')
    results.push(spent / count)
    count = Math.max(1 << 12, Math.min(1 << 22, Math.round((count * seconds * 1e9) / ROUNDS / spent)))
  }
  return results.sort((a, b) => a - b)[ROUNDS >> 1]
}

function flatten(parts) {
  return parts.flatMap(part => (part.parts ? flatten(part.parts) : [part]))
}

function copy(lines) {
  return new HeaderList(lines.slice())
}

/** Strings as a parser makes them: not the literals of this file, whose hashes and shapes the engine knows. */
function fresh(lines) {
  return lines.map(text => Buffer.from(text, 'latin1').toString('latin1'))
}
