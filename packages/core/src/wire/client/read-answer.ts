/** An answer read from bytes in memory: for tests and fuzzing. */
import { BAD, DATA, END, HEAD, INTERIM, MORE, ResponseParser } from './response-parser.ts'

/** What was made of the bytes. */
export interface ReadAnswer {
  /** `'whole'`: an answer with its end; `'more'`: it is not over; `'bad'`: it is refused. */
  what: 'whole' | 'more' | 'bad'
  status: number
  headers: string[]
  body: string
  trailers: string[]
  interim: { status: number; headers: string[] }[]
  /** Bytes behind its end. */
  rest: number
  persistent: boolean
}

/**
 * Feeds pieces of a connection to a parser. `closed`: the server ends the connection behind them.
 */
export function readAnswer(
  pieces: readonly Buffer[],
  method: string,
  closed: boolean,
  parser: ResponseParser = new ResponseParser(),
): ReadAnswer {
  const read: ReadAnswer = {
    what: 'more',
    status: 0,
    headers: [],
    body: '',
    trailers: [],
    interim: [],
    rest: 0,
    persistent: false,
  }
  parser.begin(method)
  for (let i = 0; i < pieces.length; i++) {
    if (!readPiece(read, parser, pieces[i]!)) continue
    if (read.what === 'whole') for (const piece of pieces.slice(i + 1)) read.rest += piece.length
    return read
  }
  if (closed) read.what = parser.close() === END ? 'whole' : 'bad'
  return read
}

/** True when it is over. */
function readPiece(read: ReadAnswer, parser: ResponseParser, bytes: Buffer): boolean {
  for (let at = 0; ; at = parser.at) {
    switch (parser.next(bytes, at, bytes.length)) {
      case INTERIM:
        read.interim.push({ status: parser.status, headers: parser.headers })
        break
      case HEAD:
        read.status = parser.status
        read.headers = parser.headers
        read.persistent = parser.persistent
        break
      case DATA:
        read.body += bytes.toString('latin1', parser.dataFrom, parser.dataTo)
        break
      case END:
        read.what = 'whole'
        read.trailers = parser.trailers
        read.rest = bytes.length - parser.at
        return true
      case BAD:
        read.what = 'bad'
        return true
      case MORE:
        return false
    }
  }
}

/** The bytes cut at these places, which may be any numbers. */
export function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = cuts.map(cut => cut % (bytes.length + 1)).sort((a, b) => a - b)
  return [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length))
}
