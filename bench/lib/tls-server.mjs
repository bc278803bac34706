/**
 * The servers of `tls-handshake.mjs` and `tls-after.mjs`, in one process: what disturbs one disturbs all. Tells their ports, then
 * collects its garbage whenever it is asked. All have one certificate and the same versions, suites and groups; `again` is the base
 * once more, to show what the method itself cannot tell apart.
 */
import { createSecureServer } from 'node:http2'
import { createServer } from 'node:tls'
import { attach, pipeline, reply } from '@postern/core'
import { certificates, developmentCertificate, listen } from '@postern/tls'

const pem = developmentCertificate()
const store = await certificates({ pem, watch: 0 })
const ours = store.serverOptions()
const bare = { key: pem.key, cert: pem.cert, noDelay: true }
for (const name of ['minVersion', 'ciphers', 'ecdhCurve', 'sigalgs', 'honorCipherOrder', 'secureOptions']) {
  bare[name] = ours[name]
}
const app = pipeline().handle(() => reply(200, 'x'.repeat(100)))

async function open(server, guarded) {
  if (guarded) store.protect(server)
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return server.address().port
}

/** Node's TLS alone. Whatever comes is sent back. */
const plain = (options, guarded) =>
  open(
    createServer(options, socket => {
      socket.on('error', () => {})
      socket.pipe(socket)
    }),
    guarded,
  )

const web = (options, guarded) => {
  const server = createSecureServer({ ...options, allowHTTP1: true })
  attach(server, app)
  return open(server, guarded)
}

const local = { port: 0, host: '127.0.0.1' }
const alpn = { ALPNProtocols: ['h2', 'http/1.1'] }
process.send({
  tls: await plain({ ...bare, ...alpn }, false),
  'tls by default': await plain({ key: pem.key, cert: pem.cert, noDelay: true, ...alpn }, false),
  'tls again': await plain({ ...bare, ...alpn }, false),
  'tls + store': await plain(ours, true),
  http2: await web(bare, false),
  'http2 again': await web(bare, false),
  'http2 + store': await web(ours, true),
  listen: (await listen(store, app, local)).port,
  'listen + ja4': (await listen(store, app, { ...local, gate: hello => hello.ja4 !== '' })).port,
})
process.on('message', () => {
  // The young only: a whole collection drops the shapes of objects that are all gone, and with them the code made for them.
  globalThis.gc({ type: 'minor' })
  process.send('done')
})
process.on('disconnect', () => process.exit(0))
