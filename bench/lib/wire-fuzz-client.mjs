/** The wire client's parser against Node's own: it agrees, or it refuses. */
import { answerFor, piecesFor } from './answers.mjs'
import { readWithNode } from './node-parser.mjs'
import { readWithUndici } from './undici-answers.mjs'

/**
 * Compares `count` answers. `readAnswer` is that of the wire client. Returns how many were whole, unfinished and refused, and
 * every difference as text: an answer that is framed in another way, or that only the wire client accepts.
 */
export function compareAnswers(readAnswer, count, seed) {
  const seen = { whole: 0, more: 0, bad: 0, refusedByBoth: 0 }
  const differences = []
  for (let i = 0; i < count; i++) {
    const { method, bytes, closed } = answerFor(seed + i)
    const own = readAnswer([bytes], method, closed)
    seen[own.what]++
    const split = readAnswer(piecesFor(bytes, seed + i), method, closed)
    const problem = same(own, split)
      ? against(readAnswer, own, bytes, method, closed)
      : 'it is read differently in pieces'
    if (own.what === 'bad' && readWithNode([bytes], method, closed).what === 'bad') seen.refusedByBoth++
    if (problem !== null)
      differences.push(
        `${problem} (${seed + i}, ${method}${closed ? ', closed' : ''}): ${JSON.stringify(bytes.latin1Slice())}`,
      )
  }
  return { seen, differences }
}

const END = Buffer.from('\r\n\r\n')

/** What Node says otherwise; `null` where they agree, or the wire client refuses. */
function against(readAnswer, own, bytes, method, closed) {
  // A head that is not over has not been judged.
  if (own.what === 'bad' || (own.what === 'more' && own.status === 0)) return null
  const end = bytes.length - own.rest
  // Up to the last byte of the answer it must not be over, and with that byte it must.
  const node =
    own.what === 'whole' && end > 0
      ? readWithNode([bytes.subarray(0, end - 1), bytes.subarray(end - 1, end)], method, closed)
      : readWithNode([bytes], method, closed)
  // A trailer section is judged when it is over, too.
  if (own.what === 'more' && node.what === 'bad' && readAnswer([bytes, END], method, closed).what === 'bad')
    return null
  if (node.what !== own.what) return `it is '${own.what}', Node says '${node.what}'`
  if (
    own.what === 'whole' &&
    end > 0 &&
    !closed &&
    readWithNode([bytes.subarray(0, end - 1)], method, false).what === 'whole'
  ) {
    return 'Node takes it for whole a byte before'
  }
  for (const what of ['status', 'body', 'headers', 'interim', 'trailers']) {
    if (own.what === 'more' && what === 'trailers') continue
    if (JSON.stringify(own[what]) !== JSON.stringify(node[what]))
      return `${what}: Node reads ${JSON.stringify(node[what])}`
  }
  return null
}

/** As `compareAnswers`, against undici: only the answers that the wire client accepts, and not those that undici is known to fail. */
export async function compareWithUndici(readAnswer, count, seed) {
  const differences = []
  let compared = 0
  for (let i = 0; i < count; i++) {
    const { method, bytes, closed } = answerFor(seed + i)
    const own = readAnswer([bytes], method, closed)
    if (own.what !== 'whole' || failsInUndici(own)) continue
    compared++
    const other = await readWithUndici([bytes.subarray(0, bytes.length - own.rest)], method, closed)
    const given = [other.what, other.status, other.body, trimmed(other.headers), trimmed(other.trailers)]
    if (same(given, [own.what, own.status, own.body, own.headers, own.trailers])) continue
    differences.push(
      `undici: ${JSON.stringify(given)} (${seed + i}, ${method}): ${JSON.stringify(bytes.latin1Slice())}`,
    )
  }
  return { compared, differences }
}

/** A 100 that nobody asked for; a length with an answer that has no body. */
function failsInUndici({ status, headers, interim }) {
  const bodiless = status === 204 || status === 304
  return (
    interim.some(one => one.status === 100) ||
    (bodiless && headers.some(text => /^content-length$/i.test(text)))
  )
}

/** undici leaves whitespace behind values where it is. */
function trimmed(headers) {
  return headers.map((text, i) => (i % 2 === 0 ? text : text.replace(/[ \t]+$/, '')))
}

function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other)
}
