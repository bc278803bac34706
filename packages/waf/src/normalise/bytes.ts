/** Classes of bytes that the normalisation asks about, and small helpers on them. */

/** What a byte may set off. A value without any of these is scanned once, as it stands. */
export const PERCENT = 1
export const PLUS = 2
export const AMPERSAND = 4
export const BACKSLASH = 8
/** Bytes from 0xc0: overlong UTF-8, full-width forms, invisible characters. */
export const HIGH = 16
export const NUL = 32
/** A `/` with a `*`, `.` or `/` near it is for the folding step to judge. */
export const SLASH = 64
export const QUOTE = 128
/** `^` and `$`: escapes and expansions of shells. */
export const SHELL = 256
export const WHITE = 512
/** The start of a tag. */
export const TAG = 1024

/** Flags of each byte. */
export const FLAGS: Uint16Array = new Uint16Array(256)
FLAGS[0x25] = PERCENT
FLAGS[0x2b] = PLUS
FLAGS[0x26] = AMPERSAND
FLAGS[0x5c] = BACKSLASH
FLAGS[0] = NUL
FLAGS[0x2f] = SLASH
FLAGS[0x3c] = TAG
for (const code of [0x22, 0x27, 0x60]) FLAGS[code] = QUOTE
for (const code of [0x24, 0x5e]) FLAGS[code] = SHELL
for (const code of [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20]) FLAGS[code] = WHITE
for (let code = 0xc0; code <= 0xff; code += 1) FLAGS[code] = HIGH

/** All flags of `length` bytes. */
export function flagsOf(bytes: Uint8Array, length: number): number {
  let flags = 0
  for (let i = 0; i < length; i += 1) flags |= FLAGS[bytes[i]!]!
  return flags
}

const HEX = new Int8Array(256).fill(-1)
for (let digit = 0; digit < 16; digit += 1) {
  HEX[digit.toString(16).charCodeAt(0)] = digit
  HEX[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}

/** Value of a hexadecimal digit, or -1. Also -1 past the end, where `byte` is undefined. */
export function hex(byte: number | undefined): number {
  return byte === undefined ? -1 : HEX[byte]!
}

/** Value of a hexadecimal number of exactly `digits` digits, or -1. */
export function hexNumber(bytes: Uint8Array, at: number, digits: number, length: number): number {
  if (at + digits > length) return -1
  let value = 0
  for (let i = at; i < at + digits; i += 1) {
    const digit = HEX[bytes[i]!]!
    if (digit < 0) return -1
    value = value * 16 + digit
  }
  return value
}

/** Writes a code point as UTF-8: at most four bytes. Gives the offset behind it. */
export function putCodePoint(code: number, to: Uint8Array, at: number): number {
  let i = at
  if (code < 0x80) {
    to[i++] = code
  } else if (code < 0x800) {
    to[i++] = 0xc0 | (code >> 6)
    to[i++] = 0x80 | (code & 0x3f)
  } else if (code < 0x10000) {
    to[i++] = 0xe0 | (code >> 12)
    to[i++] = 0x80 | ((code >> 6) & 0x3f)
    to[i++] = 0x80 | (code & 0x3f)
  } else {
    to[i++] = 0xf0 | ((code >> 18) & 7)
    to[i++] = 0x80 | ((code >> 12) & 0x3f)
    to[i++] = 0x80 | ((code >> 6) & 0x3f)
    to[i++] = 0x80 | (code & 0x3f)
  }
  return i
}

/** True for a letter, a digit or `_`. */
export function isWord(byte: number | undefined): boolean {
  return byte !== undefined && WORD[byte] === 1
}

const WORD = new Uint8Array(256)
for (const character of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_') {
  WORD[character.charCodeAt(0)] = 1
}

/** True for space, tab, line feed, vertical tab, form feed, carriage return. */
export function isWhite(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d)
}
