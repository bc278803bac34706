/**
 * What a full handshake costs the server in CPU time: `npm run build && node bench/tls-handshake.mjs [--rounds 9]
 * [--handshakes 300]`. Three servers in processes of their own answer the same clients in turn:
 *
 * - `bare`: node:tls with one certificate, TLS 1.3, and ALPN
 * - `store`: the same with `serverOptions()` and `protect()` of a certificate store (peek off)
 * - `listen`: the one-port front, which reads the ClientHello first (peek on)
 *
 * The ratios are of the same round; the medians and quartiles of them are printed. Goals: store 1.02, listen 1.25.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { orUsage, parseFlags, whole } from './lib/flags.mjs'
import { median, quantile, ratios } from './lib/stats.mjs'

const KINDS = ['bare', 'store', 'listen', 'listen+ja4']
const usage = 'usage: node bench/tls-handshake.mjs [--rounds 9] [--handshakes 300]'
const plan = orUsage(usage, () => {
  const flags = parseFlags(process.argv.slice(2), { rounds: '9', handshakes: '300' })
  return {
    rounds: whole('rounds', flags.rounds, 1, 1000),
    handshakes: whole('handshakes', flags.handshakes, 1, 100_000),
  }
})

const servers = []
for (const kind of KINDS) {
  const child = fork(fileURLToPath(new URL('lib/tls-server.mjs', import.meta.url)), [kind])
  const [{ port }] = await once(child, 'message')
  servers.push({ kind, child, port, costs: [] })
}
for (const server of servers) await load(server, plan.handshakes)
for (let round = 0; round < plan.rounds; round++) {
  for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
    const before = await cpu(server)
    await load(server, plan.handshakes)
    server.costs.push(((await cpu(server)) - before) / plan.handshakes)
  }
}
for (const { kind, child, costs } of servers) {
  const shares = ratios(costs, servers[0].costs)
  const spread = [0.25, 0.5, 0.75].map(share => quantile(shares, share).toFixed(3)).join(' ')
  console.log(
    `${kind.padEnd(12)} ${median(costs).toFixed(0).padStart(6)} µs a handshake, to bare (quartiles): ${spread}`,
  )
  child.kill()
}

async function cpu({ child }) {
  child.send('cpu')
  const [{ microseconds }] = await once(child, 'message')
  return microseconds
}

/** Full handshakes, four at once; each client waits for the server's word and leaves. */
async function load({ port }, count) {
  let left = count
  const one = async () => {
    while (left-- > 0) {
      await new Promise((resolve, reject) => {
        const socket = connect({
          port,
          host: '127.0.0.1',
          servername: 'localhost',
          rejectUnauthorized: false,
          ALPNProtocols: ['http/1.1'],
        })
        socket.on('secureConnect', () =>
          socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
        )
        socket.resume()
        socket.on('error', reject)
        socket.on('close', resolve)
      })
    }
  }
  await Promise.all([one(), one(), one(), one()])
}
