/**
 * Requests read by the wire and by Node's parser, each on a server of its own, in memory: the app has to see the same requests, and
 * the client the same answers. Where the wire refuses or hands over, there is nothing else that it could agree with.
 */
import { createServer } from 'node:http'
import { attach, pipeline, reply } from '@postern/core'
import { MemorySocket } from './memory-socket.mjs'
import { generator, pieces, requestBytes } from './wire-requests.mjs'

/** Connections at a time. */
const BATCH = 100
/** Turns of the event loop after which a connection hangs. */
const MOST_TURNS = 2000

/**
 * Runs `count` cases from `seed` on. `differences` holds the first ten; `wire` counts the requests that the wire itself
 * answered, `refused` those that end with a refusal, `stricter` those of these that Node's parser takes.
 */
export async function fuzzServer(count, seed) {
  const sides = [side(false), side(true)]
  const { stackTraceLimit } = Error
  // Refusals are errors, and there are many.
  Error.stackTraceLimit = 0
  const result = { cases: 0, requests: 0, wire: 0, refused: 0, stricter: 0, differences: [] }
  const parsed = { node: 0, wire: 0 }
  sides[0].server.on('request', () => parsed.node++)
  sides[1].server.on('request', () => parsed.wire++)
  for (let from = seed; from < seed + count; from += BATCH) {
    const cases = []
    for (let one = from; one < Math.min(from + BATCH, seed + count); one++) {
      const pick = generator(one)
      const bytes = requestBytes(pick)
      cases.push({ one, bytes, pieces: pieces(bytes, pick) })
    }
    const outcomes = await Promise.all(sides.map(each => each.run(cases)))
    for (const [i, { one, bytes }] of cases.entries()) {
      const [node, wire] = [outcomes[0][i], outcomes[1][i]]
      result.cases++
      result.requests += node.seen.length
      if (/ 4\d\d$/.test(node.statuses.at(-1) ?? '')) result.refused++
      if (isSame(node, wire) || isPatient(node, wire)) continue
      if (isStricter(node, wire)) {
        result.stricter++
        continue
      }
      result.differences.push({
        seed: one,
        bytes: bytes.toString('latin1'),
        pieces: cases[i].pieces.length,
        node,
        wire,
      })
    }
    if (result.differences.length >= 10) break
  }
  result.wire = result.requests - parsed.wire
  Error.stackTraceLimit = stackTraceLimit
  for (const each of sides) await each.attached.drain(0)
  return result
}

function isSame(node, wire) {
  return JSON.stringify(node) === JSON.stringify(wire)
}

/**
 * The wire says 100 Continue to a request that was sent ahead. On node:http its body is there before its turn has come, and the
 * connection closes behind an answer that was given without 100.
 */
function isPatient(node, wire) {
  if (wire.continues <= node.continues) return false
  const statuses = finals(wire)
  const before = finals(node)
  return (
    isSame(before, statuses.slice(0, before.length)) &&
    isSame(node.seen, wire.seen.slice(0, node.seen.length))
  )
}

/**
 * The wire takes less: it refuses a body that Node's parser takes or still waits for, or the parser refuses in another way because
 * what was handed to it came in other pieces. What both take is the same.
 */
function isStricter(node, wire) {
  const seen = node.seen.slice(0, wire.seen.length)
  const last = seen.length - 1
  if (wire.seen[last]?.body === 'broken') seen[last] = { ...seen[last], body: 'broken', trailers: null }
  const [taken, known] = [wire, node].map(side => side.statuses.filter(status => status === 'HTTP/1.1 200'))
  return isSame(seen, wire.seen) && taken.length <= known.length
}

function finals({ statuses }) {
  return statuses.filter(status => status !== 'HTTP/1.1 100')
}

function side(wire) {
  const server = createServer()
  const seen = new Map()
  const attached = attach(
    server,
    pipeline().handle(cx => answer(cx, seen.get(cx.request.peer.port))),
    { wire },
  )
  const outcome = socket => ({
    seen: seen.get(socket.remotePort),
    statuses: socket.text.match(/HTTP\/1\.1 \d{3}/g) ?? [],
    continues: socket.text.split('100 Continue').length - 1,
  })
  let next = 1
  async function run(cases) {
    seen.clear()
    const sockets = cases.map(({ pieces: all }) => {
      const socket = new MemorySocket(next++)
      seen.set(socket.remotePort, [])
      server.emit('connection', socket)
      for (const piece of all) socket.feed(piece)
      return socket
    })
    for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
    for (const socket of sockets) socket.finish()
    for (let turn = 0; sockets.some(socket => !socket.closed); turn++) {
      if (turn > MOST_TURNS) throw new Error('a connection does not end')
      await new Promise(setImmediate)
    }
    return sockets.map(outcome)
  }
  return { server, attached, run }
}

/** Tells all that it sees of a request, and answers when the body is whole. */
function answer(cx, seen) {
  const { method, target, headers, version } = cx.request
  const one = { method, target, version, raw: [...headers.raw], body: null, trailers: null }
  seen.push(one)
  const done = reply(200, 'ok')
  if (cx.body === null) return done
  return new Promise(resolve => {
    let text = ''
    cx.body.start({
      write(bytes) {
        text += Buffer.from(bytes).latin1Slice()
        return true
      },
      end(trailers) {
        one.body = text
        one.trailers = trailers ? [...trailers.raw] : null
        resolve(done)
      },
      fail: error => {
        one.body = 'broken'
        throw error
      },
    })
  })
}
