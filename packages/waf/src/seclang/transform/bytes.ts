/**
 * Small helpers for byte strings: one character is one byte (0 to 255).
 *
 * The rule language works on bytes. Strings of bytes are what V8 compares, slices and searches fastest, and what its
 * regular expressions take.
 */

/** Value of a hexadecimal digit, -1 for any other character. */
export function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** Value of an octal digit, -1 for any other character. */
export function octalValue(code: number): number {
  return code >= 0x30 && code <= 0x37 ? code - 0x30 : -1
}

/** What C's `isspace` says in the C locale. */
export function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

/** Text as UTF-8 bytes, one character a byte. */
export function utf8Bytes(text: string): string {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f) return Buffer.from(text, 'utf8').toString('latin1')
  }
  return text
}
