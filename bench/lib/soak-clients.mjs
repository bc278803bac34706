/** Clients of the soak. Each answer is hashed and compared with the one that belongs to its request. */
import { createHash } from 'node:crypto'
import { Agent, request } from 'node:http'
import { connect } from 'node:http2'
import { answerTo, bytesOf, hashOf } from './soak-bodies.mjs'

/** A request that takes longer is given up, and counts as one that the edge left without an answer. */
const PATIENCE = 30_000
const NOTHING = hashOf('')

/** What is asked for: the number decides. */
function plan(number, to) {
  const path = `/${to}/${number}`
  const kind = number % 20
  const method = kind < 12 ? 'GET' : kind < 18 ? 'POST' : kind === 18 ? 'HEAD' : 'GET'
  const body = method === 'POST' ? bytesOf(`body ${path}`) : null
  const expected = hashOf(answerTo(path, body ? hashOf(body) : NOTHING))
  return { path, method, body, expected, leaves: kind === 19, chunked: number % 2 === 0 }
}

/** `whole`, `failed` (an answer that says so), `cut`, `wrong`, `left` (we did) or `lost`. */
function verdictOf(one, { status, complete, hash }) {
  if (status === 0) return 'cut'
  if (status !== 200) return complete ? 'failed' : 'cut'
  if (!complete) return 'cut'
  if (one.method === 'HEAD') return hash === NOTHING ? 'whole' : 'wrong'
  return hash === one.expected ? 'whole' : 'wrong'
}

/** A client over HTTP/1.1. */
export function client1(port, connections) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  return {
    close: () => agent.destroy(),
    ask: (number, to) =>
      new Promise(resolve => {
        const one = plan(number, to)
        const seen = { status: 0, complete: false, hash: '' }
        const headers = one.body && !one.chunked ? { 'Content-Length': one.body.length } : {}
        const req = request({ agent, port, host: '127.0.0.1', path: one.path, method: one.method, headers })
        const end = verdict => {
          clearTimeout(patience)
          resolve({ path: one.path, verdict: verdict ?? verdictOf(one, seen) })
        }
        const patience = setTimeout(() => {
          end('lost')
          req.destroy()
        }, PATIENCE)
        req.on('response', res => {
          seen.status = res.statusCode
          if (one.leaves) {
            end('left')
            req.destroy()
            return
          }
          const hash = createHash('sha256')
          res.on('data', bytes => hash.update(bytes))
          res.on('error', () => {})
          res.on('close', () => {
            seen.complete = res.complete
            seen.hash = hash.digest('hex')
            end()
          })
        })
        req.on('error', () => seen.status === 0 && end('cut'))
        req.end(one.body ?? undefined)
      }),
  }
}

/** A client over h2c with some sessions; one that has ended is opened anew. */
export function client2(port, sessions) {
  const open = new Array(sessions).fill(null)
  const sessionAt = at => {
    const known = open[at]
    if (known && !known.closed && !known.destroyed) return known
    const made = connect(`http://127.0.0.1:${port}`)
    made.on('error', () => {})
    open[at] = made
    return made
  }
  return {
    close() {
      for (const session of open) session?.destroy()
    },
    ask: (number, to) =>
      new Promise(resolve => {
        const one = plan(number, to)
        const seen = { status: 0, complete: false, hash: '' }
        const stream = sessionAt(number % sessions).request(
          { ':path': one.path, ':method': one.method, ':authority': 'soak.test' },
          { endStream: one.body === null },
        )
        const end = verdict => {
          clearTimeout(patience)
          resolve({ path: one.path, verdict: verdict ?? verdictOf(one, seen) })
        }
        const patience = setTimeout(() => {
          end('lost')
          stream.destroy()
        }, PATIENCE)
        const hash = createHash('sha256')
        let ended = false
        stream.on('response', head => {
          seen.status = head[':status']
          if (one.leaves) {
            end('left')
            stream.close(8)
          }
        })
        stream.on('data', bytes => hash.update(bytes))
        stream.on('end', () => {
          ended = true
        })
        stream.on('error', () => {})
        stream.on('close', () => {
          seen.complete = ended && stream.rstCode === 0
          seen.hash = hash.digest('hex')
          end()
        })
        if (one.body) stream.end(one.body)
      }),
  }
}
