/** Escapes of JSON strings, undone into UTF-8 bytes. */

const HEX = new Int8Array(128).fill(-1)
for (let i = 0; i < 10; i++) HEX[0x30 + i] = i
for (let i = 0; i < 6; i++) HEX[0x41 + i] = HEX[0x61 + i] = 10 + i

const SIMPLE = new Int16Array(128).fill(-1)
for (const [letter, byte] of [
  ['"', 0x22],
  ['\\', 0x5c],
  ['/', 0x2f],
  ['b', 8],
  ['f', 12],
  ['n', 10],
  ['r', 13],
  ['t', 9],
] as const) {
  SIMPLE[letter.charCodeAt(0)] = byte
}

/** Length of the escape whose backslash is at `at`: 2, 6, or 0 for none that JSON has (RFC 8259, 7). */
export function escapeLength(text: string, at: number): number {
  const code = text.charCodeAt(at + 1)
  if (code < 128 && SIMPLE[code] !== -1) return 2
  return code === 0x75 && hex4(text, at + 2) !== -1 ? 6 : 0
}

/**
 * The string between `from` and `to` with its escapes undone, one character a byte. All of them have been checked.
 * A lone surrogate becomes the three bytes that a lenient encoder writes.
 */
export function unescaped(text: string, from: number, to: number): string {
  const bytes = Buffer.allocUnsafe(to - from)
  let size = 0
  let at = from
  while (at < to) {
    const code = text.charCodeAt(at)
    if (code !== 0x5c) {
      bytes[size++] = code
      at++
    } else if (text.charCodeAt(at + 1) !== 0x75) {
      bytes[size++] = SIMPLE[text.charCodeAt(at + 1)]!
      at += 2
    } else {
      let point = hex4(text, at + 2)
      at += 6
      if (point >= 0xd800 && point < 0xdc00 && at + 6 <= to && text.startsWith('\\u', at)) {
        const low = hex4(text, at + 2)
        if (low >= 0xdc00 && low < 0xe000) {
          point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00)
          at += 6
        }
      }
      size = writePoint(bytes, size, point)
    }
  }
  return bytes.toString('latin1', 0, size)
}

/** Writes a code point as UTF-8 and gives the new size. */
export function writePoint(bytes: Uint8Array, size: number, point: number): number {
  let at = size
  if (point < 0x80) bytes[at++] = point
  else {
    if (point < 0x800) bytes[at++] = 0xc0 | (point >> 6)
    else {
      if (point < 0x10000) bytes[at++] = 0xe0 | (point >> 12)
      else {
        bytes[at++] = 0xf0 | (point >> 18)
        bytes[at++] = 0x80 | ((point >> 12) & 0x3f)
      }
      bytes[at++] = 0x80 | ((point >> 6) & 0x3f)
    }
    bytes[at++] = 0x80 | (point & 0x3f)
  }
  return at
}

function hex4(text: string, at: number): number {
  let value = 0
  for (let i = at; i < at + 4; i++) {
    const code = text.charCodeAt(i)
    const digit = code < 128 ? HEX[code]! : -1
    if (digit === -1) return -1
    value = value * 16 + digit
  }
  return value
}
