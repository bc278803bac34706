/** A head or a trailer section that comes in several pieces: kept until it is whole, and refused as soon as it can't become one. */
import { CLASS, COLON, CR, LF, TEXT, TOKEN } from './bytes.ts'
import { BAD, MORE } from './field-lines.ts'

/** Longer than allowed. */
export const TOO_LONG = -4

const FIRST_SIZE = 1024

/** What comes next. */
const START_LINE = 0
const LINE = 1
const NAME = 2
const VALUE = 3
const LINE_LF = 4
const LAST_LF = 5
const WHOLE = 6

/** Keeps one section at a time. Each byte is looked at once, however the pieces are cut. */
export class PartialSection {
  /** The bytes so far; valid up to `length`. */
  bytes: Buffer = NOTHING
  length = 0
  readonly #most: number
  readonly #first: number
  #state: number

  /** `most`: bytes of a section. `startLine`: it begins with a line that is no field: of any text. */
  constructor(most: number, startLine: boolean) {
    this.#most = most
    this.#first = this.#state = startLine ? START_LINE : LINE
  }

  /** Something has been kept. */
  get begun(): boolean {
    return this.length > 0
  }

  /**
   * Takes bytes up to the end of the section, its empty line. The place behind that in `bytes`, or `MORE`, `BAD`,
   * {@link TOO_LONG}.
   */
  add(bytes: Uint8Array, from: number, to: number): number {
    let state = this.#state
    // One byte more than allowed is enough to know.
    const stop = Math.min(to, from + this.#most - this.length + 1)
    let at = from
    let whole = false
    while (at < stop && !whole) {
      const byte = bytes[at++]!
      state = after(state, byte)
      if (state === BAD) return BAD
      whole = state === WHOLE
    }
    this.#state = state
    if (this.length + (at - from) > this.#most) return TOO_LONG
    this.#keep(bytes, from, at)
    return whole ? at : MORE
  }

  /** Forgets it. */
  clear(): void {
    this.bytes = NOTHING
    this.length = 0
    this.#state = this.#first
  }

  #keep(bytes: Uint8Array, from: number, to: number): void {
    const needed = this.length + (to - from)
    if (needed > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(this.#most, Math.max(FIRST_SIZE, 2 * needed)))
      grown.set(this.bytes.subarray(0, this.length))
      this.bytes = grown
    }
    this.bytes.set(bytes.subarray(from, to), this.length)
    this.length = needed
  }
}

/** What may come behind a byte, or `BAD`. */
function after(state: number, byte: number): number {
  switch (state) {
    case LINE:
      return byte === CR ? LAST_LF : (CLASS[byte]! & TOKEN) !== 0 ? NAME : BAD
    case NAME:
      return byte === COLON ? VALUE : (CLASS[byte]! & TOKEN) !== 0 ? NAME : BAD
    case LINE_LF:
      return byte === LF ? LINE : BAD
    case LAST_LF:
      return byte === LF ? WHOLE : BAD
  }
  return byte === CR ? LINE_LF : (CLASS[byte]! & TEXT) !== 0 ? state : BAD
}

const NOTHING = Buffer.alloc(0)
