/**
 * The words in which a pattern says what must stand around its literal.
 *
 * They describe, they do not search: each is tried at one place, takes a bounded number of bytes and is never tried
 * again with fewer. So a pattern costs a bounded time a hit, whatever the input. A plain string stands for itself, ASCII
 * letters in any case; an array for its elements one after the other.
 */
export type Token = string | TokenNode | readonly Token[]

export type TokenNode =
  /** The first of several that fits. */
  | { readonly op: 'any'; readonly of: readonly Token[] }
  /** Fits always; takes the token's bytes if it is there. */
  | { readonly op: 'maybe'; readonly of: Token }
  /** Fits where the token does not, and takes nothing. */
  | { readonly op: 'not'; readonly of: Token }
  /** A run of bytes out of a set. */
  | { readonly op: 'run'; readonly set: string; readonly least: number; readonly most: number }
  /** The token stands within so many bytes; `stop` names bytes that may not stand before it. */
  | { readonly op: 'within'; readonly bytes: number; readonly of: Token; readonly stop: string }
  /** No letter, digit or `_` next. */
  | { readonly op: 'edge' }
  /** The value ends here; in `before`, it starts here. */
  | { readonly op: 'border' }
  /** Only in `before`: the quote that stands here makes an odd number of its kind in `bytes` of its line. */
  | { readonly op: 'odd'; readonly bytes: number }

/** True for a sequence of tokens. */
export const isSequence = (token: TokenNode | readonly Token[]): token is readonly Token[] =>
  Array.isArray(token)

export const any = (...of: Token[]): TokenNode => ({ op: 'any', of })
export const maybe = (...of: Token[]): TokenNode => ({ op: 'maybe', of })
export const not = (...of: Token[]): TokenNode => ({ op: 'not', of: of.length === 1 ? of[0]! : any(...of) })

/**
 * A run of bytes from a set: `run('a-z0-9_', 1, 20)`. Letters, digits and bytes that cannot be seen make ranges; anywhere else
 * `-` is a dash. `^` in front of others means all bytes but these. Letters mean both cases.
 */
export const run = (set: string, least = 1, most: number = least): TokenNode => ({
  op: 'run',
  set,
  least,
  most,
})

/** The token follows within so many bytes, none of `stop` before it. */
export const within = (bytes: number, of: Token, stop = ''): TokenNode => ({ op: 'within', bytes, of, stop })

export const edge: TokenNode = { op: 'edge' }
export const border: TokenNode = { op: 'border' }
export const odd: TokenNode = { op: 'odd', bytes: 128 }

/** White space, none to sixteen bytes. */
export const space: TokenNode = run(' \t\n\r\v\f', 0, 16)
/** White space, at least one byte; `+` counts, which some decoders leave. */
export const gap: TokenNode = run(' \t\n\r\v\f+', 1, 16)
export const digits: TokenNode = run('0-9', 1, 20)
export const letters: TokenNode = run('a-z', 1, 40)
export const word: TokenNode = run('a-z0-9_', 1, 64)
export const quote: TokenNode = run('\'"`', 1)

/** Words out of a text, one or more white bytes apart: long lists stay readable. */
export const words = (text: string): string[] => text.trim().split(/\s+/)
/** Phrases with spaces in them out of a text, a comma and white space apart. */
export const phrases = (text: string): string[] => text.trim().split(/,\s+/)
