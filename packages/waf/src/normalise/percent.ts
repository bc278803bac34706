import { hexNumber, putCodePoint } from './bytes.ts'
import type { Step } from './step.ts'

/** Undoes `%41` and the `%u0041` of IIS once. What is no escape stays as it is. */
export const percent: Step = (from, length, to) => decode(from, length, to, false)

/** {@link percent}, and `+` means a space: the encoding of queries and forms. */
export const formEncoding: Step = (from, length, to) => decode(from, length, to, true)

function decode(from: Uint8Array, length: number, to: Uint8Array, plus: boolean): number {
  let out = 0
  for (let i = 0; i < length; i += 1) {
    const byte = from[i]!
    if (byte === 0x25) {
      const code = hexNumber(from, i + 1, 2, length)
      if (code >= 0) {
        to[out++] = code
        i += 2
        continue
      }
      if (i + 5 < length && (from[i + 1]! | 0x20) === 0x75) {
        const wide = hexNumber(from, i + 2, 4, length)
        if (wide >= 0) {
          out = putCodePoint(wide, to, out)
          i += 5
          continue
        }
      }
    }
    to[out++] = plus && byte === 0x2b ? 0x20 : byte
  }
  return out
}
