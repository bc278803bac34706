/** A token of SQL. */
import { COMMENT, OPERATOR, type TokenType } from './words.ts'

export interface Token {
  type: TokenType
  /** At most 31 bytes of its text. */
  text: string
  /** Length in the input, before it was cut. */
  length: number
  /** Quote that opens it; `''` when it began inside a string. */
  open: string
  /** Quote that closes it; `''` when the input ended first. */
  close: string
}

/** Longer tokens are cut. */
export const MAX_TOKEN = 31

export function token(type: TokenType, text: string, open = '', close = ''): Token {
  return {
    type,
    text: text.length > MAX_TOKEN ? text.slice(0, MAX_TOKEN) : text,
    length: text.length,
    open,
    close,
  }
}

/** An operator that can stand before a value. */
export function isUnary({ type, text }: Token): boolean {
  if (type !== OPERATOR) return false
  return (
    text === '+' ||
    text === '-' ||
    text === '!' ||
    text === '~' ||
    text === '!!' ||
    text.toLowerCase() === 'not'
  )
}

/** An operator of arithmetic. */
export function isArithmetic({ type, text }: Token): boolean {
  return type === OPERATOR && text.length === 1 && '*/-+%'.includes(text)
}

export function isComment({ type }: Token): boolean {
  return type === COMMENT
}
