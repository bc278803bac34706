import { hex, hexNumber, putCodePoint } from './bytes.ts'
import type { Step } from './step.ts'

/**
 * Undoes the backslash escapes of JavaScript, JSON and CSS once: `\x27`, `\u0027`, `\u{27}`, `\047`, `\27 ` (CSS), `\n`,
 * `\/`, `\'`, `\"`. A backslash before anything else stays: it may be a Windows path.
 */
export const escapes: Step = (from, length, to) => {
  let out = 0
  let i = 0
  while (i < length) {
    const byte = from[i]!
    if (byte === 0x5c && i + 1 < length) {
      const found = escapeAt(from, i + 1, length)
      if (found !== 0) {
        out = putCodePoint(found & 0x1fffff, to, out)
        i += found >>> 21
        continue
      }
    }
    to[out++] = byte
    i += 1
  }
  return out
}

const MOST_BRACED_DIGITS = 16

function escapeAt(bytes: Uint8Array, at: number, length: number): number {
  const byte = bytes[at]!
  if (byte === 0x78 || byte === 0x58) {
    const code = hexNumber(bytes, at + 1, 2, length)
    return code < 0 ? 0 : pack(4, code)
  }
  if (byte === 0x75 || byte === 0x55) {
    if (bytes[at + 1] === 0x7b) return braced(bytes, at + 2, length)
    const code = hexNumber(bytes, at + 1, 4, length)
    return code < 0 ? 0 : pack(6, code)
  }
  if (byte === 0x6e) return pack(2, 0x0a)
  if (byte === 0x72) return pack(2, 0x0d)
  if (byte === 0x74) return pack(2, 0x09)
  if (byte === 0x2f || byte === 0x27 || byte === 0x22 || byte === 0x60) return pack(2, byte)
  return hex(byte) < 0 ? 0 : digits(bytes, at, length)
}

/** `\u{27}`, with as many zeros as one likes, within reason. */
function braced(bytes: Uint8Array, first: number, length: number): number {
  let code = 0
  let i = first
  for (; i < length && i - first < MOST_BRACED_DIGITS && hex(bytes[i]) >= 0; i += 1) {
    code = code * 16 + hex(bytes[i])
    if (code > 0x10ffff) return 0
  }
  return i === first || i >= length || bytes[i] !== 0x7d ? 0 : pack(i - first + 4, code)
}

/** Three octal digits are JavaScript's and the shell's; else two to six hexadecimal ones are CSS's. */
function digits(bytes: Uint8Array, first: number, length: number): number {
  let count = 0
  let code = 0
  let octal = 0
  let isOctal = true
  while (count < 6 && first + count < length && hex(bytes[first + count]) >= 0) {
    const digit = hex(bytes[first + count])
    if (count < 3) octal = octal * 8 + digit
    if (digit > 7) isOctal = false
    code = code * 16 + digit
    count += 1
  }
  if (count === 3 && isOctal && octal <= 0xff) return pack(4, octal)
  if (count < 2 || code > 0x10ffff || code < 0x09) return 0
  const space = first + count < length && bytes[first + count] === 0x20 ? 1 : 0
  return pack(count + 1 + space, code)
}

const pack = (length: number, code: number): number => length * 0x200000 + code
