// @ts-check
/** An edge composed in code: hosts, routes, gates of single routes, rate limits, cross-origin rules. */
import { createServer } from 'node:http'
import {
  accessLog,
  attach,
  baseline,
  bodyLimit,
  cors,
  ipAccess,
  methods,
  pipeline,
  proxy,
  rateLimit,
  reply,
  securityHeaders,
  upstream,
} from '@postern/core'
import { startDemoOrigin } from './demo-origin.mjs'

const origin = await startDemoOrigin()
const site = upstream({ name: 'site', targets: [origin.url] })
const api = upstream({ name: 'api', targets: [origin.url], timeouts: { head: 5000 } })

const app = pipeline()
  .use(accessLog({ skip: (_cx, outcome) => outcome.filter === 'health' }))
  // Body limits differ from route to route, so each has its own.
  .use(baseline({ hosts: ['localhost', '127.0.0.1', 'admin.localhost'], bodyLimit: false }))
  .use(rateLimit({ perSecond: 50, burst: 100 }))

  // Another host name, another app: for this machine only.
  .host('admin.localhost', admin =>
    admin
      .use(ipAccess({ allow: ['loopback'] }))
      .use(bodyLimit({ max: 1 << 20 }))
      .use(securityHeaders({ frameOptions: 'DENY', contentSecurityPolicy: "default-src 'self'" }))
      .handle(proxy(site)),
  )

  // Scripts of one other site may call the API; each API key has a limit of its own, and bodies are small.
  .route('/echo', r =>
    r
      .use(cors({ origins: ['https://app.example.com'] }))
      .use(rateLimit({ name: 'api', as: 'apiRate', perSecond: 1, burst: 10, by: { apiKey: 'X-API-Key' } }))
      .use(bodyLimit({ max: 1024 }))
      .handle(proxy(api)),
  )

  // A route without an upstream. Its parameter is typed: cx.params.id is a string, cx.params.name does not compile.
  .route('GET /users/:id', r =>
    r.handle(cx => reply(200, `user ${cx.params.id}, request ${cx.state.requestId}\n`)),
  )

  // What is left is a site to read: no other methods, no bodies.
  .route('/*', r =>
    r
      .use(methods({ allow: ['GET', 'HEAD'] }))
      .use(bodyLimit({ max: 0 }))
      .handle(proxy(site)),
  )
  .handle()

const server = createServer()
const attached = attach(server, app)
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`listening on http://127.0.0.1:${port}`)
})
process.once('SIGTERM', async () => {
  await attached.drain(5000)
  process.exit(0)
})

// curl -i http://127.0.0.1:8080/users/7
// curl -i http://127.0.0.1:8080/ -H 'Host: admin.localhost'                         a policy of its own
// curl -i http://127.0.0.1:8080/ -H 'Host: elsewhere.example'                       421
// curl -i http://127.0.0.1:8080/ -X DELETE                                          405, Allow: GET, HEAD
// curl -i http://127.0.0.1:8080/echo -H 'Origin: https://app.example.com'           may be read by that site
// head -c 2000 /dev/zero | curl -i http://127.0.0.1:8080/echo --data-binary @-      413
// curl -so /dev/null -w '%{http_code} ' -H 'X-API-Key: k' 'http://127.0.0.1:8080/echo?[1-20]'     ten pass, then 429
