/** Node's own parser of answers, in memory: what node:http makes of bytes. */
import { createRequire } from 'node:module'

const { HTTPParser } = createRequire(import.meta.url)('_http_common')
const ON_HEADERS = HTTPParser.kOnHeaders
const ON_HEADERS_COMPLETE = HTTPParser.kOnHeadersComplete
const ON_BODY = HTTPParser.kOnBody
const ON_MESSAGE_COMPLETE = HTTPParser.kOnMessageComplete

/**
 * Reads one answer to a request with this method, as node:http's client does: `{ what, status, headers, body, trailers, interim }`.
 * `what` is `'whole'`, `'more'` or `'bad'`.
 */
export function readWithNode(pieces, method, closed) {
  const read = { what: 'more', status: 0, headers: [], body: '', trailers: [], interim: [] }
  const parser = new HTTPParser()
  parser.initialize(HTTPParser.RESPONSE, {}, 1 << 16, 0)
  let fields = []
  let headed = false
  parser[ON_HEADERS] = list => {
    fields.push(...list)
  }
  parser[ON_HEADERS_COMPLETE] = (_major, _minor, list, _method, _url, status) => {
    const headers = fields.length > 0 ? fields : (list ?? [])
    fields = []
    if (headed) return 1
    if (status >= 100 && status < 200 && status !== 101) {
      read.interim.push({ status, headers })
      return 1
    }
    headed = true
    read.status = status
    read.headers = headers
    return method === 'HEAD' ? 1 : 0
  }
  parser[ON_BODY] = bytes => {
    if (read.what === 'more') read.body += bytes.latin1Slice()
  }
  parser[ON_MESSAGE_COMPLETE] = () => {
    if (!headed || read.what !== 'more') return
    read.what = 'whole'
    read.trailers = fields
    fields = []
  }
  for (const piece of pieces) {
    if (piece.length === 0) continue
    const result = parser.execute(piece)
    if (read.what === 'whole') break
    if (result instanceof Error) {
      read.what = 'bad'
      break
    }
  }
  if (closed && read.what === 'more') {
    const result = parser.finish()
    if (read.what === 'more') read.what = 'bad'
    if (result instanceof Error && read.what !== 'whole') read.what = 'bad'
  }
  parser.close()
  return read
}
