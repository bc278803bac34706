/** `utf8toUnicode`: each multi-byte character of valid UTF-8 becomes `%uhhhh`; bytes that are none stay. */
export function utf8ToUnicode(value: string): string {
  let out = ''
  let from = 0
  for (let i = 0; i < value.length; ) {
    const lead = value.charCodeAt(i)
    if (lead < 0x80) {
      i += 1
      continue
    }
    const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
    const codePoint = decode(value, i, lead, length)
    if (codePoint === -1) {
      i += 1
      continue
    }
    out += `${value.slice(from, i)}%u${codePoint.toString(16).padStart(4, '0')}`
    i += length
    from = i
  }
  return from === 0 ? value : out + value.slice(from)
}

/** Code point of the character of `length` bytes at `at`; -1 when it is not valid UTF-8 (RFC 3629). */
function decode(value: string, at: number, lead: number, length: number): number {
  if (lead < 0xc2 || lead > 0xf4 || at + length > value.length) return -1
  let codePoint = lead & (0xff >> (length + 1))
  for (let i = 1; i < length; i++) {
    const code = value.charCodeAt(at + i)
    if ((code & 0xc0) !== 0x80) return -1
    codePoint = (codePoint << 6) | (code & 0x3f)
  }
  if (length === 3 && (codePoint < 0x800 || (codePoint >= 0xd800 && codePoint <= 0xdfff))) return -1
  if (length === 4 && (codePoint < 0x10000 || codePoint > 0x10ffff)) return -1
  return codePoint
}
