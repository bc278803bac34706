/** What a field says of the length of a body (RFC 9112, 6). */
import { latin1 } from '../../body/latin1.ts'
import { CLASS, DIGIT, isText } from './bytes.ts'

/** Digits of a length: what a number of JavaScript holds exactly, with room to add. */
const MOST_DIGITS = 15

/**
 * The value of a `Content-Length`: 1 to 15 digits and nothing else, or -1. No sign, no list, no whitespace. `zeros`: accept
 * leading ones.
 */
export function readLength(bytes: Uint8Array, from: number, to: number, zeros: boolean): number {
  const digits = to - from
  if (digits < 1 || digits > MOST_DIGITS) return -1
  if (!zeros && digits > 1 && bytes[from] === 0x30) return -1
  let value = 0
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!
    if ((CLASS[byte]! & DIGIT) === 0) return -1
    value = value * 10 + (byte - 0x30)
  }
  return value
}

/** True for a `Transfer-Encoding` that is `chunked` and nothing else. */
export function isChunked(bytes: Uint8Array, from: number, to: number): boolean {
  return isText(bytes, from, to, 'chunked')
}

const FOREIGN = /^[a-z0-9-]+$/i
const KNOWN = /chunked|^(?:x-)?(?:gzip|compress)$|^deflate$/i

/**
 * True for a `Transfer-Encoding` of one coding that nobody knows, or `identity` of old: it frames nothing (RFC 9112, 6.3). Known
 * ones would have to be undone, and what only resembles chunks may be chunks to somebody.
 */
export function isForeignCoding(bytes: Uint8Array, from: number, to: number): boolean {
  const coding = latin1(bytes.subarray(from, to))
  return FOREIGN.test(coding) && !KNOWN.test(coding)
}
