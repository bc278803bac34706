/** `urlEncode`: all but letters, digits and `*` becomes `%xx`; a blank becomes `+`. */
export function urlEncode(value: string): string {
  let out = ''
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code === 0x20) out += '+'
    else if (plain(code)) out += value[i]
    else out += `%${code.toString(16).padStart(2, '0')}`
  }
  return out
}

function plain(code: number): boolean {
  const lower = code | 0x20
  return code === 0x2a || (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x7a)
}
