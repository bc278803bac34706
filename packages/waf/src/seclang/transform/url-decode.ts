import { hexValue } from './bytes.ts'
import { roomFor } from './room.ts'

/** `urlDecode`: `%XX` and `+`; what is no valid escape stays. */
export function urlDecode(value: string): string {
  if (!value.includes('%')) return value.includes('+') ? value.replaceAll('+', ' ') : value
  return decoded(value, true)
}

/** `%XX` only: for paths, where a plus sign is a plus sign. */
export function percentDecode(value: string): string {
  return value.includes('%') ? decoded(value, false) : value
}

function decoded(value: string, plus: boolean): string {
  const { length } = value
  const room = roomFor(length)
  let used = 0
  for (let i = 0; i < length; i++) {
    let byte = value.charCodeAt(i)
    if (byte === 0x25) {
      const found = escaped(value, i + 1)
      if (found !== -1) {
        byte = found
        i += 2
      }
    } else if (byte === 0x2b && plus) byte = 0x20
    room[used++] = byte
  }
  return room.toString('latin1', 0, used)
}

/** The byte that two hexadecimal digits at `at` stand for; -1 without two. */
export function escaped(value: string, at: number): number {
  if (at + 1 >= value.length) return -1
  const high = hexValue(value.charCodeAt(at))
  const low = hexValue(value.charCodeAt(at + 1))
  return high === -1 || low === -1 ? -1 : high * 16 + low
}
