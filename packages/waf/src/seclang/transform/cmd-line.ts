import { roomFor } from './room.ts'

/**
 * `cmdLine`: a shell's view of a command. Quotes, `\\` and `^` go, separators become one blank, blanks before `/` and `(` go,
 * letters are lower case.
 */
export function cmdLine(value: string): string {
  const { length } = value
  const room = roomFor(length)
  let used = 0
  for (let i = 0; i < length; i++) {
    const byte = value.charCodeAt(i)
    switch (KIND[byte]) {
      case GONE:
        break
      case SEPARATOR:
        if (used === 0 || room[used - 1] !== 0x20) room[used++] = 0x20
        break
      case OPENER:
        if (used > 0 && room[used - 1] === 0x20) used -= 1
        room[used++] = byte
        break
      default:
        room[used++] = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
    }
  }
  return room.toString('latin1', 0, used)
}

const GONE = 1
const SEPARATOR = 2
const OPENER = 3
const KIND = new Uint8Array(256)
for (const letter of '"\'\\^') KIND[letter.charCodeAt(0)] = GONE
for (const letter of '\t\n\r ,;') KIND[letter.charCodeAt(0)] = SEPARATOR
for (const letter of '/(') KIND[letter.charCodeAt(0)] = OPENER
