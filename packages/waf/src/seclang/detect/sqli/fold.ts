/**
 * Folds tokens until at most five are left: expressions shrink to one token, decoration goes.
 *
 * The rules are those of libinjection (BSD-3-Clause), written anew: fingerprints are only comparable when both sides fold
 * alike. Each rule says what two or three neighbours become.
 */
import { isArithmetic, isUnary, type Token, token } from './token.ts'
import type { Tokeniser } from './tokenise.ts'
import {
  BAREWORD,
  COLLATE,
  COMMENT,
  EVIL,
  EXPRESSION,
  FUNCTION,
  GROUP,
  KEYWORD,
  LOGIC,
  NUMBER,
  OPERATOR,
  SQL_TYPE,
  STATEMENT,
  STRING,
  type TokenType,
  UNION,
  VARIABLE,
  wordType,
} from './words.ts'

/** Tokens of a fingerprint. */
export const MAX_TOKENS = 5

/** Words that are functions when a parenthesis follows. */
const CALLABLE = new Set([
  'user_id',
  'user_name',
  'database',
  'password',
  'user',
  'current_user',
  'current_date',
  'current_time',
  'current_timestamp',
  'localtime',
  'localtimestamp',
])

const VALUES = new Set<TokenType>([BAREWORD, NUMBER, VARIABLE, STRING])
const MERGE_LEFT = new Set<TokenType>([
  KEYWORD,
  BAREWORD,
  OPERATOR,
  UNION,
  FUNCTION,
  EXPRESSION,
  STATEMENT,
  SQL_TYPE,
])
const MERGE_RIGHT = new Set<TokenType>([
  KEYWORD,
  BAREWORD,
  OPERATOR,
  SQL_TYPE,
  LOGIC,
  FUNCTION,
  UNION,
  EXPRESSION,
  STATEMENT,
])
const AFTER_TYPE = new Set<TokenType>([BAREWORD, NUMBER, SQL_TYPE, '(', FUNCTION, VARIABLE, STRING])

/** The folded tokens of a value. */
export function fold(source: Tokeniser): Token[] {
  return new Folder(source).run()
}

class Folder {
  readonly #source: Tokeniser
  #tokens: Token[] = []
  #left = 0
  #more = true
  #comment: Token | null = null

  constructor(source: Tokeniser) {
    this.#source = source
  }

  run(): Token[] {
    if (!this.#skipDecoration()) return []
    for (;;) {
      this.#shrinkFull()
      if (!this.#more || this.#left >= MAX_TOKENS) {
        this.#left = this.#tokens.length
        break
      }
      this.#fill(2)
      if (this.#tokens.length - this.#left < 2) {
        this.#left = this.#tokens.length
        continue
      }
      const two = this.#two()
      if (two === 'evil') return this.#tokens.slice(0, this.#left + 2)
      if (two === 'folded') continue
      this.#fill(3)
      if (this.#tokens.length - this.#left < 3) {
        this.#left = this.#tokens.length
        continue
      }
      if (!this.#three()) this.#left += 1
    }
    const folded = this.#tokens.slice(0, this.#left)
    if (folded.length < MAX_TOKENS && this.#comment !== null) folded.push(this.#comment)
    return folded.slice(0, MAX_TOKENS)
  }

  /** Comments, opening parentheses, types and unary operators at the start say nothing. */
  #skipDecoration(): boolean {
    for (;;) {
      const found = this.#source.next()
      if (found === null) return false
      if (found.type === COMMENT || found.type === '(' || found.type === SQL_TYPE || isUnary(found)) continue
      this.#tokens.push(found)
      return true
    }
  }

  #fill(wanted: number): void {
    while (this.#more && this.#tokens.length <= MAX_TOKENS && this.#tokens.length - this.#left < wanted) {
      const found = this.#source.next()
      if (found === null) this.#more = false
      else if (found.type === COMMENT) this.#comment = found
      else {
        this.#comment = null
        this.#tokens.push(found)
      }
    }
  }

  /** Five tokens that are still one expression make room for more. */
  #shrinkFull(): void {
    const tokens = this.#tokens
    if (tokens.length < MAX_TOKENS) return
    const shape = tokens
      .slice(0, MAX_TOKENS)
      .map(({ type }) => type)
      .join('')
    if (!/^(?:1[o,]\(1\)|no\([n1]\)|1\),\(1|n\)o\(n)$/.test(shape)) return
    this.#tokens = tokens.length > MAX_TOKENS ? [tokens[0]!, tokens[MAX_TOKENS]!] : [tokens[0]!]
    this.#left = 0
  }

  /** Takes `count` tokens away behind the first `kept` of the pair, and starts anew at `left`. */
  #drop(at: number, count: number, left: number): 'folded' {
    this.#tokens.splice(at, count)
    this.#left = left
    return 'folded'
  }

  #two(): 'folded' | 'evil' | 'kept' {
    const at = this.#left
    const a = this.#tokens[at]!
    const b = this.#tokens[at + 1]!
    const back = Math.max(0, at - 1)
    if ((a.type === STRING && b.type === STRING) || (a.type === ';' && b.type === ';'))
      return this.#drop(at + 1, 1, at)
    if ((a.type === OPERATOR || a.type === LOGIC) && (isUnary(b) || b.type === SQL_TYPE))
      return this.#drop(at + 1, 1, 0)
    if (a.type === '(' && isUnary(b)) return this.#drop(at + 1, 1, back)
    const merged = mergeWords(a, b)
    if (merged !== null) {
      this.#tokens[at] = merged
      return this.#drop(at + 1, 1, back)
    }
    if (a.type === ';' && b.type === FUNCTION && b.text.slice(0, 2).toLowerCase() === 'if') {
      b.type = STATEMENT
      return 'folded'
    }
    if (
      (a.type === BAREWORD || a.type === VARIABLE) &&
      b.type === '(' &&
      CALLABLE.has(a.text.toLowerCase())
    ) {
      a.type = FUNCTION
      return 'folded'
    }
    if (a.type === KEYWORD && (a.text.toLowerCase() === 'in' || a.text.toLowerCase() === 'not in')) {
      a.type = b.type === '(' ? OPERATOR : BAREWORD
      return 'folded'
    }
    if (a.type === OPERATOR && (a.text.toLowerCase() === 'like' || a.text.toLowerCase() === 'not like')) {
      if (b.type === '(') a.type = FUNCTION
      return 'kept'
    }
    if (a.type === SQL_TYPE && AFTER_TYPE.has(b.type)) return this.#drop(at, 1, 0)
    if (a.type === COLLATE && b.type === BAREWORD) {
      if (b.text.includes('_')) {
        b.type = SQL_TYPE
        this.#left = 0
      }
      return 'kept'
    }
    if (a.type === '\\') {
      if (!isArithmetic(b)) return this.#drop(at, 1, 0)
      a.type = NUMBER
      this.#left = 0
      return 'folded'
    }
    if ((a.type === '(' && b.type === '(') || (a.type === ')' && b.type === ')'))
      return this.#drop(at + 1, 1, 0)
    if (a.type === '{' && b.type === BAREWORD) {
      if (b.length === 0) {
        b.type = EVIL
        return 'evil'
      }
      return this.#drop(at, 2, 0)
    }
    if (b.type === '}') return this.#drop(at + 1, 1, 0)
    return 'kept'
  }

  #three(): boolean {
    const at = this.#left
    const a = this.#tokens[at]!
    const b = this.#tokens[at + 1]!
    const c = this.#tokens[at + 2]!
    if (isExpression(a, b, c)) {
      this.#drop(at + 1, 2, 0)
      return true
    }
    if (a.type === OPERATOR && b.type !== '(' && c.type === OPERATOR)
      return this.#drop(at + 1, 2, 0) === 'folded'
    if (a.type === LOGIC && c.type === LOGIC) return this.#drop(at + 1, 2, 0) === 'folded'
    if (isUnary(b)) {
      const value = VALUES.has(c.type)
      if ((a.type === EXPRESSION || a.type === GROUP || a.type === ',') && c.type === '(')
        return this.#drop(at + 1, 1, 0) === 'folded'
      if (
        (a.type === KEYWORD || a.type === EXPRESSION || a.type === GROUP) &&
        (value || c.type === FUNCTION)
      ) {
        return this.#drop(at + 1, 1, 0) === 'folded'
      }
      if (a.type === ',' && value) {
        this.#tokens.splice(at + 1, 1)
        // `1,-1` becomes `1`: the two tokens behind are read again.
        this.#tokens.length = Math.max(0, this.#tokens.length - 2)
        this.#left = 0
        return true
      }
      if (a.type === ',' && c.type === FUNCTION) return this.#drop(at + 1, 1, 0) === 'folded'
    }
    if (a.type === EXPRESSION && b.type === '.' && c.type === BAREWORD)
      return this.#drop(at + 1, 1, 0) === 'folded'
    if (a.type === FUNCTION && b.type === '(' && c.type !== ')' && a.text.toLowerCase() === 'user')
      a.type = BAREWORD
    return false
  }
}

/** Three tokens that are one value. */
function isExpression(a: Token, b: Token, c: Token): boolean {
  if (b.type === OPERATOR) {
    if (a.type === NUMBER && c.type === NUMBER) return true
    if (a.type === VARIABLE && (c.type === VARIABLE || c.type === NUMBER || c.type === BAREWORD)) return true
    if ((a.type === BAREWORD || a.type === NUMBER) && (c.type === NUMBER || c.type === BAREWORD)) return true
    return VALUES.has(a.type) && b.text === '::' && c.type === SQL_TYPE
  }
  if (b.type === ',') return VALUES.has(a.type) && VALUES.has(c.type)
  return a.type === BAREWORD && b.type === '.' && c.type === BAREWORD
}

/** Two words that are a phrase: `union all`, `not in`. */
function mergeWords(a: Token, b: Token): Token | null {
  if (!MERGE_LEFT.has(a.type) || !MERGE_RIGHT.has(b.type) || a.text.length + b.text.length + 1 > 31)
    return null
  const phrase = `${a.text} ${b.text}`
  const type = wordType(phrase)
  return type === undefined ? null : { ...token(type, phrase), open: a.open, close: a.close }
}
