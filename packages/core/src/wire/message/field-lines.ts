/**
 * Field lines of a head or of a trailer section (RFC 9112, 5), in one pass: `name: value` and CRLF, and an empty line behind the
 * last. No whitespace around names, no folding, no bare CR or LF, no controls. What is not plainly that is {@link BAD}.
 */
import { CONTENT_LENGTH, TRANSFER_ENCODING } from '../../headers/names.ts'
import { CLASS, COLON, CR, HTAB, LF, SPACE, TEXT, TOKEN } from './bytes.ts'
import { addToHash, type FieldName, fieldName } from './names.ts'

/** The bytes end before the empty line. */
export const MORE = -1
/** The bytes are no field lines. */
export const BAD = -2
/** More lines than allowed. */
export const TOO_MANY = -3

/** Values that share one string keep each other in memory: whoever stores one of them must not store a large head. */
const MOST_SHARED = 2048

// On every Buffer, but not in its types.
const { latin1Slice } = Buffer.prototype as unknown as {
  latin1Slice(this: Uint8Array, from: number, to: number): string
}

/** Reads field lines. One object serves many sections, one after the other; what it says holds until the next `scan`. */
export class FieldLines {
  /** Lines of the last section. */
  count = 0
  readonly #most: number
  readonly #names: FieldName[] = []
  /** Names that are there, of this section or of those before. */
  #known = 0
  /** Begin and end of each value. */
  #values: Int32Array = new Int32Array(64)
  /** Line of the first field of each kind, or -1. */
  readonly #first: Int16Array = new Int16Array(16)
  /** Kinds that there is more than one line of, as bits. */
  #repeated = 0

  /** `most`: lines of a section, up to 32 767. */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Reads the section that begins at `from`, in bytes that end at `to`. The place behind its empty line, or {@link MORE},
   * {@link BAD}, {@link TOO_MANY}.
   */
  scan(bytes: Uint8Array, from: number, to: number): number {
    const first = this.#first.fill(-1)
    this.#repeated = 0
    this.count = 0
    const classes = CLASS
    let count = 0
    let at = from
    for (;;) {
      if (at >= to) return MORE
      let byte = bytes[at]!
      if (byte === CR) {
        if (at + 1 >= to) return MORE
        if (bytes[at + 1] !== LF) return BAD
        this.count = count
        return at + 2
      }
      const begin = at
      // Mostly the line has the name that it had in the section before: then there is nothing to look up.
      let name = count < this.#known ? this.#names[count]! : null
      if (name !== null && startsWith(bytes, begin, to, name.bytes)) at += name.bytes.length
      else {
        let hash = 0
        while ((classes[byte]! & TOKEN) !== 0) {
          hash = addToHash(hash, byte)
          if (++at >= to) return MORE
          byte = bytes[at]!
        }
        if (byte !== COLON || at === begin) return BAD
        name = fieldName(bytes, begin, at, hash)
      }
      if (count === this.#most) return TOO_MANY
      do {
        if (++at >= to) return MORE
        byte = bytes[at]!
      } while (byte === SPACE || byte === HTAB)
      const value = at
      while (at < to && (classes[bytes[at]!]! & TEXT) !== 0) at++
      if (at === to) return MORE
      if (bytes[at] !== CR) return BAD
      let end = at
      // Some parsers know no tab behind what frames a message: it stays there, and makes it no length and no coding.
      const framing = name.kind === CONTENT_LENGTH || name.kind === TRANSFER_ENCODING
      while (end > value && (bytes[end - 1] === SPACE || (bytes[end - 1] === HTAB && !framing))) end--
      if (++at >= to) return MORE
      if (bytes[at++] !== LF) return BAD
      if (2 * count === this.#values.length) this.#grow()
      this.#names[count] = name
      if (count >= this.#known) this.#known = count + 1
      this.#values[2 * count] = value
      this.#values[2 * count + 1] = end
      if (name.kind !== 0) {
        if (first[name.kind] === -1) first[name.kind] = count
        else this.#repeated |= 1 << name.kind
      }
      count++
    }
  }

  /** Number of the first line of a kind (see `headers/names.ts`; not for END_TO_END), or -1. */
  first(kind: number): number {
    return this.#first[kind]!
  }

  /** More than one line is of this kind. */
  repeats(kind: number): boolean {
    return (this.#repeated & (1 << kind)) !== 0
  }

  name(line: number): FieldName {
    return this.#names[line]!
  }

  /** Where the value of a line begins, whitespace left out. */
  valueFrom(line: number): number {
    return this.#values[2 * line]!
  }

  /** Where the value of a line ends, whitespace left out. */
  valueTo(line: number): number {
    return this.#values[2 * line + 1]!
  }

  /** The lines as `[name, value, …]`, from the bytes that were scanned. */
  strings(bytes: Uint8Array): string[] {
    const { count } = this
    if (count === 0) return []
    const values = this.#values
    const begin = values[0]!
    // One string for all values: cutting it is cheaper than asking for each.
    const end = values[2 * count - 1]!
    const out = new Array<string>(2 * count)
    if (end - begin > MOST_SHARED) {
      for (let i = 0; i < count; i++) {
        out[2 * i] = this.#names[i]!.text
        out[2 * i + 1] = latin1Slice.call(bytes, values[2 * i]!, values[2 * i + 1]!)
      }
      return out
    }
    const text = latin1Slice.call(bytes, begin, end)
    for (let i = 0; i < count; i++) {
      out[2 * i] = this.#names[i]!.text
      out[2 * i + 1] = text.substring(values[2 * i]! - begin, values[2 * i + 1]! - begin)
    }
    return out
  }

  #grow(): void {
    const grown = new Int32Array(4 * this.#values.length)
    grown.set(this.#values)
    this.#values = grown
  }
}

/** True when the name stands at `from`, with its colon behind it. */
function startsWith(bytes: Uint8Array, from: number, to: number, name: Uint8Array): boolean {
  const { length } = name
  if (from + length >= to || bytes[from + length] !== COLON) return false
  for (let i = 0; i < length; i++) if (bytes[from + i] !== name[i]) return false
  return true
}
