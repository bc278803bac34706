import { word } from './read-word.ts'
import { type Token, token } from './token.ts'
import { BAREWORD, NUMBER, STRING } from './words.ts'

function isDigit(value: string, at: number): boolean {
  const code = value.charCodeAt(at)
  return code >= 0x30 && code <= 0x39
}

/** A number, a dot, or a word that began like a number. */
export function number(value: string, start: number): { token: Token; end: number } {
  const marked = value[start] === '0' ? prefixed(value, start) : null
  if (marked) return marked
  let at = start
  while (isDigit(value, at)) at += 1
  if (value[at] === '.') {
    at += 1
    while (isDigit(value, at)) at += 1
    if (at - start === 1) return { token: token('.', '.'), end: at }
  }
  let exponent = false
  let complete = true
  if (value[at] === 'e' || value[at] === 'E') {
    exponent = true
    complete = false
    at += 1
    if (value[at] === '+' || value[at] === '-') at += 1
    while (isDigit(value, at)) {
      complete = true
      at += 1
    }
  }
  at = suffixEnd(value, at)
  return { token: token(exponent && !complete ? BAREWORD : NUMBER, value.slice(start, at)), end: at }
}

/** `0x…` and `0b…`. */
function prefixed(value: string, start: number): { token: Token; end: number } | null {
  const mark = value[start + 1]?.toLowerCase()
  if (mark !== 'x' && mark !== 'b') return null
  const digits = mark === 'x' ? /[0-9a-fA-F]/ : /[01]/
  let end = start + 2
  while (end < value.length && digits.test(value[end]!)) end += 1
  return { token: token(end === start + 2 ? BAREWORD : NUMBER, value.slice(start, end)), end }
}

/** Oracle marks doubles and floats by a letter, when nothing but a separator or `union` follows. */
function suffixEnd(value: string, at: number): number {
  const letter = value[at]
  if (letter !== 'd' && letter !== 'D' && letter !== 'f' && letter !== 'F') return at
  const after = value[at + 1]
  if (after === undefined || after === ';' || after === 'u' || after === 'U') return at + 1
  const code = after.charCodeAt(0)
  return code <= 0x20 || code === 0x7f || code === 0xa0 ? at + 1 : at
}

/** `$1,000.50` of SQL Server, `$tag$…$tag$` of PostgreSQL, or a dollar alone. */
export function dollar(value: string, at: number): { token: Token; end: number } {
  if (at + 1 === value.length) return { token: token(BAREWORD, '$'), end: at + 1 }
  let end = at + 1
  while (end < value.length && (isDigit(value, end) || value[end] === '.' || value[end] === ',')) end += 1
  if (end === at + 2 && value[at + 1] === '.') return word(value, at)
  if (end > at + 1) return { token: token(NUMBER, value.slice(at, end)), end }
  const tag = /^\$[A-Za-z]*\$/.exec(value.slice(at, at + 64))
  if (!tag) return { token: token(BAREWORD, '$'), end: at + 1 }
  const start = at + tag[0].length
  const close = value.indexOf(tag[0], start)
  const text = value.slice(start, close === -1 ? value.length : close)
  return {
    token: token(STRING, text, '$', close === -1 ? '' : '$'),
    end: close === -1 ? value.length : close + tag[0].length,
  }
}
