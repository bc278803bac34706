/**
 * 100,000 mutated ClientHellos against the parser, and one in a hundred of them against a listening front:
 * `npm run build && node bench/tls-fuzz.mjs [--count 100000] [--seed 0]`. Ends with code 1 at an exception, or when a
 * connection is still open 15 s after the last byte.
 */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { pipeline, reply } from '@postern/core'
import { certificates, developmentCertificate, ja3, ja4, listen, parseClientHello } from '@postern/tls'
import { orUsage, parseFlags, whole } from './lib/flags.mjs'
import { mutate } from './lib/mutate.mjs'

const { count, seed } = orUsage('usage: node bench/tls-fuzz.mjs [--count 100000] [--seed 0]', () => {
  const flags = parseFlags(process.argv.slice(2), { count: '100000', seed: '0' })
  return {
    count: whole('count', flags.count, 1, 10_000_000),
    seed: whole('seed', flags.seed, 0, 999_999_999),
  }
})

const whole1 = await firstFlight()
const results = {}
let fingerprints = 0
for (let i = 0; i < count; i++) {
  const result = parseClientHello(mutate(whole1, seed + i))
  const kind = typeof result === 'string' ? result : 'hello'
  results[kind] = (results[kind] ?? 0) + 1
  if (kind === 'hello') {
    ja4(result)
    ja3(result)
    fingerprints++
  }
}
console.log(JSON.stringify({ parsed: results, fingerprints }))

const store = await certificates({ pem: developmentCertificate(), handshakeTimeout: 2000, log() {} })
const front = await listen(
  store,
  pipeline().handle(() => reply(200, 'x')),
  { port: 0, host: '127.0.0.1', helloTimeout: 2000 },
)
let open = 0
for (let i = 0; i < count; i += 100) {
  open++
  const socket = connect(front.port, '127.0.0.1', () => socket.write(mutate(whole1, seed + i)))
  socket.on('error', () => {})
  socket.on('close', () => open--)
  socket.resume()
  if (open > 200) await new Promise(resolve => setTimeout(resolve, 20))
}
const deadline = Date.now() + 15_000
while (open > 0 && Date.now() < deadline) await new Promise(resolve => setTimeout(resolve, 50))
console.log(JSON.stringify({ open, front: front.counts, store: store.counts }))
await front.drain(0)
store.close()
process.exit(open === 0 ? 0 : 1)

async function firstFlight() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connectTls({
    port: server.address().port,
    host: '127.0.0.1',
    servername: 'a.example',
    ALPNProtocols: ['h2', 'http/1.1'],
  })
  client.on('error', () => {})
  const [socket] = await once(server, 'connection')
  const [bytes] = await once(socket, 'data')
  socket.destroy()
  server.close()
  return bytes
}
