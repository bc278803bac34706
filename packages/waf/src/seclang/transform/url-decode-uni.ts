import { bestFit } from './best-fit.ts'
import { hexValue } from './bytes.ts'
import { escaped } from './url-decode.ts'

/** `urlDecodeUni`: `%XX`, `+` and `%uHHHH`, folded to the ASCII character that a server takes it for. */
export function urlDecodeUni(value: string): string {
  if (!value.includes('%')) return value.includes('+') ? value.replaceAll('+', ' ') : value
  let out = ''
  let from = 0
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code === 0x2b) {
      out += `${value.slice(from, i)} `
      from = i + 1
      continue
    }
    if (code !== 0x25) continue
    const unicode = (value.charCodeAt(i + 1) | 0x20) === 0x75
    const byte = unicode ? fourDigits(value, i + 2) : escaped(value, i + 1)
    if (byte === -1) continue
    out += value.slice(from, i) + String.fromCharCode(unicode ? toByte(byte) : byte)
    i += unicode ? 5 : 2
    from = i + 1
  }
  return out + value.slice(from)
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
