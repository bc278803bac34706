/** URLs whose scheme runs script. */

const SCHEMES = ['data', 'view-source', 'vbscript', 'java']

/** Whether a URL begins with a scheme that runs script, after entities are decoded and what browsers skip is skipped. */
export function isScriptUrl(value: string): boolean {
  let start = 0
  while (start < value.length && (value.charCodeAt(start) <= 32 || value.charCodeAt(start) >= 127)) start += 1
  return SCHEMES.some(scheme => beginsWith(value, start, scheme))
}

function beginsWith(value: string, start: number, scheme: string): boolean {
  let at = start
  let matched = 0
  let first = true
  while (at < value.length && matched < scheme.length) {
    const { code, end } = characterAt(value, at)
    at = end
    if (first && code <= 32) continue
    first = false
    if (code === 0 || code === 10) continue
    const lower = code >= 0x41 && code <= 0x5a ? code + 32 : code
    if (lower !== scheme.charCodeAt(matched)) return false
    matched += 1
  }
  return matched === scheme.length
}

const MAX_CODE = 0x1000ff

/** A character, or the numeric entity that stands for one. */
function characterAt(value: string, at: number): { code: number; end: number } {
  const plain = { code: value.charCodeAt(at), end: at + 1 }
  if (plain.code !== 0x26 || value[at + 1] !== '#') return plain
  const hex = value[at + 2] === 'x' || value[at + 2] === 'X'
  let i = at + (hex ? 3 : 2)
  const start = i
  let code = 0
  for (; i < value.length; i++) {
    const digit = Number.parseInt(value[i]!, hex ? 16 : 10)
    if (Number.isNaN(digit)) break
    code = code * (hex ? 16 : 10) + digit
    if (code > MAX_CODE) return plain
  }
  if (i === start) return plain
  return { code, end: value[i] === ';' ? i + 1 : i }
}
