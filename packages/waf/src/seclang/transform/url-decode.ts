import { hexValue } from './bytes.ts'

/** `urlDecode`: `%XX` and `+`; what is no valid escape stays. */
export function urlDecode(value: string): string {
  if (!value.includes('%')) return value.includes('+') ? value.replaceAll('+', ' ') : value
  let out = ''
  let from = 0
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code === 0x2b) {
      out += `${value.slice(from, i)} `
      from = i + 1
    } else if (code === 0x25) {
      const byte = escaped(value, i + 1)
      if (byte === -1) continue
      out += value.slice(from, i) + String.fromCharCode(byte)
      i += 2
      from = i + 1
    }
  }
  return out + value.slice(from)
}

/** `%XX` only: for paths, where a plus sign is a plus sign. */
export function percentDecode(value: string): string {
  if (!value.includes('%')) return value
  let out = ''
  let from = 0
  for (let i = value.indexOf('%'); i !== -1; i = value.indexOf('%', i)) {
    const byte = escaped(value, i + 1)
    if (byte === -1) {
      i += 1
      continue
    }
    out += value.slice(from, i) + String.fromCharCode(byte)
    i += 3
    from = i
  }
  return out + value.slice(from)
}

/** The byte that two hexadecimal digits at `at` stand for; -1 without two. */
export function escaped(value: string, at: number): number {
  if (at + 1 >= value.length) return -1
  const high = hexValue(value.charCodeAt(at))
  const low = hexValue(value.charCodeAt(at + 1))
  return high === -1 || low === -1 ? -1 : high * 16 + low
}
