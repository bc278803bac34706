/** What each byte may be in HTTP/1.1 (RFC 9110, 5.5 and 5.6; RFC 9112). */

export const HTAB = 0x09
export const LF = 0x0a
export const CR = 0x0d
export const SPACE = 0x20
export const QUOTE = 0x22
export const COLON = 0x3a
export const SEMICOLON = 0x3b
export const EQUALS = 0x3d
export const BACKSLASH = 0x5c

/** A character of a token: methods, field names. */
export const TOKEN = 1
/** What a field value or a reason phrase may hold: HTAB, SP, VCHAR, obs-text. */
export const TEXT = 2
/** `0` to `9`. */
export const DIGIT = 4

/** Of each byte the classes above, as bits. */
export const CLASS: Uint8Array = classes()

/** Of each byte its value as a hexadecimal digit, or -1. */
export const HEX: Int8Array = hexDigits()

function classes(): Uint8Array {
  const table = new Uint8Array(256)
  for (let byte = 0; byte < 256; byte++) {
    const char = String.fromCharCode(byte)
    if (/[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(char)) table[byte]! |= TOKEN
    if (byte === HTAB || (byte >= SPACE && byte !== 0x7f)) table[byte]! |= TEXT
    if (byte >= 0x30 && byte <= 0x39) table[byte]! |= DIGIT
  }
  return table
}

function hexDigits(): Int8Array {
  const table = new Int8Array(256).fill(-1)
  for (let value = 0; value < 16; value++) {
    const digit = value.toString(16)
    table[digit.charCodeAt(0)] = value
    table[digit.toUpperCase().charCodeAt(0)] = value
  }
  return table
}

/** True when the bytes are this lower-case text, without regard to the case of ASCII letters. */
export function isText(bytes: Uint8Array, from: number, to: number, lower: string): boolean {
  if (to - from !== lower.length) return false
  for (let i = 0; i < lower.length; i++) {
    let byte = bytes[from + i]!
    if (byte >= 0x41 && byte <= 0x5a) byte |= 0x20
    if (byte !== lower.charCodeAt(i)) return false
  }
  return true
}
