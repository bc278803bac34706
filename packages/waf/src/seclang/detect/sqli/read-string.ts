import { type Token, token } from './token.ts'
import { NUMBER, STRING } from './words.ts'

/** A string that starts at `at` with `skip` characters before its text; 0: the value begins inside it. */
export function stringFrom(
  value: string,
  at: number,
  quote: string,
  skip: number,
): { token: Token; end: number } {
  const start = at + skip
  const open = skip > 0 ? quote : ''
  for (let close = value.indexOf(quote, start); close !== -1; close = value.indexOf(quote, close)) {
    if (isEscaped(value, close, start)) close += 1
    else if (value[close + 1] === quote) close += 2
    else return { token: token(STRING, value.slice(start, close), open, quote), end: close + 1 }
  }
  return { token: token(STRING, value.slice(start), open, ''), end: value.length }
}

/** An odd number of backslashes stands before. */
function isEscaped(value: string, at: number, start: number): boolean {
  let slashes = 0
  while (at - 1 - slashes >= start && value[at - 1 - slashes] === '\\') slashes += 1
  return slashes % 2 === 1
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' }

/** Literals with a letter in front: `x'ff'`, `b'01'`, `n'…'`, `e'…'`, `u&'…'`, `q'(…)'`, `nq'(…)'`. `null`: it is a word. */
export function quotedLiteral(
  value: string,
  at: number,
  letter: string,
): { token: Token; end: number } | null {
  switch (letter) {
    case 'b':
    case 'B':
      return digitsLiteral(value, at, '01')
    case 'x':
    case 'X':
      return digitsLiteral(value, at, '0123456789abcdefABCDEF')
    case 'e':
    case 'E':
      return plainLiteral(value, at)
    case 'n':
    case 'N':
      return plainLiteral(value, at) ?? oracleLiteral(value, at, 1)
    case 'q':
    case 'Q':
      return oracleLiteral(value, at, 0)
    case 'u':
    case 'U': {
      if (!value.startsWith("&'", at + 1)) return null
      const found = stringFrom(value, at + 2, "'", 1)
      return {
        token: { ...found.token, open: 'u', close: found.token.close === "'" ? 'u' : '' },
        end: found.end,
      }
    }
    default:
      return null
  }
}

function plainLiteral(value: string, at: number): { token: Token; end: number } | null {
  return at + 2 < value.length && value[at + 1] === "'" ? stringFrom(value, at, "'", 2) : null
}

function digitsLiteral(value: string, at: number, digits: string): { token: Token; end: number } | null {
  if (value[at + 1] !== "'") return null
  let end = at + 2
  while (end < value.length && digits.includes(value[end]!)) end += 1
  return value[end] === "'" ? { token: token(NUMBER, value.slice(at, end + 1)), end: end + 1 } : null
}

/** Oracle's own quotes. */
function oracleLiteral(value: string, at: number, skip: number): { token: Token; end: number } | null {
  const q = at + skip
  const opening = value[q + 2]
  if (
    value[q]?.toLowerCase() !== 'q' ||
    value[q + 1] !== "'" ||
    opening === undefined ||
    opening.charCodeAt(0) < 33
  )
    return null
  const closing = `${CLOSING[opening] ?? opening}'`
  const close = value.indexOf(closing, q + 3)
  const text = value.slice(q + 3, close === -1 ? value.length : close)
  return {
    token: token(STRING, text, 'q', close === -1 ? '' : 'q'),
    end: close === -1 ? value.length : close + 2,
  }
}
