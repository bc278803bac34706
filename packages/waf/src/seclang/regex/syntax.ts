/** The tree of a regular expression over bytes. */
import type { ByteSet } from './byte-set.ts'

/** Conditions on a place, which take no byte. `start` and `end` are those of the value. */
export type Assertion = 'start' | 'end' | 'lineStart' | 'lineEnd' | 'word' | 'notWord'

export type Node =
  | { readonly kind: 'set'; readonly set: ByteSet }
  | { readonly kind: 'cat'; readonly parts: readonly Node[] }
  | { readonly kind: 'alt'; readonly parts: readonly Node[] }
  | {
      readonly kind: 'repeat'
      readonly part: Node
      readonly min: number
      /** `Infinity` without a limit. */
      readonly max: number
      readonly greedy: boolean
    }
  | { readonly kind: 'capture'; readonly index: number; readonly part: Node }
  | { readonly kind: 'assert'; readonly what: Assertion }

/** What matches without taking a byte. */
export const EMPTY: Node = { kind: 'cat', parts: [] }

/** A pattern that can't be used; the message says what, where and why. */
export class RegexError extends Error {
  /** Place in the pattern, counted from 0. */
  readonly offset: number

  constructor(problem: string, offset: number) {
    super(`${problem} at offset ${offset}`)
    this.name = 'RegexError'
    this.offset = offset
  }
}
