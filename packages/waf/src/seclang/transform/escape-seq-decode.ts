import { octalValue } from './bytes.ts'
import { escaped } from './url-decode.ts'

const SIMPLE: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
])

/** `escapeSeqDecode`: the escapes of ANSI C. An unknown `\c` gives `c`; a lone `\` at the end stays. */
export function escapeSeqDecode(value: string): string {
  let at = value.indexOf('\\')
  if (at === -1) return value
  let out = ''
  let from = 0
  while (at !== -1 && at + 1 < value.length) {
    out += value.slice(from, at)
    const letter = value[at + 1]!
    let end = at + 1
    let octal = 0
    while (end < value.length && end < at + 4 && octalValue(value.charCodeAt(end)) !== -1) {
      octal = octal * 8 + octalValue(value.charCodeAt(end))
      end += 1
    }
    const byte = letter === 'x' || letter === 'X' ? escaped(value, at + 2) : -1
    if (end > at + 1) {
      out += String.fromCharCode(octal & 0xff)
    } else if (byte !== -1) {
      out += String.fromCharCode(byte)
      end = at + 4
    } else if (letter === 'x' || letter === 'X') {
      // Not an escape: it stays as it was written.
      out += `\\${letter}`
      end = at + 2
    } else {
      out += SIMPLE.get(letter) ?? letter
      end = at + 2
    }
    from = end
    at = value.indexOf('\\', end)
  }
  return out + value.slice(from)
}
