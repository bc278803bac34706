/** Operators that match what is malformed. */
import { Mistake } from '../parse/fault.ts'
import type { LiteralSet } from '../regex/literals.ts'
import { escaped } from '../transform/url-decode.ts'
import type { OperatorFactory } from './operator.ts'

/** `@validateByteRange`: matches a value with a byte outside the ranges, `32-126,9`. */
export const validateByteRange: OperatorFactory = argument => {
  const allowed = new Uint8Array(256)
  for (const range of argument
    .split(',')
    .map(part => part.trim())
    .filter(Boolean)) {
    const found = /^(\d{1,3})(?:\s*-\s*(\d{1,3}))?$/.exec(range)
    const low = Number(found?.[1])
    const high = Number(found?.[2] ?? found?.[1])
    if (!found || high > 255 || low > high) {
      throw new Mistake(`'${range.slice(0, 40)}' is no range of bytes`, 'Write 32-126 or 9, at most 255.')
    }
    allowed.fill(1, low, high + 1)
  }
  return {
    literals: oneOf(byte => allowed[byte] === 0),
    match({ bytes }) {
      for (let i = 0; i < bytes.length; i++) if (allowed[bytes[i]!] === 0) return true
      return false
    },
  }
}

/** `@validateUrlEncoding`: matches a value with a `%` that two hexadecimal digits do not follow. */
export const validateUrlEncoding: OperatorFactory = () => ({
  literals: [['%']],
  match({ text }) {
    for (let at = text.indexOf('%'); at !== -1; at = text.indexOf('%', at + 1)) {
      if (escaped(text, at + 1) === -1) return true
    }
    return false
  },
})

/** `@validateUtf8Encoding`: matches a value that is not UTF-8 (RFC 3629): truncated, overlong, a surrogate, too large. */
export const validateUtf8Encoding: OperatorFactory = () => ({
  literals: oneOf(byte => byte >= 0x80),
  match: ({ bytes }) => !isUtf8(bytes),
})

/** Values that match hold one of these bytes, letters in lower case. Without any nothing matches, and any literal is true. */
function oneOf(isMeant: (byte: number) => boolean): LiteralSet[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte).filter(isMeant)
  const letters = bytes.map(byte => String.fromCharCode(byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte))
  return bytes.length === 0 ? [['\0']] : [[...new Set(letters)]]
}

function isUtf8(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) {
    const lead = bytes[i]!
    if (lead < 0x80) continue
    if (lead < 0xc2 || lead > 0xf4) return false
    const more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1
    if (i + more >= bytes.length) return false
    const second = bytes[i + 1]!
    if (lead === 0xe0 && second < 0xa0) return false
    if (lead === 0xed && second > 0x9f) return false
    if (lead === 0xf0 && second < 0x90) return false
    if (lead === 0xf4 && second > 0x8f) return false
    for (let k = 1; k <= more; k++) if ((bytes[i + k]! & 0xc0) !== 0x80) return false
    i += more
  }
  return true
}
