import type { Step } from './step.ts'

/** Value of each base64 digit, both alphabets of RFC 4648; 64 for anything else. */
const VALUES = new Uint8Array(256).fill(64)
;[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'].forEach((character, value) => {
  VALUES[character.charCodeAt(0)] = value
})
VALUES[0x2b] = VALUES[0x2d] = 62
VALUES[0x2f] = VALUES[0x5f] = 63

/** Printable ASCII, line ends, tab, and the NUL that splits words for lenient readers. */
const TEXT = new Uint8Array(256).fill(1, 0x20, 0x7f)
for (const code of [0x00, 0x09, 0x0a, 0x0d]) TEXT[code] = 1

/** Characters of a run that is worth decoding: eight decoded bytes at least. */
export const SHORTEST_RUN = 11

/** True when the byte may stand in base64 text of either alphabet. */
export function isBase64(byte: number): boolean {
  return VALUES[byte] !== 64
}

/**
 * Decodes digits of either alphabet; stops at the first byte that is none. Gives 0 as soon as the result does not look
 * like text: the first bytes must be printable ASCII or line ends, later ones at least nine in ten.
 */
export const base64: Step = (from, length, to) => base64At(from, 0, length, to)

/** {@link base64} of the bytes from `start` up to `end`. */
export function base64At(from: Uint8Array, start: number, end: number, to: Uint8Array): number {
  let out = 0
  let strange = 0
  let word = 0
  let bits = 0
  for (let i = start; i < end; i += 1) {
    const value = VALUES[from[i]!]!
    if (value === 64) break
    word = ((word << 6) | value) & 0xffff
    bits += 6
    if (bits < 8) continue
    bits -= 8
    const byte = (word >> bits) & 0xff
    if (TEXT[byte] === 0) {
      strange += 1
      if (strange * 10 > out) return 0
    }
    to[out++] = byte
  }
  return out
}

/** A run of base64 digits inside a text. */
export type OnRun = (from: number, to: number) => void

/**
 * Finds runs of at least 16 base64 digits in `length` bytes, or the whole text when it is at least eleven of them.
 * It looks at every 16th byte and spreads out from those that fit, so running text costs little.
 */
export function base64Runs(bytes: Uint8Array, length: number, onRun: OnRun): void {
  if (length < SHORTEST_RUN) return
  if (length < 2 * STRIDE) {
    let end = length
    while (end > 0 && bytes[end - 1] === 0x3d) end -= 1
    for (let i = 0; i < end; i += 1) {
      if (VALUES[bytes[i]!] === 64) {
        end = 0
        break
      }
    }
    if (end >= SHORTEST_RUN) {
      onRun(0, end)
      return
    }
  }
  let done = 0
  for (let i = STRIDE - 1; i < length; i += STRIDE) {
    if (VALUES[bytes[i]!] === 64 || i < done) continue
    let from = i
    while (from > done && VALUES[bytes[from - 1]!] !== 64) from -= 1
    let to = i + 1
    while (to < length && VALUES[bytes[to]!] !== 64) to += 1
    done = to
    if (to - from >= STRIDE) onRun(from, to)
  }
}

const STRIDE = 16
