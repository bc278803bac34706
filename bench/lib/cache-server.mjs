/**
 * A server for `cache-hit.mjs`: `node bench/lib/cache-server.mjs --port P --kind bare|map|handler|cache --entries N [--wire yes]` prints
 * `listening` when it accepts. `cache` answers `/0` to `/N-1` from the store; `bare` says the same by node:http alone, `map`
 * by node:http with N answers of their own in a Map, `handler` by a pipeline without a cache.
 */
import { createServer } from 'node:http'
import { cache } from '@postern/cache'
import { attach, HeaderList, pipeline, reply } from '@postern/core'
import { testHead } from '@postern/core/testing'
import { orUsage, parseFlags, whole } from './flags.mjs'

const { port, kind, entries, wire } = orUsage(
  'usage: cache-server.mjs --port P --kind bare|map|handler|cache --entries N',
  () => {
    const flags = parseFlags(process.argv.slice(2), {
      port: undefined,
      kind: 'bare',
      entries: '1000',
      wire: 'no',
    })
    return {
      port: whole('port', flags.port, 0, 65_535),
      kind: flags.kind,
      wire: flags.wire === 'yes',
      entries: whole('entries', flags.entries, 1, 4_000_000),
    }
  },
)

const body = Buffer.alloc(174, 'x')
const fields = {
  'Content-Type': 'text/plain',
  'Content-Length': '174',
  'Cache-Control': 'max-age=86400',
  ETag: '"0123456789abcdef"',
  Server: 'origin',
}

const server = createServer()
const raw = [...Object.entries(fields).flat(), 'Date', new Date().toUTCString(), 'Age', '10']
if (kind === 'bare') {
  server.on('request', (_req, res) => {
    res.writeHead(200, raw)
    res.end(body)
  })
} else if (kind === 'map') {
  // The least that a store of so many answers can be: fields and bytes ready to be sent, found by the target.
  const answers = new Map()
  for (let i = 0; i < entries; i++) {
    const own = [...raw]
    own[7] = `"${(0x123456789abc + i).toString(16).padStart(16, '0')}"`
    answers.set(`/${i}`, { raw: own, body: Buffer.from(body) })
  }
  collect()
  server.on('request', (req, res) => {
    const answer = answers.get(req.url)
    res.writeHead(200, answer.raw)
    res.end(answer.body)
  })
} else if (kind === 'handler') {
  attach(
    server,
    pipeline().handle(() => ({ status: 200, headers: new HeaderList(raw.slice()), body })),
  )
} else {
  // Each entry has bytes of its own, as from a socket.
  const origin = () =>
    reply(200, Buffer.from(body), { headers: { ...fields, Date: new Date().toUTCString() } })
  const app = pipeline()
    .wrap(cache({ maxBytes: 2 ** 32, maxEntries: 2 * entries + 2 }))
    .handle(origin)
  const link = { draining: false, bytesReceived: 0, inform() {} }
  for (let i = 0; i < entries; i++) {
    const headers = new HeaderList(['Host', 'bench'])
    const exchange = app.open(testHead({ path: `/${i}`, authority: 'bench', headers }), null, link)
    const answer = await exchange.run()
    answer.body.start({ write: () => true, end() {}, fail() {} })
    exchange.done(200, 0, null)
  }
  collect()
  attach(server, app, { wire })
}
server.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'))
process.once('SIGTERM', () => process.exit(0))

/** What the filling has left behind is no cost of a hit. */
function collect() {
  for (let i = 0; i < 3; i++) globalThis.gc?.()
}
