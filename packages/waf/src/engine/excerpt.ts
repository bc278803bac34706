/** Characters of an excerpt in front of the hit, and in all. */
const BEFORE = 20
const MOST = 80

/** The text around a hit: printable ASCII, at most 80 characters; other bytes are a dot. */
export function excerpt(bytes: Uint8Array, from: number, length: number): string {
  const start = Math.max(0, from - BEFORE)
  const end = Math.min(length, start + MOST)
  let text = ''
  for (let i = start; i < end; i += 1) {
    const byte = bytes[i]!
    text += byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : '.'
  }
  return text
}
