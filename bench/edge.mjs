/**
 * One edge process with named features, for benchmarks and outside testers.
 *
 * `node bench/edge.mjs --port P --origin URL [--with NAME,NAME…]` prints `listening` when it accepts.
 * SIGTERM and SIGINT drain it.
 */
import { createServer } from 'node:http'
import { createSecureServer } from 'node:http2'
import { cache } from '@postern/cache'
import { attach, baseline, pipeline, proxy, upstream } from '@postern/core'
import { certificates, developmentCertificate } from '@postern/tls'
import { signatures, waf } from '@postern/waf'
import { httpOrigin, names, orUsage, parseFlags, whole } from './lib/flags.mjs'

/** What each name adds to the pipeline, in the order in which the names are given. */
const FEATURES = {
  none: edge => edge,
  baseline: edge => edge.use(baseline()),
  'waf-balanced': edge => edge.use(waf(signatures({ profile: 'balanced' }), { maxBody: 16 << 20 })),
  'waf-aggressive': edge =>
    edge.use(waf(signatures({ profile: 'aggressive' }), { maxBody: 16 << 20, as: 'strict' })),
  // Cookies are stored as RFC 9111 has it: what the public test suite asks for. The default is stricter.
  cache: edge => edge.wrap(cache({ setCookie: 'store' })),
  // HTTPS with HTTP/2 and HTTP/1.1, a certificate for localhost made on the spot: see the server below.
  tls: edge => edge,
}

const usage = `usage: node bench/edge.mjs --port P --origin URL [--with NAME,NAME…]
names: ${Object.keys(FEATURES).join(', ')}`

const { port, origin, features } = orUsage(usage, () => {
  const flags = parseFlags(process.argv.slice(2), { port: undefined, origin: undefined, with: 'none' })
  return {
    port: whole('port', flags.port, 0, 65_535),
    origin: httpOrigin('origin', flags.origin),
    features: names('with', flags.with, Object.keys(FEATURES)),
  }
})

const group = upstream({ name: 'origin', targets: [origin] })
const app = features.reduce((edge, name) => FEATURES[name](edge), pipeline()).handle(proxy(group))
const tls = features.includes('tls') ? await certificates({ pem: developmentCertificate() }) : null
const server = tls ? createSecureServer({ ...tls.serverOptions(), allowHTTP1: true }) : createServer()
const edge = attach(server, app)
tls?.protect(server)
server.on('error', error => {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})
server.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'))

async function stop() {
  await edge.drain()
  tls?.close()
  await group.close()
  process.exit(0)
}
process.once('SIGTERM', stop)
process.once('SIGINT', stop)
