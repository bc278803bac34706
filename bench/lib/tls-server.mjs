/**
 * The servers of `tls-handshake.mjs`, in one process: what disturbs one disturbs all. Tells their ports, then its CPU time
 * whenever it is asked.
 */
import { createSecureServer } from 'node:http2'
import { attach, pipeline, reply } from '@postern/core'
import { certificates, developmentCertificate, listen, tlsOf } from '@postern/tls'

const pem = developmentCertificate()
const app = pipeline().handle(() => reply(200, 'x'))
const told = pipeline().handle(cx => reply(200, tlsOf(cx).hello.ja4))

async function serve(options, store) {
  const server = createSecureServer({ ...options, allowHTTP1: true })
  attach(server, app)
  store?.protect(server)
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return server.address().port
}

const store = await certificates({ pem })
const bare = { key: pem.key, cert: pem.cert, minVersion: 'TLSv1.3', ecdhCurve: 'X25519:P-256', noDelay: true }
const local = { port: 0, host: '127.0.0.1' }
process.send({
  bare: await serve(bare, null),
  store: await serve(store.serverOptions(), store),
  listen: (await listen(store, app, local)).port,
  'listen+ja4': (await listen(store, told, local)).port,
})
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ microseconds: user + system })
})
process.on('disconnect', () => process.exit(0))
