/**
 * What open connections cost an edge: WebSockets and event streams held at once, and the memory of the edge for each.
 *
 * `node bench/tunnels.mjs [--sockets 10000] [--streams 1000] [--front http] [--to h1]`
 *
 * Three processes: origin, edge, and this one as the client. Each WebSocket carries a frame there and back, each stream
 * gives one event, before memory is read (after a garbage collection), and once more after all were held for a while.
 * `--front h2c` and `--to h2c` carry both over HTTP/2. A process needs two descriptors for each tunnel over HTTP/1.1.
 */
import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { connect as connectHttp2, createServer as createH2c } from 'node:http2'
import { connect, createServer as createTcp } from 'node:net'
import { fileURLToPath } from 'node:url'
import { attach, pipeline, proxy, upstream } from '@postern/core'
import { orUsage, parseFlags, whole } from './lib/flags.mjs'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const ACCEPT = createHash('sha1')
  .update(KEY + GUID)
  .digest('base64')
/** A text frame that says `hello`, masked with zeros. */
const FRAME = Buffer.from([0x81, 0x85, 0, 0, 0, 0, 0x68, 0x65, 0x6c, 0x6c, 0x6f])
/** Connections that are opened at a time, and streams on one session. */
const AT_ONCE = 200
const HOLD = 3000

const ROLES = { origin, edge, client }
await ROLES[process.env.BENCH_ROLE ?? 'client']()

/** Answers any upgrade, echoes what follows; anything else is an event stream. */
async function origin() {
  const server = createTcp({ noDelay: true }, socket => {
    socket.on('error', () => {})
    socket.once('data', head => {
      const key = /sec-websocket-key: (.*)\r\n/i.exec(head.toString('latin1'))?.[1]
      if (key === undefined) {
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: 1\n\n',
        )
        return
      }
      const accept = createHash('sha1')
        .update(key + GUID)
        .digest('base64')
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      )
      socket.on('data', bytes => socket.write(bytes))
    })
  })
  const http2 = createH2c({ settings: { enableConnectProtocol: true } })
  http2.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    if (headers[':protocol'] === 'websocket') {
      stream.respond({ ':status': 200 })
      stream.on('data', bytes => stream.write(bytes))
    } else {
      stream.respond({ ':status': 200, 'content-type': 'text/event-stream' })
      stream.write('data: 1\n\n')
    }
  })
  const ports = []
  for (const one of [server, http2]) {
    await new Promise(resolve => one.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve))
    ports.push(one.address().port)
  }
  process.send({ h1: ports[0], h2c: ports[1] })
  process.on('message', () => {})
}

/** The edge that is measured. */
async function edge() {
  const { front, to, port, most } = JSON.parse(process.env.BENCH_EDGE)
  const group = upstream({
    name: 'origin',
    targets: [`http://127.0.0.1:${port}`],
    protocol: to,
    tunnels: most,
    connections: Math.min(65_535, most),
    timeouts: { idle: 600_000 },
  })
  const server = front === 'h2c' ? createH2c() : createServer()
  const attached = attach(server, pipeline().handle(proxy(group)), {
    http2: { streams: AT_ONCE },
    sessionIdleTimeout: 600_000,
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => process.send(server.address().port))
  process.on('message', () => {
    globalThis.gc()
    const { rss, heapUsed, external } = process.memoryUsage()
    process.send({ rss, heapUsed, external, tunnels: attached.tunnels })
  })
}

/** Opens everything, and asks the edge what it costs. */
async function client() {
  const usage = 'usage: node bench/tunnels.mjs [--sockets N] [--streams N] [--front http|h2c] [--to h1|h2c]'
  const flags = orUsage(usage, () => {
    const given = parseFlags(process.argv.slice(2), {
      sockets: '10000',
      streams: '1000',
      front: 'http',
      to: 'h1',
    })
    if (!['http', 'h2c'].includes(given.front) || !['h1', 'h2c'].includes(given.to)) throw new Error(usage)
    return {
      sockets: whole('sockets', given.sockets, 1, 60_000),
      streams: whole('streams', given.streams, 0, 60_000),
      front: given.front,
      to: given.to,
    }
  })
  const children = []
  const child = (role, env = {}) => {
    const made = fork(fileURLToPath(import.meta.url), {
      execArgv: ['--expose-gc'],
      env: { ...process.env, BENCH_ROLE: role, ...env },
    })
    children.push(made)
    return made
  }
  const answer = made => new Promise(resolve => made.once('message', resolve))
  process.on('exit', () => {
    for (const one of children) one.kill('SIGKILL')
  })
  const ports = await answer(child('origin'))
  const settings = {
    front: flags.front,
    to: flags.to,
    port: ports[flags.to],
    most: flags.sockets + flags.streams,
  }
  const edged = child('edge', { BENCH_EDGE: JSON.stringify(settings) })
  const port = await answer(edged)
  const memory = () => {
    const answered = answer(edged)
    edged.send('memory')
    return answered
  }

  const open = flags.front === 'h2c' ? overHttp2(port) : overHttp1(port)
  // The first ones load code and fill caches, which are not what a connection costs.
  await many(20, open.socket)
  await many(Math.min(20, flags.streams), open.stream)
  const before = await memory()
  await many(flags.sockets - 20, open.socket)
  const sockets = await memory()
  await many(Math.max(0, flags.streams - 20), open.stream)
  const all = await memory()
  await new Promise(resolve => setTimeout(resolve, HOLD))
  const failed = open.failed()
  const held = await memory()
  const kib = (from, to, count) => (count > 0 ? ((to - from) / count / 1024).toFixed(1) : '-')
  console.log(
    `front ${flags.front}, to ${flags.to}; ${held.tunnels} tunnels and ${flags.streams} event streams held, ${failed} lost`,
  )
  console.log('KiB of the edge for each     RSS   heap  buffers')
  const row = (name, from, to, count) =>
    console.log(
      [
        name.padEnd(24),
        ...['rss', 'heapUsed', 'external'].map(key => kib(from[key], to[key], count).padStart(7)),
      ].join(' '),
    )
  row('WebSocket', before, sockets, flags.sockets - 20)
  row('event stream', sockets, all, flags.streams - 20)
  console.log(
    `edge in all: ${(held.rss / 2 ** 20).toFixed(0)} MiB, before: ${(before.rss / 2 ** 20).toFixed(0)} MiB`,
  )
  process.exit(failed === 0 && held.tunnels === flags.sockets ? 0 : 1)
}

async function many(count, open) {
  let left = count
  const worker = async () => {
    while (left-- > 0) await open()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

function overHttp1(port) {
  let failed = 0
  const held = []
  const talk = (head, done) =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let got = ''
      let open = false
      socket.on('error', reject)
      socket.on('close', () => {
        if (open) failed++
        else reject(new Error(`closed early: ${got}`))
      })
      socket.on('data', bytes => {
        if (open) return
        got += bytes.toString('latin1')
        if (!done(got)) return
        open = true
        held.push(socket)
        resolve()
      })
      socket.write(head)
    })
  const handshake = `GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`
  return {
    // The frame goes with the handshake: what comes back has crossed the tunnel twice.
    socket: () =>
      talk(
        Buffer.concat([Buffer.from(handshake), FRAME]),
        got => got.includes(ACCEPT) && got.endsWith(FRAME.toString('latin1')),
      ),
    stream: () => talk('GET /events HTTP/1.1\r\nHost: a\r\n\r\n', got => got.includes('data: 1\n\n')),
    failed: () => failed,
  }
}

function overHttp2(port) {
  let failed = 0
  let session = null
  let used = AT_ONCE
  const ready = async () => {
    if (used < AT_ONCE) {
      used++
      return session
    }
    used = 1
    const made = connectHttp2(`http://127.0.0.1:${port}`)
    session = new Promise(resolve => made.once('remoteSettings', () => resolve(made)))
    return session
  }
  const talk = async (headers, first, done) => {
    const stream = (await ready()).request(headers, { endStream: first === null })
    await new Promise((resolve, reject) => {
      let got = ''
      let open = false
      stream.on('error', reject)
      stream.on('close', () => {
        if (open) failed++
        else reject(new Error(`closed early with ${stream.rstCode}`))
      })
      stream.on('data', bytes => {
        if (open) return
        got += bytes.toString('latin1')
        if (!done(got)) return
        open = true
        resolve()
      })
      if (first) stream.write(first)
    })
  }
  const connectHead = {
    ':method': 'CONNECT',
    ':protocol': 'websocket',
    ':scheme': 'http',
    ':path': '/',
    ':authority': 'a',
    'sec-websocket-version': '13',
  }
  return {
    socket: () => talk(connectHead, FRAME, got => got === FRAME.toString('latin1')),
    stream: () => talk({ ':path': '/events', ':authority': 'a' }, null, got => got.includes('data: 1\n\n')),
    failed: () => failed,
  }
}
