/** One server of `tls-handshake.mjs`. Tells its port, then its CPU time whenever it is asked. */
import { createSecureServer } from 'node:http2'
import { attach, pipeline, reply } from '@postern/core'
import { certificates, developmentCertificate, listen, tlsOf } from '@postern/tls'

const kind = process.argv[2]
const pem = developmentCertificate()
const app = pipeline().handle(cx => {
  if (kind === 'listen+ja4' && tlsOf(cx).hello.ja4 === '') throw new Error('no fingerprint')
  return reply(200, 'x')
})

async function start() {
  if (kind === 'listen' || kind === 'listen+ja4') {
    const front = await listen(await certificates({ pem }), app, { port: 0, host: '127.0.0.1' })
    return front.port
  }
  const store = kind === 'store' ? await certificates({ pem }) : null
  const base = store
    ? store.serverOptions()
    : { key: pem.key, cert: pem.cert, minVersion: 'TLSv1.3', ecdhCurve: 'X25519:P-256', noDelay: true }
  const server = createSecureServer({ ...base, allowHTTP1: true })
  attach(server, app)
  store?.protect(server)
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return server.address().port
}

process.send({ port: await start() })
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ microseconds: user + system })
})
process.on('disconnect', () => process.exit(0))
