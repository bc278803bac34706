/**
 * What a full handshake costs the server in CPU time: `npm run build && node bench/tls-handshake.mjs [--rounds 60]
 * [--handshakes 25]`. Four servers in one process answer the same clients in turn:
 *
 * - `bare`: http2 with HTTP/1.1, one certificate, TLS 1.3
 * - `store`: the same with `serverOptions()` and `protect()` of a certificate store (peek off)
 * - `listen`: the one-port front, which reads the ClientHello first (peek on)
 * - `listen+ja4`: the same where each request asks for its JA4
 *
 * Rounds are short and go back and forth, and ratios are taken within a round. Goals: store 1.02, listen 1.25.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { orUsage, parseFlags, whole } from './lib/flags.mjs'
import { median, quantile, ratios } from './lib/stats.mjs'

const usage = 'usage: node bench/tls-handshake.mjs [--rounds 60] [--handshakes 25]'
const plan = orUsage(usage, () => {
  const flags = parseFlags(process.argv.slice(2), { rounds: '60', handshakes: '25' })
  return {
    rounds: whole('rounds', flags.rounds, 1, 10_000),
    handshakes: whole('handshakes', flags.handshakes, 1, 100_000),
  }
})

const child = fork(fileURLToPath(new URL('lib/tls-server.mjs', import.meta.url)))
const [ports] = await once(child, 'message')
const servers = Object.entries(ports).map(([kind, port]) => ({ kind, port, costs: [] }))
for (const { port } of servers) await load(port, plan.handshakes * 4)
for (let round = 0; round < plan.rounds; round++) {
  for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
    const before = await cpu()
    await load(server.port, plan.handshakes)
    server.costs.push(((await cpu()) - before) / plan.handshakes)
  }
}
for (const { kind, costs } of servers) {
  const shares = ratios(costs, servers[0].costs)
  const spread = [0.25, 0.5, 0.75].map(share => quantile(shares, share).toFixed(3)).join(' ')
  console.log(
    `${kind.padEnd(12)} ${median(costs).toFixed(0).padStart(6)} µs a handshake, least ${Math.min(...costs).toFixed(0)}, to bare (quartiles): ${spread}`,
  )
}
child.kill()

async function cpu() {
  child.send('cpu')
  const [{ microseconds }] = await once(child, 'message')
  return microseconds
}

/** Full handshakes, four at once, each with one request. */
async function load(port, count) {
  let left = count
  const one = async () => {
    while (left-- > 0) {
      await new Promise((resolve, reject) => {
        const socket = connect({
          ...{ port, host: '127.0.0.1', servername: 'localhost' },
          ...{ rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] },
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
