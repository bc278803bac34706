/** What undici makes of an answer, over a socket in memory. */
import { Duplex } from 'node:stream'
import { Client } from 'undici'

/** How long an answer is waited for that is all there, in ms. */
const PATIENCE = 2000

/** A connection to a server that says these pieces when it is asked, and ends then if it is told so. */
class MemorySocket extends Duplex {
  #pieces
  #closed

  constructor(pieces, closed) {
    super()
    this.#pieces = pieces
    this.#closed = closed
  }

  _read() {}

  _write(_chunk, _encoding, done) {
    done()
    for (const piece of this.#pieces) if (piece.length > 0) this.push(piece)
    this.#pieces = []
    if (this.#closed) setImmediate(() => setImmediate(() => this.push(null)))
  }

  setKeepAlive() {}
  setNoDelay() {}
  setTimeout() {}
  ref() {}
  unref() {}
}

/** Reads one answer: `{ what, status, headers, body, trailers, interim }`, `what` as in `node-parser.mjs`. */
export async function readWithUndici(pieces, method, closed) {
  const read = { what: 'more', status: 0, headers: [], body: '', trailers: [], interim: [] }
  const client = new Client('http://a.test', {
    connect: (_options, callback) => queueMicrotask(() => callback(null, new MemorySocket(pieces, closed))),
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const over = new Promise(resolve => {
    client.dispatch(
      { method, path: '/' },
      {
        onConnect() {},
        onHeaders(status, raw) {
          const headers = raw.map(text => text.latin1Slice())
          if (status < 200) read.interim.push({ status, headers })
          else Object.assign(read, { status, headers })
          return true
        },
        onData(bytes) {
          read.body += bytes.latin1Slice()
          return true
        },
        onComplete(trailers) {
          read.what = 'whole'
          read.trailers = (trailers ?? []).map(text => text.latin1Slice())
          resolve()
        },
        onError(error) {
          read.what = 'bad'
          read.error = error
          resolve()
        },
      },
    )
  })
  // What is not over by then waits for bytes that will not come.
  const turns = new Promise(resolve => setTimeout(resolve, PATIENCE))
  await Promise.race([over, turns])
  const { what } = read
  client.destroy().catch(() => {})
  return { ...read, what }
}
