/**
 * What a certificate store and `listen()` cost after the handshake, on connections that are open: `npm run build && node
 * bench/tls-after.mjs [--rounds 100] [--requests 200] [--megabytes 4]`. Nothing is the goal: ratios of 1, as near as `again` comes,
 * which is the base a second time.
 *
 * - `h1`: requests on a kept HTTP/1.1 connection. `h2`: requests on one session, eight at once
 * - `bytes`: what is sent to a server of node:tls comes back, in chunks of 64 KB; µs a chunk
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectH2 } from 'node:http2'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { orUsage, parseFlags, whole } from './lib/flags.mjs'
import { line, measure } from './lib/paired.mjs'

const usage = 'usage: node bench/tls-after.mjs [--rounds 100] [--requests 200] [--megabytes 4]'
const plan = orUsage(usage, () => {
  const flags = parseFlags(process.argv.slice(2), { rounds: '100', requests: '200', megabytes: '4' })
  return {
    rounds: whole('rounds', flags.rounds, 1, 100_000),
    requests: whole('requests', flags.requests, 1, 1_000_000),
    chunks: whole('megabytes', flags.megabytes, 1, 10_000) * 16,
  }
})

const child = fork(fileURLToPath(new URL('lib/tls-server.mjs', import.meta.url)), {
  execArgv: ['--expose-gc'],
})
const [ports] = await once(child, 'message')
const web = ['http2', 'http2 again', 'http2 + store', 'listen']
const raw = ['tls', 'tls again', 'tls + store']
const options = { host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false }

for (const [name, kinds, units, open] of [
  ['h1', web, plan.requests, requests1],
  ['h2', web, plan.requests, requests2],
  ['bytes', raw, plan.chunks, echoes],
]) {
  const loads = {}
  for (const kind of kinds) loads[kind] = await open(ports[kind])
  const costs = await measure({
    pid: child.pid,
    kinds,
    rounds: plan.rounds,
    units,
    load: (kind, count) => loads[kind](count),
    async settle() {
      child.send('gc')
      await once(child, 'message')
    },
  })
  for (const kind of kinds) console.log(`${name.padEnd(6)} ${line(kind, costs, kinds[0])}`)
}
child.kill()

async function shaken(port, protocols) {
  const socket = connect({ ...options, port, ALPNProtocols: protocols })
  await once(socket, 'secureConnect')
  socket.setNoDelay(true)
  return socket
}

/** One request after the other; an answer is whole when its 100 bytes have come. */
async function requests1(port) {
  const socket = await shaken(port, ['http/1.1'])
  let text = ''
  let whole = () => {}
  socket.setEncoding('latin1')
  socket.on('data', chunk => {
    text += chunk
    if (!text.endsWith('x'.repeat(100))) return
    text = ''
    whole()
  })
  return async count => {
    for (let i = 0; i < count; i++) {
      const answered = new Promise(resolve => {
        whole = resolve
      })
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
      await answered
    }
  }
}

async function requests2(port) {
  const socket = await shaken(port, ['h2'])
  const session = connectH2(`https://localhost:${port}`, { createConnection: () => socket })
  const one = () =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':path': '/' })
      stream.on('error', reject)
      stream.on('close', resolve)
      stream.resume()
    })
  return async count => {
    let left = count
    const worker = async () => {
      while (left-- > 0) await one()
    }
    await Promise.all(Array.from({ length: 8 }, worker))
  }
}

async function echoes(port) {
  const socket = await shaken(port, ['http/1.1'])
  const chunk = Buffer.alloc(65_536, 'x')
  let missing = 0
  let whole = () => {}
  socket.on('data', bytes => {
    missing -= bytes.length
    if (missing === 0) whole()
  })
  return async count => {
    for (let i = 0; i < count; i++) {
      const back = new Promise(resolve => {
        whole = resolve
      })
      missing = chunk.length
      socket.write(chunk)
      await back
    }
  }
}
