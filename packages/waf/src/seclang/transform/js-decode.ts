import { hexValue, octalValue } from './bytes.ts'
import { toByte } from './url-decode-uni.ts'

const SIMPLE: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
])

/** `jsDecode`: the escapes of a JavaScript string. `\uHHHH` gives one byte; an unknown `\c` gives `c`. */
export function jsDecode(value: string): string {
  let at = value.indexOf('\\')
  if (at === -1) return value
  let out = ''
  let from = 0
  while (at !== -1 && at + 1 < value.length) {
    out += value.slice(from, at)
    const letter = value[at + 1]!
    let end = at + 2
    const wide = letter === 'u' ? digits(value, end, 4) : -1
    const byte = letter === 'x' ? digits(value, end, 2) : -1
    const octal = octalEnd(value, at + 1)
    if (wide !== -1) {
      out += String.fromCharCode(toByteOf(wide))
      end += 4
    } else if (byte !== -1) {
      out += String.fromCharCode(byte)
      end += 2
    } else if (octal > at + 1) {
      out += String.fromCharCode(Number.parseInt(value.slice(at + 1, octal), 8))
      end = octal
    } else {
      out += SIMPLE.get(letter) ?? letter
    }
    from = end
    at = value.indexOf('\\', end)
  }
  return out + value.slice(from)
}

/** Full-width forms fold to ASCII; all else keeps its low byte. */
function toByteOf(codePoint: number): number {
  return codePoint >= 0xff01 && codePoint <= 0xff5e ? toByte(codePoint) : codePoint & 0xff
}

function digits(value: string, at: number, count: number): number {
  if (at + count > value.length) return -1
  let number = 0
  for (let i = at; i < at + count; i++) {
    const digit = hexValue(value.charCodeAt(i))
    if (digit === -1) return -1
    number = number * 16 + digit
  }
  return number
}

/** End of an octal number of at most three digits and at most 377; `at` when there is none. */
function octalEnd(value: string, at: number): number {
  let end = at
  while (end < value.length && end - at < 3 && octalValue(value.charCodeAt(end)) !== -1) end += 1
  return end - at === 3 && value.charCodeAt(at) > 0x33 ? end - 1 : end
}
