/** Targets of the soak, over HTTP/1.1 and over h2c: a sound one, and such as flap, reset, stall and talk nonsense. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { createServer as createH2c } from 'node:http2'
import { createServer as createTcp } from 'node:net'
import { answerTo } from './soak-bodies.mjs'

/** Milliseconds after which a target that flaps goes and comes. */
const FLAP = 250

/**
 * An address of this process alone, where there are more than one: somebody else's server must not take the port of a target that
 * is away for a moment, and answer for it.
 */
const HOST =
  process.platform === 'linux' ? `127.${1 + (process.pid % 250)}.${(process.pid >> 8) % 250}.7` : '127.0.0.1'

let turn = 0

/** Starts them all. Gives their URLs by protocol. */
export async function startTargets() {
  return {
    h1: [
      await http1(give1),
      await http1(give1, true),
      await http1(broken1),
      await http1(stalling1),
      await garbage1(),
    ],
    h2c: [
      await http2(give2),
      await http2(give2, true),
      await http2(broken2),
      await http2(stalling2),
      await garbage2(),
    ],
  }
}

function hashed(stream, then) {
  const hash = createHash('sha256')
  stream.on('data', bytes => hash.update(bytes))
  stream.on('end', () => then(hash.digest('hex')))
  stream.on('error', () => {})
}

function give1(req, res, body) {
  if (turn++ % 2 === 0) res.setHeader('Content-Length', body.length)
  if (req.method === 'HEAD' || turn % 3 > 0) return res.end(body)
  res.write(body.subarray(0, body.length >> 1))
  setImmediate(() => res.end(body.subarray(body.length >> 1)))
}

/** Resets before, at and in the middle of its answers. */
function broken1(req, res, body) {
  const way = turn++ % 6
  if (way === 0) return req.socket.resetAndDestroy()
  if (way === 1) return req.socket.end()
  if (way < 4) {
    res.setHeader(...(way === 2 ? ['Content-Length', body.length] : ['X-Way', 'chunked']))
    res.write(body.subarray(0, body.length >> 1), () => req.socket.destroy())
    return
  }
  give1(req, res, body)
}

/** Says nothing, or stops in the middle. */
function stalling1(req, res, body) {
  const way = turn++ % 12
  if (way === 0) return
  if (way === 1) {
    res.setHeader('Content-Length', body.length)
    res.write(body.subarray(0, body.length >> 1))
    return
  }
  give1(req, res, body)
}

async function http1(answer, flaps = false) {
  const make = () =>
    createServer((req, res) => {
      res.on('error', () => {})
      hashed(req, hash => answer(req, res, answerTo(req.url, hash)))
    })
  return serve(make, flaps)
}

/** What is no answer, or none that may be believed. Never one that is whole and wrong: nobody could tell. */
const NONSENSE = [
  'nonsense\r\n\r\n',
  'HTTP/1.1 2',
  '\0\0\0',
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nhello\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort',
  'HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nBad Header: x\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n',
]

async function garbage1() {
  const make = () =>
    createTcp(socket => {
      socket.on('error', () => {})
      socket.on('data', () => {
        if (turn++ % 2 === 0) socket.end(NONSENSE[turn % NONSENSE.length])
        else socket.write(NONSENSE[turn % NONSENSE.length])
      })
    })
  return serve(make, false)
}

function give2(stream, body) {
  const trailers = turn++ % 3 === 0
  stream.respond({ ':status': 200 }, { waitForTrailers: trailers })
  if (trailers) stream.on('wantTrailers', () => stream.sendTrailers({ 'x-end': 'yes' }))
  stream.end(body)
}

function broken2(stream, body) {
  const way = turn++ % 6
  if (way === 0) return stream.session?.destroy()
  if (way === 1) return stream.close(2)
  if (way === 2) return stream.close(7)
  if (way === 3) {
    // Node ends a stream before it resets it, which nobody could tell from a whole answer; not one that waits for trailers.
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.write(body.subarray(0, body.length >> 1), () => stream.close(8))
    return
  }
  give2(stream, body)
}

function stalling2(stream, body) {
  const way = turn++ % 12
  if (way === 0) return
  if (way === 1) {
    stream.respond({ ':status': 200, 'content-length': body.length })
    stream.write(body.subarray(0, body.length >> 1))
    return
  }
  give2(stream, body)
}

async function http2(answer, flaps = false) {
  const make = () => {
    const server = createH2c()
    server.on('sessionError', () => {})
    server.on('session', session => session.on('error', () => {}))
    server.on('stream', (stream, headers) => {
      hashed(stream, hash => {
        if (!stream.destroyed) answer(stream, answerTo(headers[':path'], hash))
      })
    })
    return server
  }
  return serve(make, flaps)
}

const FRAMES = [
  // No HTTP/2 at all; a frame larger than allowed; HEADERS on stream 0; DATA on a stream that nobody opened; PING of 3 bytes.
  Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
  Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]),
  Buffer.from([0, 0, 1, 1, 5, 0, 0, 0, 0, 0x88]),
  Buffer.from([0, 0, 1, 0, 1, 0, 0, 0, 99, 0x41]),
  Buffer.from([0, 0, 3, 6, 0, 0, 0, 0, 0, 1, 2, 3]),
]

async function garbage2() {
  const make = () =>
    createTcp(socket => {
      socket.on('error', () => {})
      socket.once('data', () => {
        // SETTINGS first, so that it is believed for a moment.
        if (turn++ % 2 === 0) socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))
        socket.on('data', () => socket.writable && socket.write(FRAMES[turn++ % FRAMES.length]))
        setTimeout(() => socket.destroy(), 200).unref()
      })
    })
  return serve(make, false)
}

/** Listens; one that flaps comes and goes on its port. */
async function serve(make, flaps) {
  let server = make()
  const sockets = new Set()
  const listen = port =>
    new Promise(resolve => {
      server.on('error', () => resolve(0))
      server.on('connection', socket => {
        socket.on('error', () => {})
        sockets.add(socket)
        socket.on('close', () => sockets.delete(socket))
      })
      server.listen({ port, host: HOST, backlog: 1024 }, () => resolve(server.address().port))
    })
  const port = await listen(0)
  if (flaps) {
    setInterval(() => {
      if (server.listening) {
        server.close()
        for (const socket of sockets) socket.destroy()
      } else {
        server = make()
        void listen(port)
      }
    }, FLAP)
  }
  return `http://${HOST}:${port}`
}
