/** Sets of bytes: 256 bits in eight words. */

export type ByteSet = Uint32Array

export function emptySet(): ByteSet {
  return new Uint32Array(8)
}

/** All bytes from `low` to `high`, both included. */
export function rangeSet(low: number, high: number): ByteSet {
  const set = emptySet()
  addRange(set, low, high)
  return set
}

export function addRange(set: ByteSet, low: number, high: number): void {
  for (let byte = low; byte <= high; byte++) set[byte >> 5]! |= 1 << (byte & 31)
}

export function addAll(set: ByteSet, other: ByteSet): void {
  for (let i = 0; i < 8; i++) set[i]! |= other[i]!
}

export function negated(set: ByteSet): ByteSet {
  return set.map(word => ~word)
}

export function has(set: ByteSet, byte: number): boolean {
  return (set[byte >> 5]! & (1 << (byte & 31))) !== 0
}

/** Adds the other case of each ASCII letter. */
export function foldCase(set: ByteSet): void {
  for (let upper = 0x41; upper <= 0x5a; upper++) {
    const lower = upper | 0x20
    if (has(set, upper)) addRange(set, lower, lower)
    else if (has(set, lower)) addRange(set, upper, upper)
  }
}

/** Bytes in the set, in order. */
export function members(set: ByteSet): number[] {
  const found: number[] = []
  for (let byte = 0; byte < 256; byte++) if (has(set, byte)) found.push(byte)
  return found
}

/** A string that is equal for equal sets. */
export function setKey(set: ByteSet): string {
  return set.join()
}

function listed(...ranges: readonly (readonly [number, number])[]): ByteSet {
  const set = emptySet()
  for (const [low, high] of ranges) addRange(set, low, high)
  return set
}

export const ANY: ByteSet = rangeSet(0, 255)
export const DIGIT: ByteSet = rangeSet(0x30, 0x39)
export const WORD: ByteSet = listed([0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a])
/** As in PCRE: with the vertical tab, without 0x85 and 0xa0. */
export const SPACE: ByteSet = listed([0x09, 0x0d], [0x20, 0x20])
export const BLANK: ByteSet = listed([0x09, 0x09], [0x20, 0x20], [0xa0, 0xa0])

/** POSIX classes, usable inside brackets. */
export const POSIX: ReadonlyMap<string, ByteSet> = new Map([
  ['alnum', listed([0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a])],
  ['alpha', listed([0x41, 0x5a], [0x61, 0x7a])],
  ['ascii', rangeSet(0, 0x7f)],
  ['blank', listed([0x09, 0x09], [0x20, 0x20])],
  ['cntrl', listed([0x00, 0x1f], [0x7f, 0x7f])],
  ['digit', DIGIT],
  ['graph', rangeSet(0x21, 0x7e)],
  ['lower', rangeSet(0x61, 0x7a)],
  ['print', rangeSet(0x20, 0x7e)],
  ['punct', listed([0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e])],
  ['space', SPACE],
  ['upper', rangeSet(0x41, 0x5a)],
  ['word', WORD],
  ['xdigit', listed([0x30, 0x39], [0x41, 0x46], [0x61, 0x66])],
])
