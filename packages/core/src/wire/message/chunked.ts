/**
 * The chunked coding (RFC 9112, 7.1), read strictly: sizes in hexadecimal with CRLF behind them, extensions by the grammar without
 * whitespace and ignored, CRLF behind the data, a trailer section. Everything is bounded.
 */
import { CONTENT_LENGTH, TRANSFER_ENCODING } from '../../headers/names.ts'
import { BACKSLASH, CLASS, CR, EQUALS, HEX, LF, QUOTE, SEMICOLON, TEXT, TOKEN } from './bytes.ts'
import { BAD, FieldLines, MORE } from './field-lines.ts'
import { PartialSection } from './partial-section.ts'

/** Data stands at `dataFrom` to `dataTo`. */
export const DATA = 1
/** The body is whole; its trailers are in `trailers`. */
export const END = 2

/** Hexadecimal digits of a size, leading zeros included. */
const MOST_DIGITS = 16
/** Bytes of extensions in one body. */
const MOST_EXTENSIONS = 16_384
/** Bytes and lines of a trailer section. */
const MOST_TRAILER = 16_384
const MOST_TRAILER_LINES = 128

const FIRST_DIGIT = 0
const SIZE = 1
const SIZE_LF = 2
const EXTENSION_NAME = 3
const EXTENSION_VALUE = 4
const EXTENSION_QUOTED = 5
const EXTENSION_ESCAPED = 6
const EXTENSION_DONE = 7
const INSIDE = 8
const DATA_CR = 9
const DATA_LF = 10
const TRAILER = 11
const OVER = 12

/** Reads chunked bodies, one after the other. */
export class ChunkedDecoder {
  /** Place behind what was read. */
  at = 0
  /** Where the data is that `next` found. */
  dataFrom = 0
  dataTo = 0
  /** After {@link END}: `[name, value, …]`. */
  trailers: string[] = []
  /** Some chunk of the body had an extension. */
  extended = false
  #state = FIRST_DIGIT
  /** Bytes left of the chunk; while its size is read: the size. */
  #left = 0
  #digits = 0
  #extensions = 0
  /** The extension has a name; its value is not empty. */
  #named = false
  readonly #lines = new FieldLines(MOST_TRAILER_LINES)
  readonly #section = new PartialSection(MOST_TRAILER, false)

  /** Begins a body. */
  reset(): void {
    this.#state = FIRST_DIGIT
    this.#left = this.#digits = this.#extensions = 0
    this.extended = false
    this.trailers = []
    this.#section.clear()
  }

  /**
   * Reads on at `from`, in bytes that end at `to`: {@link DATA}, {@link END}, `MORE` or `BAD`. After the first two, go on at
   * `at`. After `BAD` it is of no more use before a `reset`.
   */
  next(bytes: Uint8Array, from: number, to: number): number {
    this.at = from
    for (;;) {
      if (this.#state === INSIDE) return this.#data(to)
      if (this.#state === TRAILER) return this.#trailer(bytes, to)
      if (this.#state === OVER) return END
      if (this.at >= to) return MORE
      if (!this.#step(bytes[this.at++]!)) return BAD
    }
  }

  #data(to: number): number {
    const { at } = this
    if (at >= to) return MORE
    const end = Math.min(to, at + this.#left)
    this.dataFrom = at
    this.dataTo = this.at = end
    this.#left -= end - at
    if (this.#left === 0) this.#state = DATA_CR
    return DATA
  }

  /** One byte outside of data and trailers. False for one that may not stand there. */
  #step(byte: number): boolean {
    switch (this.#state) {
      case FIRST_DIGIT:
        this.#left = HEX[byte]!
        this.#digits = 1
        this.#state = SIZE
        return this.#left >= 0
      case SIZE:
        if (HEX[byte]! >= 0) {
          this.#left = this.#left * 16 + HEX[byte]!
          return ++this.#digits <= MOST_DIGITS && Number.isSafeInteger(this.#left)
        }
        return this.#sizeEnds(byte)
      case SIZE_LF:
        this.#state = this.#left === 0 ? TRAILER : INSIDE
        return byte === LF
      case DATA_CR:
        this.#state = DATA_LF
        return byte === CR
      case DATA_LF:
        this.#state = FIRST_DIGIT
        return byte === LF
    }
    return ++this.#extensions <= MOST_EXTENSIONS && this.#extension(byte)
  }

  /** Behind a size or an extension. */
  #sizeEnds(byte: number): boolean {
    if (byte === CR) this.#state = SIZE_LF
    else if (byte === SEMICOLON) {
      this.extended = true
      this.#named = false
      this.#state = EXTENSION_NAME
    } else return false
    return true
  }

  #extension(byte: number): boolean {
    switch (this.#state) {
      case EXTENSION_NAME:
        if ((CLASS[byte]! & TOKEN) !== 0) this.#named = true
        else if (!this.#named) return false
        else if (byte === EQUALS) {
          this.#named = false
          this.#state = EXTENSION_VALUE
        } else return this.#sizeEnds(byte)
        return true
      case EXTENSION_VALUE:
        if ((CLASS[byte]! & TOKEN) !== 0) this.#named = true
        else if (byte === QUOTE && !this.#named) this.#state = EXTENSION_QUOTED
        else return this.#named && this.#sizeEnds(byte)
        return true
      case EXTENSION_QUOTED:
        if (byte === QUOTE) this.#state = EXTENSION_DONE
        else if (byte === BACKSLASH) this.#state = EXTENSION_ESCAPED
        else return (CLASS[byte]! & TEXT) !== 0
        return true
      case EXTENSION_ESCAPED:
        this.#state = EXTENSION_QUOTED
        return (CLASS[byte]! & TEXT) !== 0
    }
    return this.#sizeEnds(byte)
  }

  #trailer(bytes: Uint8Array, to: number): number {
    const { at } = this
    const section = this.#section
    if (!section.begun) {
      const end = this.#lines.scan(bytes, at, to)
      if (end - at > MOST_TRAILER) return BAD
      if (end >= 0) return this.#ended(bytes, end)
      if (end !== MORE) return BAD
    }
    const end = section.add(bytes, at, to)
    if (end === MORE) {
      this.at = to
      return MORE
    }
    if (end < 0 || this.#lines.scan(section.bytes, 0, section.length) !== section.length) return BAD
    return this.#ended(section.bytes, end)
  }

  #ended(bytes: Uint8Array, end: number): number {
    const lines = this.#lines
    // Framing behind the body: whoever heeds it reads another message (RFC 9110, 6.5.1).
    if (lines.first(CONTENT_LENGTH) >= 0 || lines.first(TRANSFER_ENCODING) >= 0) return BAD
    this.trailers = lines.strings(bytes)
    this.#section.clear()
    this.at = end
    this.#state = OVER
    return END
  }
}
