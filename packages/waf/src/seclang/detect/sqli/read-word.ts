import { stringFrom } from './read-string.ts'
import { MAX_TOKEN, type Token, token } from './token.ts'
import { BAREWORD, FUNCTION, VARIABLE, wordType } from './words.ts'

const ENDS_WORD = endsTable(' []{}<>:\\?=@!#~+-*/&|^%(),\';\t\n\v\f\r"\xa0\0')
const ENDS_VARIABLE = endsTable(' <>:\\?=@!#~+-*/&|^%(),\';\t\n\v\f\r"`\0')

function endsTable(letters: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const letter of letters) table[letter.charCodeAt(0)] = 1
  return table
}

function endOf(value: string, from: number, ends: Uint8Array): number {
  let at = from
  while (at < value.length && ends[value.charCodeAt(at)] === 0) at += 1
  return at
}

/** A word: a keyword, a function, or an ordinary one. A keyword before a dot or a back-tick stands alone. */
export function word(value: string, start: number): { token: Token; end: number } {
  if (value[start] === '`') return ticked(value, start)
  const end = Math.max(endOf(value, start, ENDS_WORD), start + 1)
  const text = value.slice(start, end)
  const seen = Math.min(text.length, MAX_TOKEN)
  for (let i = 0; i < seen; i++) {
    if (text[i] !== '.' && text[i] !== '`') continue
    const type = wordType(text.slice(0, i))
    if (type !== undefined && type !== BAREWORD)
      return { token: token(type, text.slice(0, i)), end: start + i }
  }
  return { token: token((text.length <= MAX_TOKEN ? wordType(text) : undefined) ?? BAREWORD, text), end }
}

/** A name in back-ticks; it may be that of a function. */
function ticked(value: string, start: number): { token: Token; end: number } {
  const found = stringFrom(value, start, '`', 1)
  const type = wordType(found.token.text) === FUNCTION ? FUNCTION : BAREWORD
  return { token: { ...found.token, type }, end: found.end }
}

/** `@name`, `@@name`, `` @`name` ``, `@'name'`. */
export function variable(value: string, start: number): { token: Token; end: number } {
  const at = value[start + 1] === '@' ? start + 2 : start + 1
  const quote = value[at]
  if (quote === '`' || quote === "'" || quote === '"') {
    const found = stringFrom(value, at, quote, 1)
    return { token: { ...found.token, type: VARIABLE }, end: found.end }
  }
  const end = endOf(value, at, ENDS_VARIABLE)
  return { token: token(VARIABLE, value.slice(at, end)), end }
}
