/**
 * Answers of HTTP/1.1, read strictly (RFC 9112): bytes in any split, everything bounded, and no guesses. A body is framed by what
 * 6.3 says, and only where that is one plain thing; whatever is not is {@link BAD}, and the connection has to go.
 */
import { CONNECTION, CONTENT_LENGTH, HOP_BY_HOP, TRANSFER_ENCODING } from '../../headers/names.ts'
import { CLASS, CR, DIGIT, LF, SPACE, TEXT } from '../message/bytes.ts'
import { ChunkedDecoder, DATA, END } from '../message/chunked.ts'
import { BAD, FieldLines, MORE } from '../message/field-lines.ts'
import { isChunked, isForeignCoding, readLength } from '../message/length.ts'
import { PartialSection } from '../message/partial-section.ts'
import { keepAliveOf, listHas } from './connection-fields.ts'

export { BAD, DATA, END, MORE }

/** An interim answer stands in `status` and `headers`. */
export const INTERIM = 3
/** The head of the answer stands in `status` and `headers`. */
export const HEAD = 4

/** Bytes and lines of a head. */
export const MOST_HEAD = 32_768
export const MOST_LINES = 1000
/** Interim answers to one request. */
const MOST_INTERIM = 64

const START = Buffer.from('HTTP/1.')
/** What a start line has up to its status: `HTTP/1.1 200`. */
const STATUS_END = 12

// What comes next.
const IN_HEAD = 0
const IN_LENGTH = 1
const IN_CHUNKS = 2
const UNTIL_CLOSE = 3
const NOTHING = 4

/** Reads the answers of one connection. */
export class ResponseParser {
  /** Place behind what was read. */
  at = 0
  /** After `DATA`: where it is. */
  dataFrom = 0
  dataTo = 0
  /** After `INTERIM` and `HEAD`. */
  status = 0
  headers: string[] = []
  /** After `HEAD`: nothing follows it. */
  ended = false
  /** After `END`. */
  trailers: string[] = NO_FIELDS
  /** After `HEAD`: the connection may be used again. */
  persistent = false
  /** After `HEAD`: seconds for which the server keeps an idle connection, or -1. */
  keepAlive = -1
  #state = NOTHING
  #withoutBody = false
  #left = 0
  #interim = 0
  readonly #lines = new FieldLines(MOST_LINES)
  readonly #section = new PartialSection(MOST_HEAD, true)
  #chunks: ChunkedDecoder | null = null

  /** The next answer is to a request with this method. */
  begin(method: string): void {
    this.#state = IN_HEAD
    this.#withoutBody = method === 'HEAD'
    this.#interim = 0
    this.trailers = NO_FIELDS
  }

  /** Bytes that are still to come of the body; -1 where nobody knows. */
  get expected(): number {
    return this.#state === IN_CHUNKS || this.#state === UNTIL_CLOSE ? -1 : this.#left
  }

  /** The body comes in chunks. */
  get chunked(): boolean {
    return this.#state === IN_CHUNKS
  }

  /** All of the body has come; only `END` has not been told. */
  get bodyIsWhole(): boolean {
    return this.#state === IN_LENGTH && this.#left === 0
  }

  /**
   * Reads on at `from`, in bytes that end at `to`: `INTERIM`, `HEAD`, `DATA`, `END`, `MORE` or `BAD`. Go on at `at`. After `END`
   * only `begin` makes it read again; after `BAD` nothing does.
   */
  next(bytes: Buffer, from: number, to: number): number {
    this.at = from
    switch (this.#state) {
      case IN_HEAD:
        return this.#head(bytes, from, to)
      case IN_LENGTH:
        if (this.#left === 0) return this.#end()
        if (from >= to) return MORE
        this.dataFrom = from
        this.dataTo = this.at = Math.min(to, from + this.#left)
        this.#left -= this.at - from
        return DATA
      case IN_CHUNKS:
        return this.#chunk(bytes, from, to)
      case UNTIL_CLOSE:
        if (from >= to) return MORE
        this.dataFrom = from
        this.dataTo = this.at = to
        return DATA
    }
    return BAD
  }

  /** The server has ended the connection in order: `END` for a body that ends so, else `BAD`. */
  close(): number {
    return this.#state === UNTIL_CLOSE ? this.#end() : BAD
  }

  #end(): number {
    this.#state = NOTHING
    return END
  }

  #chunk(bytes: Buffer, from: number, to: number): number {
    const chunks = this.#chunks!
    const what = chunks.next(bytes, from, to)
    this.at = chunks.at
    if (what === DATA) {
      this.dataFrom = chunks.dataFrom
      this.dataTo = chunks.dataTo
    } else if (what === END) {
      this.trailers = chunks.trailers
      this.#state = NOTHING
    }
    return what
  }

  #head(bytes: Buffer, from: number, to: number): number {
    const section = this.#section
    if (!section.begun) {
      const end = this.#read(bytes, from, to)
      if (end >= 0) {
        if (end - from > MOST_HEAD) return BAD
        this.at = end
        return this.#judge(bytes)
      }
      if (end === BAD) return BAD
    }
    const end = section.add(bytes, from, to)
    if (end === MORE) {
      this.at = to
      return this.#begins(section.bytes, section.length) ? MORE : BAD
    }
    if (end < 0 || this.#read(section.bytes, 0, section.length) !== section.length) return BAD
    this.at = end
    const what = this.#judge(section.bytes)
    section.clear()
    return what
  }

  /** The place behind the head, `MORE` or `BAD`. */
  #read(bytes: Buffer, from: number, to: number): number {
    if (to - from <= STATUS_END) return this.#begins(bytes.subarray(from), to - from) ? MORE : BAD
    if (!this.#starts(bytes, from)) return BAD
    let at = from + STATUS_END
    let byte = bytes[at]!
    // A reason phrase may be empty, and servers leave the space out then.
    if (byte === SPACE) {
      while ((CLASS[byte]! & TEXT) !== 0) {
        if (++at >= to) return MORE
        byte = bytes[at]!
      }
    }
    if (byte !== CR) return BAD
    if (++at >= to) return MORE
    if (bytes[at] !== LF) return BAD
    const end = this.#lines.scan(bytes, at + 1, to)
    return end < MORE ? BAD : end
  }

  /** `HTTP/1.` and `0` or `1`, a space, three digits. */
  #starts(bytes: Buffer, from: number): boolean {
    for (let i = 0; i < START.length; i++) if (bytes[from + i] !== START[i]) return false
    const version = bytes[from + 7]
    if ((version !== 0x30 && version !== 0x31) || bytes[from + 8] !== SPACE) return false
    const a = bytes[from + 9]!
    const b = bytes[from + 10]!
    const c = bytes[from + 11]!
    if ((CLASS[a]! & CLASS[b]! & CLASS[c]! & DIGIT) === 0) return false
    this.status = (a - 0x30) * 100 + (b - 0x30) * 10 + (c - 0x30)
    this.persistent = version === 0x31
    return this.status >= 100
  }

  /** True when bytes could be the beginning of an answer. */
  #begins(bytes: Buffer, length: number): boolean {
    const filled = Buffer.from('HTTP/1.1 200')
    bytes.copy(filled, 0, 0, Math.min(length, STATUS_END))
    return this.#starts(filled, 0) && (length <= STATUS_END || bytes[12] === SPACE || bytes[12] === CR)
  }

  /** Decides on a head that has been read: how its body is framed. */
  #judge(bytes: Buffer): number {
    const lines = this.#lines
    const { status } = this
    const length = lines.first(CONTENT_LENGTH)
    const coding = lines.first(TRANSFER_ENCODING)
    let bytesOfBody = -1
    let chunked = false
    if (length >= 0) {
      if (lines.repeats(CONTENT_LENGTH)) return BAD
      bytesOfBody = readLength(bytes, lines.valueFrom(length), lines.valueTo(length), true)
      if (bytesOfBody < 0) return BAD
    }
    if (coding >= 0) {
      // Both together, several, or one before HTTP/1.1: nobody knows what the server means (RFC 9112, 6.1).
      if (length >= 0 || lines.repeats(TRANSFER_ENCODING) || !this.persistent) return BAD
      const from = lines.valueFrom(coding)
      const to = lines.valueTo(coding)
      chunked = isChunked(bytes, from, to)
      if (!chunked && !isForeignCoding(bytes, from, to)) return BAD
    }
    if (lines.first(CONNECTION) >= 0) this.#connection(bytes)
    if (status < 200) {
      // Nobody has asked for another protocol here; and behind the last answer of a connection there is no other.
      if (status === 101 || !this.persistent || ++this.#interim > MOST_INTERIM) return BAD
      this.headers = lines.strings(bytes)
      return INTERIM
    }
    this.headers = lines.strings(bytes)
    this.keepAlive = lines.first(HOP_BY_HOP) >= 0 ? keepAliveOf(this.headers) : -1
    // As long as the connection, then (6.3), also where this one has no body.
    if (coding >= 0 && !chunked) this.persistent = false
    this.ended = this.#withoutBody || status === 204 || status === 304 || bytesOfBody === 0
    if (this.ended) {
      this.#state = IN_LENGTH
      this.#left = 0
    } else if (chunked) {
      this.#chunks ??= new ChunkedDecoder()
      this.#chunks.reset()
      this.#state = IN_CHUNKS
    } else if (length >= 0) {
      this.#left = bytesOfBody
      this.#state = IN_LENGTH
    } else {
      this.#state = UNTIL_CLOSE
      this.persistent = false
    }
    return HEAD
  }

  #connection(bytes: Buffer): void {
    const lines = this.#lines
    for (let line = lines.first(CONNECTION); line < lines.count; line++) {
      if (lines.name(line).kind !== CONNECTION) continue
      const from = lines.valueFrom(line)
      const to = lines.valueTo(line)
      if (listHas(bytes, from, to, 'close')) {
        this.persistent = false
        return
      }
      if (listHas(bytes, from, to, 'keep-alive')) this.persistent = true
    }
  }
}

const NO_FIELDS: string[] = []
