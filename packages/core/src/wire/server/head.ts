/**
 * Request heads, read strictly (RFC 9112, 2 to 6): the narrow part of the grammar that every reader takes alike. What is not plainly
 * in it is {@link NOT_OURS}, and goes to Node's parser as it came.
 */
import {
  CONNECTION,
  CONTENT_LENGTH,
  EXPECT,
  HOP_BY_HOP,
  HOST,
  TRANSFER_ENCODING,
  UPGRADE,
} from '../../headers/names.ts'
import { CR, isText } from '../message/bytes.ts'
import { FieldLines, MORE } from '../message/field-lines.ts'
import { readLength } from '../message/length.ts'

/** The bytes are no head that is read here. */
export const NOT_OURS = -2
/** {@link HeadReader.length} of a chunked body. */
export const CHUNKED = -1

/** Field lines of a head; Node's parser takes those that have more. */
const MOST_LINES = 1000

// On every Buffer, but not in its types.
const { latin1Slice } = Buffer.prototype as unknown as {
  latin1Slice(this: Uint8Array, from: number, to: number): string
}

/** Methods that are read here, the common ones first. Others may mean something to a parser. */
const METHODS = ['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'].map(text => ({
  text,
  bytes: new Uint8Array(Buffer.from(`${text} `)),
}))

/** What stands behind the target. */
const VERSION = new Uint8Array(Buffer.from(' HTTP/1.1\r\n'))
const SLASH = 0x2f

/** 1 for a byte of a target in origin-form: visible ASCII without `#`. */
const TARGET = new Uint8Array(256).fill(1, 0x21, 0x7f)
TARGET[0x23] = 0

/** Reads heads, one after the other; what it says holds until the next `read`. One object serves all connections. */
export class HeadReader {
  method = ''
  target = ''
  /** Value of `Host`. */
  host = ''
  /** Bytes of the body: 0 for none, {@link CHUNKED}. */
  length = 0
  /** A `Content-Length` or `Transfer-Encoding` that is not `0` was there. */
  hasBody = false
  /** `Connection: close`. */
  close = false
  /** `Expect: 100-continue`. */
  expects = false
  /** `[name, value, …]`. */
  fields: string[] = NO_FIELDS
  readonly #lines = new FieldLines(MOST_LINES)

  /**
   * Reads the head that begins at `from`, in bytes that end at `to`: the place behind it, {@link MORE} when it is right as far
   * as it goes, or {@link NOT_OURS}.
   */
  read(bytes: Uint8Array, from: number, to: number): number {
    let at = this.#readMethod(bytes, from, to)
    if (at < 0) return at
    const target = at
    if (at === to) return MORE
    if (bytes[at] !== SLASH) return NOT_OURS
    do {
      if (++at === to) return MORE
    } while (TARGET[bytes[at]!] === 1)
    const targetEnd = at
    for (let i = 0; i < VERSION.length; i++, at++) {
      if (at === to) return MORE
      if (bytes[at] !== VERSION[i]) return NOT_OURS
    }
    const end = this.#lines.scan(bytes, at, to)
    if (end === MORE) return MORE
    if (end < 0 || !this.#judge(bytes)) return NOT_OURS
    this.target = latin1Slice.call(bytes, target, targetEnd)
    this.fields = this.#lines.strings(bytes)
    this.host = this.fields[2 * this.#lines.first(HOST) + 1]!
    return end
  }

  #readMethod(bytes: Uint8Array, from: number, to: number): number {
    for (let m = 0; m < METHODS.length; m++) {
      const { text, bytes: method } = METHODS[m]!
      if (bytes[from] !== method[0]) continue
      let i = 1
      while (i < method.length && from + i < to && bytes[from + i] === method[i]) i++
      if (i === method.length) {
        this.method = text
        return from + i
      }
      if (from + i === to) return MORE
    }
    return NOT_OURS
  }

  /** What the fields say of the connection and of the body: once, and in one way that nobody reads differently. */
  #judge(bytes: Uint8Array): boolean {
    const lines = this.#lines
    if (lines.first(HOST) === -1 || lines.repeats(HOST) || lines.first(UPGRADE) !== -1) return false
    this.close = false
    const connection = lines.first(CONNECTION)
    if (connection !== -1) {
      const from = lines.valueFrom(connection)
      const to = lines.valueTo(connection)
      this.close = isText(bytes, from, to, 'close')
      if (lines.repeats(CONNECTION) || !(this.close || isText(bytes, from, to, 'keep-alive'))) return false
    }
    if (lines.first(HOP_BY_HOP) !== -1 && this.#saysProxyConnection()) return false
    this.expects = false
    const expect = lines.first(EXPECT)
    if (expect !== -1) {
      this.expects = isText(bytes, lines.valueFrom(expect), lines.valueTo(expect), '100-continue')
      if (!this.expects || lines.repeats(EXPECT)) return false
    }
    // A client that waits to be asked for nothing is nothing plain.
    return this.#judgeLength(bytes) && (this.hasBody || !this.expects)
  }

  #judgeLength(bytes: Uint8Array): boolean {
    const lines = this.#lines
    const length = lines.first(CONTENT_LENGTH)
    const coding = lines.first(TRANSFER_ENCODING)
    this.length = 0
    if (coding !== -1) {
      this.length = CHUNKED
      if (length !== -1 || lines.repeats(TRANSFER_ENCODING)) return false
      if (!isChunked(bytes, lines.valueFrom(coding), lines.valueTo(coding))) return false
    } else if (length !== -1) {
      if (lines.repeats(CONTENT_LENGTH) || bytes[lines.valueTo(length)] !== CR) return false
      this.length = readLength(bytes, lines.valueFrom(length), lines.valueTo(length), false)
      if (this.length < 0) return false
    }
    this.hasBody = this.length !== 0
    return true
  }

  /** Parsers take it for `Connection`. */
  #saysProxyConnection(): boolean {
    const lines = this.#lines
    for (let i = 0; i < lines.count; i++) {
      const { kind, text } = lines.name(i)
      if (kind === HOP_BY_HOP && text.toLowerCase() === 'proxy-connection') return true
    }
    return false
  }
}

const NO_FIELDS: string[] = []
const CODING = 'chunked'

/** In lower case only, and nothing behind it: other spellings are read here and there as something else. */
function isChunked(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from !== CODING.length || bytes[to] !== CR) return false
  for (let i = 0; i < CODING.length; i++) if (bytes[from + i] !== CODING.charCodeAt(i)) return false
  return true
}
