import { hexValue, isSpace } from './bytes.ts'
import { toByte } from './url-decode-uni.ts'

/**
 * `cssDecode`: `\` with one to six hexadecimal digits is a byte (the low one; full-width forms fold to ASCII), and takes
 * one white-space character behind it away; `\` before a line end vanishes; before anything else it gives that.
 */
export function cssDecode(value: string): string {
  let at = value.indexOf('\\')
  if (at === -1) return value
  let out = ''
  let from = 0
  while (at !== -1) {
    out += value.slice(from, at)
    from = at + 1
    let number = 0
    let end = from
    while (end < value.length && end - from < 6) {
      const digit = hexValue(value.charCodeAt(end))
      if (digit === -1) break
      number = number * 16 + digit
      end += 1
    }
    if (end > from) {
      const wide = end - from >= 4 && (number & 0xffff) >= 0xff01 && (number & 0xffff) <= 0xff5e
      out += String.fromCharCode(wide ? toByte(number & 0xffff) : number & 0xff)
      from = isSpace(value.charCodeAt(end)) ? end + 1 : end
      at = value.indexOf('\\', from)
    } else if (value.charCodeAt(from) === 0x0a) {
      from += 1
      at = value.indexOf('\\', from)
    } else {
      // The next character stands for itself, a backslash too.
      at = value.indexOf('\\', from + 1)
    }
  }
  return out + value.slice(from)
}
