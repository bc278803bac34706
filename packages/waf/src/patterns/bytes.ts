/** Sets of bytes, and case. */

/** The set that `run` describes; see tokens.ts. */
export function setOf(description: string): Uint8Array {
  const negated = description.length > 1 && description.startsWith('^')
  const set = new Uint8Array(256)
  for (let i = negated ? 1 : 0; i < description.length; i += 1) {
    const from = description.charCodeAt(i)
    const last = description.charCodeAt(i + 2)
    const ranged = description[i + 1] === '-' && rangeKind(from) !== 0 && rangeKind(from) === rangeKind(last)
    const to = ranged ? last : from
    if (to < from || to > 0xff) throw new RangeError(`'${description}' is no set of bytes`)
    for (let code = from; code <= to; code += 1) set[code] = 1
    if (ranged) i += 2
  }
  for (let code = 0x61; code <= 0x7a; code += 1) {
    if (set[code] === 1 || set[code - 32] === 1) set[code] = set[code - 32] = 1
  }
  return negated ? set.map(present => 1 - present) : set
}

/** Only letters of one case, digits, and bytes that cannot be seen make ranges: everywhere else `-` is a dash. */
function rangeKind(code: number): number {
  if (code >= 0x30 && code <= 0x39) return 1
  if (code >= 0x41 && code <= 0x5a) return 2
  if (code >= 0x61 && code <= 0x7a) return 3
  return code <= 0x20 || code >= 0x7f ? 4 : 0
}

/** Each byte, ASCII letters in lower case. */
export const LOWER: Uint8Array = new Uint8Array(256)
for (let code = 0; code < 256; code += 1) LOWER[code] = code >= 65 && code <= 90 ? code + 32 : code

/** Lower case for ASCII letters, as bytes are compared. */
export function foldCase(text: string): string {
  let folded = ''
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code > 0xff) throw new RangeError(`'${text}' has a character that is no single byte`)
    folded += String.fromCharCode(LOWER[code]!)
  }
  return folded
}
