/**
 * One edge process with named features, for benchmarks and outside testers.
 *
 * `node bench/edge.mjs --port P --origin URL [--with NAME,NAME…] [--queue N]` prints `listening` when it accepts.
 * SIGTERM and SIGINT drain it.
 */
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { createSecureServer } from 'node:http2'
import { cache } from '@postern/cache'
import { attach, baseline, compress, pipeline, proxy, upstream } from '@postern/core'
import { openTelemetry } from '@postern/core/opentelemetry'
import { certificates, developmentCertificate } from '@postern/tls'
import { seclang, signatures, waf } from '@postern/waf'
import { httpOrigin, names, orUsage, parseFlags, whole } from './lib/flags.mjs'

/** What each name adds to the pipeline, in the order in which the names are given. */
const FEATURES = {
  none: edge => edge,
  baseline: edge => edge.use(baseline()),
  'waf-balanced': edge => edge.use(waf(signatures({ profile: 'balanced' }), { maxBody: 16 << 20 })),
  'waf-aggressive': edge =>
    edge.use(waf(signatures({ profile: 'aggressive' }), { maxBody: 16 << 20, as: 'strict' })),
  // The OWASP Core Rule Set of the folder CRS_DIR (crs-setup.conf or its example, and rules/), at the paranoia level CRS_PL.
  crs: async edge => edge.use(waf(await coreRuleSet(), { maxBody: 13_107_200 })),
  // Cookies are stored as RFC 9111 has it: what the public test suite asks for. The default is stricter.
  cache: edge => edge.wrap(cache({ setCookie: 'store' })),
  // Replies compressed for clients that take it; in front of a cache, whatever the order of the names.
  compress: edge => edge.use(compress()),
  // Spans and metrics of OpenTelemetry; without an SDK, as here, what is left of them.
  opentelemetry: edge => edge.use(openTelemetry()),
  // HTTPS with HTTP/2 and HTTP/1.1, a certificate for localhost made on the spot: see the server below.
  tls: edge => edge,
  // HTTP/1.1 of clients on raw sockets: see the server below.
  wire: edge => edge,
}

const usage = `usage: node bench/edge.mjs --port P --origin URL [--with NAME,NAME…] [--queue N]
names: ${Object.keys(FEATURES).join(', ')}`

const { port, origin, features, queue } = orUsage(usage, () => {
  const flags = parseFlags(process.argv.slice(2), {
    port: undefined,
    origin: undefined,
    with: 'none',
    queue: '0',
  })
  return {
    port: whole('port', flags.port, 0, 65_535),
    origin: httpOrigin('origin', flags.origin),
    queue: whole('queue', flags.queue, 0, 1_000_000),
    features: names('with', flags.with, Object.keys(FEATURES)),
  }
})

const group = upstream({ name: 'origin', targets: [origin], ...(queue > 0 ? { queue } : {}) })
let pipe = pipeline()
for (const name of features) pipe = await FEATURES[name](pipe)
const app = pipe.handle(proxy(group))
const tls = features.includes('tls') ? await certificates({ pem: developmentCertificate() }) : null
const server = tls ? createSecureServer({ ...tls.serverOptions(), allowHTTP1: true }) : createServer()
const edge = attach(server, app, { wire: features.includes('wire') })
tls?.protect(server)
server.on('error', error => {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})
server.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'))

function coreRuleSet() {
  const folder = process.env.CRS_DIR
  if (!folder) {
    process.stderr.write('crs: name the folder of the rule set in CRS_DIR\n')
    process.exit(2)
  }
  const setup = ['crs-setup.conf', 'crs-setup.conf.example'].map(name => `${folder}/${name}`).find(existsSync)
  const files = [...(setup ? [setup] : []), `${folder}/rules/*.conf`]
  return seclang({ files, set: { paranoia: Number(process.env.CRS_PL ?? 1) } })
}

async function stop() {
  await edge.drain()
  tls?.close()
  await group.close()
  process.exit(0)
}
process.once('SIGTERM', stop)
process.once('SIGINT', stop)
