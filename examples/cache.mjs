// @ts-check
/** A caching edge: memory in front of files, purges by tag, a handler for the operator, decisions in the log. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cache, cacheAdmin, cacheOutcome, fileStore } from '@postern/cache'
import { accessLog, attach, baseline, ipAccess, pipeline, proxy, upstream } from '@postern/core'

// The origin counts its answers, so that one sees which are new.
let answers = 0
const origin = createServer((req, res) => {
  answers++
  res.setHeader('Cache-Tag', 'pages')
  if (req.url === '/private') res.setHeader('Cache-Control', 'private')
  else res.setHeader('Cache-Control', 'max-age=60, stale-while-revalidate=600')
  res.end(`answer ${answers}\n`)
})
await new Promise(resolve => origin.listen(0, '127.0.0.1', () => resolve(null)))
const { port: originPort } = /** @type {import('node:net').AddressInfo} */ (origin.address())
const site = upstream({ name: 'site', targets: [`http://127.0.0.1:${originPort}`] })

// A folder that outlives the process in earnest; here it is thrown away.
const folder = mkdtempSync(join(tmpdir(), 'postern-cache-'))
const shared = cache({
  maxBytes: 256 * 1024 * 1024,
  store: await fileStore({ folder, maxBytes: 4 * 1024 * 1024 * 1024 }),
  // Parameters of campaigns make no other page.
  key: { query: { deny: ['utm_source', 'utm_medium', 'utm_campaign'] } },
  cacheStatus: 'edge',
  negative: { 404: 5 },
  fingerprinted: /^\/assets\/.+\.[0-9a-f]{8,}\.\w+$/,
})

const app = pipeline()
  .use(accessLog())
  .use(cacheOutcome())
  .use(baseline({ hosts: ['localhost', '127.0.0.1'] }))
  // Who may purge is a matter of gates.
  .route('GET,POST /cache', r => r.use(ipAccess({ allow: ['loopback'] })).handle(cacheAdmin(shared)))
  .wrap(shared)
  .handle(proxy(site))

const server = createServer()
const attached = attach(server, app)
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`listening on http://127.0.0.1:${port}`)
})
process.once('SIGTERM', async () => {
  await attached.drain(5000)
  await shared.close()
  rmSync(folder, { recursive: true })
  process.exit(0)
})

// curl -si 'http://127.0.0.1:8080/page?utm_source=x'                     Cache-Status: edge; fwd=uri-miss; stored
// curl -si http://127.0.0.1:8080/page                                    Cache-Status: edge; hit; ttl=59
// curl -si http://127.0.0.1:8080/private                                 Cache-Status: edge; fwd=uri-miss; detail=private
// curl -s http://127.0.0.1:8080/cache                                    what is held
// curl -s http://127.0.0.1:8080/cache -H 'Content-Type: application/json' -d '{"tags":["pages"]}'   {"purged":1}
// curl -si http://127.0.0.1:8080/page                                    a new answer
