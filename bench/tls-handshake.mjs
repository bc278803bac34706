/**
 * What a handshake costs the server in CPU time: `npm run build && node bench/tls-handshake.mjs [--rounds 200]
 * [--handshakes 10] [--sessions new|resumed] [--only tls,http2]`. Servers in one process answer the same client in turn:
 *
 * - `tls`: node:tls alone, with the same versions, suites and groups. `tls again`: the same, as a control
 * - `tls by default`: node:tls as it comes, with its own lists and orders
 * - `tls + store`: with `serverOptions()` and `protect()` of a certificate store. Goal: 1.02
 * - `http2`: a secure http2 server with HTTP/1.1 under `attach`, without a store
 * - `http2 + store`: with one. Goal: 1.02
 * - `listen`: the one-port front, which reads the ClientHello first. Goal: 1.25. `listen + ja4`: the gate asks for the JA4
 *
 * The client ends each connection as soon as hands are shaken: no request makes the share of the handshake look smaller. Each
 * gives two session tickets; with `--sessions resumed` each takes one.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, createSecureContext } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { names, orUsage, parseFlags, UsageError, whole } from './lib/flags.mjs'
import { line, measure } from './lib/paired.mjs'

const BASES = {
  tls: ['tls', 'tls again', 'tls + store', 'tls by default'],
  http2: ['http2', 'http2 again', 'http2 + store', 'listen', 'listen + ja4'],
}
const usage =
  'usage: node bench/tls-handshake.mjs [--rounds 200] [--handshakes 10] [--sessions new|resumed] [--only tls,http2]'
const plan = orUsage(usage, () => {
  const defaults = { rounds: '200', handshakes: '10', sessions: 'new', only: 'tls,http2' }
  const flags = parseFlags(process.argv.slice(2), defaults)
  if (!['new', 'resumed'].includes(flags.sessions)) throw new UsageError('--sessions must be new or resumed')
  return {
    rounds: whole('rounds', flags.rounds, 1, 100_000),
    handshakes: whole('handshakes', flags.handshakes, 1, 100_000),
    resumed: flags.sessions === 'resumed',
    bases: names('only', flags.only, Object.keys(BASES)),
  }
})

const child = fork(fileURLToPath(new URL('lib/tls-server.mjs', import.meta.url)), {
  execArgv: ['--expose-gc'],
})
const [ports] = await once(child, 'message')
const secureContext = createSecureContext({ minVersion: 'TLSv1.3' })
const sessions = {}

for (const base of plan.bases) {
  const kinds = BASES[base]
  if (plan.resumed) for (const kind of kinds) sessions[kind] = await ticketOf(ports[kind])
  const costs = await measure({
    pid: child.pid,
    kinds,
    rounds: plan.rounds,
    units: plan.handshakes,
    load: async (kind, count) => {
      for (let i = 0; i < count; i++) await shakeHands(kind)
    },
    async settle() {
      child.send('gc')
      await once(child, 'message')
    },
  })
  for (const kind of kinds) console.log(line(kind, costs, base))
}
child.kill()

function open(port, session) {
  return connect({
    ...{ port, host: '127.0.0.1', servername: 'localhost', secureContext, session },
    ...{ rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] },
  })
}

function shakeHands(kind) {
  return new Promise((resolve, reject) => {
    const socket = open(ports[kind], sessions[kind])
    socket.on('secureConnect', () => {
      if (socket.isSessionReused() !== plan.resumed) reject(new Error(`${kind}: another kind of handshake`))
      socket.end()
    })
    socket.resume()
    socket.on('error', reject)
    socket.on('close', resolve)
  })
}

/** A ticket; it may be used again and again, as long as nobody keeps a list. */
function ticketOf(port) {
  return new Promise((resolve, reject) => {
    const socket = open(port)
    socket.on('error', reject)
    socket.once('session', session => {
      socket.end()
      resolve(session)
    })
    socket.resume()
  })
}
