/** Which bytes a sequence may begin with: one look tells most hits of a literal apart from an attack. */
import { isWord } from '../normalise/bytes.ts'
import { setOf } from './bytes.ts'
import { isSequence, type Token } from './tokens.ts'

/** One entry a byte, and one for the border of the value. 1: the sequence may begin like this. */
export type FirstBytes = Uint8Array

/** Index of the border in {@link FirstBytes}. */
export const BORDER = 256
/** Entries of {@link FirstBytes}. */
export const SET_SIZE = 257

/** First bytes of what follows a literal. */
export function firstAfter(tokens: readonly Token[]): FirstBytes {
  return first(tokens, all(), 1)
}

/** First bytes, read from right to left, of what stands in front of a literal. */
export function firstBefore(tokens: readonly Token[]): FirstBytes {
  return first(tokens, all(), -1)
}

const all = (): FirstBytes => new Uint8Array(SET_SIZE).fill(1)

/** `rest` is what may begin behind the token, for tokens that may take nothing. */
function first(token: Token, rest: FirstBytes, direction: 1 | -1): FirstBytes {
  if (typeof token === 'string') return only(token.charCodeAt(direction === 1 ? 0 : token.length - 1), rest)
  if (isSequence(token)) {
    const inOrder = direction === 1 ? [...token].reverse() : token
    return inOrder.reduce((behind, part) => first(part, behind, direction), rest)
  }
  switch (token.op) {
    case 'any':
      return token.of.map(part => first(part, rest, direction)).reduce(union, new Uint8Array(SET_SIZE))
    case 'maybe':
      return union(first(token.of, rest, direction), rest)
    case 'not':
      return rest
    case 'run': {
      const set = new Uint8Array(SET_SIZE)
      if (token.most > 0) set.set(setOf(token.set))
      return token.least === 0 ? union(set, rest) : set
    }
    case 'within': {
      // Anything may stand before it, but not the border.
      const set = all()
      set[BORDER] = first(token.of, rest, direction)[BORDER]!
      return set
    }
    case 'edge':
      return rest.map((may, code) => (code !== BORDER && isWord(code) ? 0 : may))
    case 'border':
      return rest.map((may, code) => (code === BORDER ? may : 0))
    case 'odd':
      return ["'", '"', '`'].map(quote => only(quote.charCodeAt(0), rest)).reduce(union)
  }
}

/** One byte; a letter in both cases. An empty literal takes nothing. */
function only(code: number, rest: FirstBytes): FirstBytes {
  if (Number.isNaN(code)) return rest
  const set = new Uint8Array(SET_SIZE)
  set[code] = 1
  if (code >= 0x61 && code <= 0x7a) set[code - 32] = 1
  if (code >= 0x41 && code <= 0x5a) set[code + 32] = 1
  return set
}

function union(a: FirstBytes, b: FirstBytes): FirstBytes {
  return a.map((may, code) => may | b[code]!)
}
