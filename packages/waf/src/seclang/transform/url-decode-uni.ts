import { bestFit } from './best-fit.ts'
import { hexValue } from './bytes.ts'
import { roomFor } from './room.ts'
import { escaped } from './url-decode.ts'

/** `urlDecodeUni`: `%XX`, `+` and `%uHHHH`, folded to the ASCII character that a server takes it for. */
export function urlDecodeUni(value: string): string {
  if (!value.includes('%')) return value.includes('+') ? value.replaceAll('+', ' ') : value
  const { length } = value
  const room = roomFor(length)
  let used = 0
  for (let i = 0; i < length; i++) {
    let byte = value.charCodeAt(i)
    if (byte === 0x2b) byte = 0x20
    else if (byte === 0x25) {
      const unicode = (value.charCodeAt(i + 1) | 0x20) === 0x75
      const found = unicode ? fourDigits(value, i + 2) : escaped(value, i + 1)
      if (found !== -1) {
        byte = unicode ? toByte(found) : found
        i += unicode ? 5 : 2
      }
    }
    room[used++] = byte
  }
  return room.toString('latin1', 0, used)
}

function fourDigits(value: string, at: number): number {
  if (at + 4 > value.length) return -1
  let number = 0
  for (let i = at; i < at + 4; i++) {
    const digit = hexValue(value.charCodeAt(i))
    if (digit === -1) return -1
    number = number * 16 + digit
  }
  return number
}

/** One byte for a code point: best fit, else the low byte, as servers that ignore the high one do. */
export function toByte(codePoint: number): number {
  const ascii = bestFit(codePoint)
  return ascii === -1 ? codePoint & 0xff : ascii
}
