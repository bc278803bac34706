/** Splits a value into tokens of SQL, as several dialects at once would read it. Linear in the value. */
import { dollar, number } from './read-number.ts'
import { quotedLiteral, stringFrom } from './read-string.ts'
import { variable, word } from './read-word.ts'
import { type Token, token } from './token.ts'
import { COMMENT, EVIL, NUMBER, OPERATOR, operatorType, UNKNOWN } from './words.ts'

/** Where a value is thought to stand. */
export type Quote = '' | "'" | '"'

export class Tokeniser {
  readonly value: string
  /** MySQL: `#` starts a comment, and `--` needs a blank behind it. */
  readonly mysql: boolean
  /** Tokens read so far, comments included. */
  count = 0
  /** Comments that another dialect reads differently. */
  ambiguous = false
  #at = 0
  readonly #quote: Quote

  constructor(value: string, quote: Quote, mysql: boolean) {
    this.value = value
    this.mysql = mysql
    this.#quote = quote
  }

  /** The next token; `null` at the end. */
  next(): Token | null {
    const { value } = this
    if (this.#at === 0 && value.length > 0 && this.#quote !== '') {
      const found = stringFrom(value, 0, this.#quote, 0)
      this.#at = found.end
      this.count += 1
      return found.token
    }
    while (this.#at < value.length) {
      const found = this.#read(value, this.#at)
      this.#at = found.end
      if (found.token !== null) {
        this.count += 1
        return found.token
      }
    }
    return null
  }

  #read(value: string, at: number): { token: Token | null; end: number } {
    const code = value.charCodeAt(at)
    if (code <= 0x20 || code === 0x7f || code === 0xa0) return { token: null, end: at + 1 }
    const letter = value[at]!
    switch (letter) {
      case '"':
      case "'":
        return stringFrom(value, at, letter, 1)
      case '(':
      case ')':
      case ',':
      case ';':
      case '{':
      case '}':
        return { token: token(letter, letter), end: at + 1 }
      case '?':
      case ']':
        return { token: token(UNKNOWN, letter), end: at + 1 }
      case '%':
      case '+':
      case '^':
      case '~':
        return { token: token(OPERATOR, letter), end: at + 1 }
      case '!':
      case '&':
      case '*':
      case ':':
      case '<':
      case '=':
      case '>':
      case '|':
        return operator(value, at)
      case '#':
        this.ambiguous = true
        return this.mysql ? lineComment(value, at) : { token: token(OPERATOR, letter), end: at + 1 }
      case '-':
        return this.#dash(value, at)
      case '/':
        return slash(value, at)
      case '\\':
        return value[at + 1] === 'N'
          ? { token: token(NUMBER, '\\N'), end: at + 2 }
          : { token: token('\\', letter), end: at + 1 }
      case '$':
        return dollar(value, at)
      case '@':
        return variable(value, at)
      case '[':
        return bracketed(value, at)
    }
    if ((code >= 0x30 && code <= 0x39) || letter === '.') return number(value, at)
    return quotedLiteral(value, at, letter) ?? word(value, at)
  }

  #dash(value: string, at: number): { token: Token; end: number } {
    if (value[at + 1] === '-') {
      const after = value.charCodeAt(at + 2)
      if (Number.isNaN(after) || after <= 0x20 || after === 0x7f || after === 0xa0)
        return lineComment(value, at)
      if (!this.mysql) {
        this.ambiguous = true
        return lineComment(value, at)
      }
    }
    return { token: token(OPERATOR, '-'), end: at + 1 }
  }
}

function operator(value: string, at: number): { token: Token; end: number } {
  if (value.startsWith('<=>', at)) return { token: token(OPERATOR, '<=>'), end: at + 3 }
  const two = value.slice(at, at + 2)
  const type = two.length === 2 ? operatorType(two) : undefined
  if (type !== undefined) return { token: token(type, two), end: at + 2 }
  return { token: token(value[at] === ':' && two.length === 2 ? ':' : OPERATOR, value[at]!), end: at + 1 }
}

function lineComment(value: string, at: number): { token: Token; end: number } {
  const newline = value.indexOf('\n', at)
  const end = newline === -1 ? value.length : newline
  return { token: token(COMMENT, value.slice(at, end)), end: newline === -1 ? end : end + 1 }
}

function slash(value: string, at: number): { token: Token; end: number } {
  if (value[at + 1] !== '*') return { token: token(OPERATOR, '/'), end: at + 1 }
  const close = value.indexOf('*/', at + 2)
  const end = close === -1 ? value.length : close + 2
  const text = value.slice(at, end)
  // Nested comments and MySQL's conditional ones are read differently by each server.
  const nested = close !== -1 && value.slice(at + 2, close + 1).includes('/*')
  return { token: token(nested || value[at + 2] === '!' ? EVIL : COMMENT, text), end }
}

/** `[name]` of SQL Server. */
function bracketed(value: string, at: number): { token: Token; end: number } {
  const close = value.indexOf(']', at)
  const end = close === -1 ? value.length : close + 1
  return { token: token('n', value.slice(at, end)), end }
}
