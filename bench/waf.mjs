/**
 * What an inspection costs: `npm run build && node bench/waf.mjs`.
 *
 * 1. The CPU time of a typical GET and of a JSON body of 1 KB, readers included: the best of many short rounds, as other work
 *    on the machine can only add to it.
 * 2. How the cost grows from 1 KB to 10 MB, for ordinary text and for texts made to be slow. The slope is that of the line
 *    through the points in a log-log plot: 1 is a straight line through them, 2 would be a square.
 */
import { performance } from 'node:perf_hooks'
import { signatures } from '@postern/waf'

const GET = {
  method: 'GET',
  target: '/products/outdoor/tents?category=family-tents&sort=price_asc&page=3&q=waterproof%20tent%20for%204',
  headers: [
    ['Host', 'shop.example'],
    [
      'User-Agent',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
    ],
    ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'],
    ['Accept-Language', 'en-GB,en;q=0.9,de;q=0.7'],
    ['Accept-Encoding', 'gzip, deflate, br'],
    ['Referer', 'https://shop.example/products/outdoor?utm_source=newsletter&utm_medium=email'],
    ['Cookie', 'session=8f14e45fceea167a5a36dedd4bea2543; _ga=GA1.2.1033501218.1718000000; theme=dark'],
    ['Cache-Control', 'max-age=0'],
    ['Upgrade-Insecure-Requests', '1'],
    ['Sec-Fetch-Mode', 'navigate'],
  ],
}

const ORDER = {
  customer: {
    id: 48213,
    name: 'Anna Schneider',
    email: 'anna.schneider@mail.example',
    address: { street: 'Lindenstraße 12', city: 'Köln', zip: '50674', country: 'DE' },
  },
  items: Array.from({ length: 8 }, (_, i) => ({
    sku: `TNT-${1000 + i}`,
    title: `Trekking pole, pair ${i}, aluminium`,
    quantity: i + 1,
    price: 49.95,
  })),
  note: "Please leave the parcel with the neighbour, Mrs O'Brien, second floor. The bell is broken - knock!",
  coupon: null,
  gift: false,
}
const JSON_1K = {
  method: 'POST',
  target: '/api/orders',
  headers: [
    ['Host', 'shop.example'],
    ['Content-Type', 'application/json'],
    ['Accept', 'application/json'],
  ],
  body: Buffer.from(JSON.stringify(ORDER)),
}

/** Texts without an attack that come close to one again and again, and ordinary ones. */
const FRAGMENTS = {
  prose:
    'Pack my box with five dozen liquor jugs, and leave it by the door; the parcel service comes at noon. ',
  'one letter': 'A',
  base64: 'TG9yZW0gaXBzdW0gZG9sb3I/',
  percent: '%25',
  entities: '&#x',
  escapes: '\\u00',
  'open comments': '/*',
  'closed comments': '/**/',
  quotes: "'",
  spaces: '         ',
  'or after or': "' or ",
  'union without select': 'union all ',
  'open tags': '<a on',
  'handlers without tags': '"/onload=c',
  'template marks': '${',
  separators: ';|&`',
  commands: 'ls ',
  'commands in backticks': '`id',
  dots: '../',
  brackets: '((((',
  'line ends': '\r\n',
}
const SIZES = [1e3, 1e4, 1e5, 1e6, 1e7]

const engines = [signatures({ profile: 'balanced' }), signatures({ profile: 'aggressive' })]

for (const engine of engines) {
  console.log(`${engine.name}`)
  console.log(`  GET, 10 headers, 4 parameters   ${micros(best(engine, GET))}   (goal 15 us)`)
  console.log(
    `  JSON, ${JSON_1K.body.length} bytes                ${micros(best(engine, JSON_1K))}   (goal 30 us)`,
  )
}

console.log(`\n${engines[0].name}: CPU ns a byte at`)
console.log(`${''.padEnd(24)}${SIZES.map(size => label(size).padStart(9)).join('')}    slope`)
let steepest = 0
for (const [name, fragment] of Object.entries(FRAGMENTS)) {
  // The largest first: it warms the code up for the small ones.
  const costs = SIZES.toReversed()
    .map(size => growth(engines[0], fragment, size))
    .toReversed()
  const line = slope(costs)
  steepest = Math.max(steepest, line)
  console.log(
    `${name.padEnd(24)}${costs.map((cost, i) => (cost / SIZES[i]).toFixed(1).padStart(9)).join('')}${line.toFixed(2).padStart(9)}`,
  )
}
console.log(`steepest slope ${steepest.toFixed(2)}`)

/** CPU time of one inspection in nanoseconds: the best of 300 rounds of 40, timed by the clock, as rounds are too short to be cut. */
function best(engine, request) {
  for (let i = 0; i < 5000; i += 1) engine.inspect(request)
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 300; round += 1) {
    const start = performance.now()
    for (let i = 0; i < 40; i += 1) engine.inspect(request)
    least = Math.min(least, ((performance.now() - start) * 1e6) / 40)
  }
  return least
}

/** The same for a text of some size: the best of as many runs as fit into a fifth of a second, two at least. */
function growth(engine, fragment, size) {
  const body = Buffer.from(fragment.repeat(Math.ceil(size / fragment.length)).slice(0, size), 'latin1')
  const request = { method: 'POST', target: '/', headers: [['Content-Type', 'text/plain']], body }
  let least = Number.POSITIVE_INFINITY
  const until = performance.now() + 200
  for (let run = 0; run < 2 || (run < 200 && performance.now() < until); run += 1) {
    const start = process.cpuUsage()
    engine.inspect(request)
    const { user, system } = process.cpuUsage(start)
    // Steps of a microsecond: enough for the small sizes, where the best of many counts.
    least = Math.min(least, (user + system) * 1e3)
  }
  return least
}

/** Slope of the least-squares line through the logarithms. */
function slope(costs) {
  const xs = SIZES.map(Math.log)
  const ys = costs.map(cost => Math.log(Math.max(cost, 1)))
  const [mx, my] = [mean(xs), mean(ys)]
  const over = xs.reduce((sum, x, i) => sum + (x - mx) * (ys[i] - my), 0)
  return over / xs.reduce((sum, x) => sum + (x - mx) ** 2, 0)
}

function mean(list) {
  return list.reduce((sum, x) => sum + x, 0) / list.length
}

function micros(nanos) {
  return `${(nanos / 1e3).toFixed(1)} us`.padStart(9)
}

function label(size) {
  return size >= 1e6 ? `${size / 1e6} MB` : `${size / 1e3} KB`
}
