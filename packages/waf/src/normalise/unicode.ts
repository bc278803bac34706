import type { Step } from './step.ts'

/**
 * Folds UTF-8 that stands for ASCII in a lenient reader: overlong forms (`c0 ae` for a dot, which RFC 3629 forbids) and
 * full-width forms (U+FF01 to U+FF5E, which some data stores fold); non-breaking and wide spaces become a space;
 * characters that nobody sees (U+200B to U+200D, U+2060, U+FEFF, U+00AD) go. Other text stays as it is.
 */
export const unicode: Step = (from, length, to) => {
  let out = 0
  for (let i = 0; i < length; i += 1) {
    const a = from[i]!
    if (a < 0xc0 || i + 1 >= length) {
      to[out++] = a
      continue
    }
    const b = from[i + 1]!
    if (a <= 0xc1 && b >= 0x80 && b <= 0xbf) {
      to[out++] = ((a & 1) << 6) | (b & 0x3f)
      i += 1
      continue
    }
    if (a === 0xc2 && (b === 0xa0 || b === 0xad)) {
      if (b === 0xa0) to[out++] = 0x20
      i += 1
      continue
    }
    const c = i + 2 < length ? from[i + 2]! : 0
    if (c >= 0x80 && c <= 0xbf) {
      const folded = three(a, b, c)
      if (folded >= -1) {
        if (folded >= 0) to[out++] = folded
        i += 2
        continue
      }
    }
    to[out++] = a
  }
  return out
}

/** ASCII byte for a three-byte form, -1 when it goes, -2 when it stays. */
function three(a: number, b: number, c: number): number {
  if (a === 0xef) {
    if (b === 0xbc && c >= 0x81) return c - 0x81 + 0x21
    if (b === 0xbd && c <= 0x9e) return c - 0x80 + 0x60
    return b === 0xbb && c === 0xbf ? -1 : -2
  }
  if (a === 0xe2) {
    if (b === 0x80 && c >= 0x8b && c <= 0x8d) return -1
    return b === 0x81 && c === 0xa0 ? -1 : -2
  }
  if (a === 0xe3) return b === 0x80 && c === 0x80 ? 0x20 : -2
  // Overlong: below U+0080 in three bytes.
  return a === 0xe0 && (b === 0x80 || b === 0x81) ? ((b & 1) << 6) | (c & 0x3f) : -2
}

/** Takes NUL bytes out: some readers stop at them, others skip them. */
export const nul: Step = (from, length, to) => {
  let out = 0
  for (let i = 0; i < length; i += 1) if (from[i] !== 0) to[out++] = from[i]!
  return out
}
