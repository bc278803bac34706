/** A server in a process of its own: `node … SECRET_HEX CERT_FILE KEY_FILE`; prints its port. */
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { certificates, ticketKeys } from '@postern/tls'

const [secret = '', cert = '', key = ''] = process.argv.slice(2)
const tls = await certificates({
  pem: { cert: readFileSync(cert), key: readFileSync(key) },
  tickets: ticketKeys({ secret: Buffer.from(secret, 'hex') }),
})
const server = createServer(tls.serverOptions(), socket => {
  socket.on('error', () => {})
  socket.end(String(socket.isSessionReused()))
})
tls.protect(server)
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
