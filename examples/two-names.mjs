// @ts-check
/**
 * Two names on one port: `public.localhost` for everybody, `admin.localhost` only with a client certificate. The folder
 * of certificates is watched: replace a file, and the next handshake has the new one.
 *
 * An empty folder, or none, is filled with certificates for trying: `node examples/two-names.mjs [FOLDER]`.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline, reply } from '@postern/core'
import {
  certificates,
  clientIdentity,
  developmentCertificate,
  developmentClient,
  listen,
  tlsOf,
} from '@postern/tls'

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'postern-two-names-'))
if (!existsSync(join(folder, 'servers'))) fill(folder)
const serverCerts = join(folder, 'servers')

const tls = await certificates({
  dir: serverCerts,
  default: 'public.localhost',
  // Looked at each second, so that the example is quick; 30 seconds is the default.
  watch: 1000,
  clients: {
    'admin.localhost': { mode: 'required', ca: readFileSync(join(folder, 'clients-ca.pem')) },
  },
  log: event => console.log(`${event.level} ${event.kind}: ${event.message}`),
})

const app = pipeline()
  .use(clientIdentity())
  .host('admin.localhost', host =>
    host.handle(cx => reply(200, `admin: ${cx.state.client?.fingerprint256.slice(0, 16)}…\n`)),
  )
  .handle(cx => {
    const facts = tlsOf(cx)
    return reply(200, `public: ${facts?.protocol}, ${facts?.alpn}, JA4 ${facts?.hello?.ja4}\n`)
  })

const port = Number(process.env.PORT ?? 8443)
const front = await listen(tls, app, { port, host: '127.0.0.1', redirectPort: port || 8443 })
console.log(`certificates in ${folder}`)
console.log(`listening on https://127.0.0.1:${front.port}`)
process.once('SIGTERM', async () => {
  tls.close()
  await front.drain(5000)
  process.exit(0)
})

/** A certificate for each name, and a client with its authority. */
function fill(/** @type {string} */ into) {
  mkdirSync(join(into, 'servers'), { recursive: true })
  for (const name of ['public', 'admin']) {
    const { key, cert } = developmentCertificate({ names: [`${name}.localhost`] })
    writeFileSync(join(into, 'servers', `${name}.pem`), cert + key, { mode: 0o600 })
  }
  const client = developmentClient({ subject: 'admin' })
  writeFileSync(join(into, 'client.pem'), client.cert + client.key, { mode: 0o600 })
  writeFileSync(join(into, 'clients-ca.pem'), client.ca)
}

// In a folder of your own: node examples/two-names.mjs ./two-names
// curl -k https://public.localhost:8443/
// curl -k --cert ./two-names/client.pem https://admin.localhost:8443/      the client is known
// curl -k https://admin.localhost:8443/                                    no certificate, no connection
// curl -k -H 'Host: admin.localhost' https://public.localhost:8443/        421: the door is not reached through another
// curl -i http://public.localhost:8443/                                    308 to https:
