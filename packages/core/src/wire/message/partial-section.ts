/** A head or a trailer section that comes in several pieces: kept until it is whole, and refused as soon as it can't become one. */
import { CLASS, CR, LF, TEXT } from './bytes.ts'
import { BAD, MORE } from './field-lines.ts'

/** Longer than allowed. */
export const TOO_LONG = -4

const FIRST_SIZE = 1024

/** Where the last byte stands. */
const IN_LINE = 0
const AFTER_CR = 1
const LINE_BEGINS = 2
const EMPTY_LINE_CR = 3

/** Keeps one section at a time. Each byte is looked at once, however the pieces are cut. */
export class PartialSection {
  /** The bytes so far; valid up to `length`. */
  bytes: Buffer = NOTHING
  length = 0
  readonly #most: number
  #state = LINE_BEGINS

  /** `most`: bytes of a section. */
  constructor(most: number) {
    this.#most = most
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
      if (state === AFTER_CR || state === EMPTY_LINE_CR) {
        if (byte !== LF) return BAD
        whole = state === EMPTY_LINE_CR
        state = LINE_BEGINS
      } else if (byte === CR) state = state === LINE_BEGINS ? EMPTY_LINE_CR : AFTER_CR
      else if ((CLASS[byte]! & TEXT) === 0) return BAD
      else state = IN_LINE
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
    this.#state = LINE_BEGINS
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

const NOTHING = Buffer.alloc(0)
