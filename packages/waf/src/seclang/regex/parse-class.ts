import { addAll, addRange, type ByteSet, emptySet, foldCase, negated, POSIX } from './byte-set.ts'
import { escapeOf } from './parse-escape.ts'
import { RegexError } from './syntax.ts'

/** Reads the bracket class that starts at `start`. Case is folded before a `^` turns the set over. */
export function bracketClass(
  pattern: string,
  start: number,
  caseless: boolean,
): { set: ByteSet; end: number } {
  const set = emptySet()
  let at = start + 1
  const negative = pattern[at] === '^'
  if (negative) at += 1
  // A bracket in first place is a member.
  const first = at
  while (at < pattern.length && (pattern[at] !== ']' || at === first)) {
    const posix = pattern[at] === '[' ? /^\[:(\^?)(\w+):\]/.exec(pattern.slice(at, at + 16)) : null
    if (posix) {
      const known = POSIX.get(posix[2]!)
      if (!known) throw new RegexError(`unknown class [:${posix[2]}:]`, at)
      addAll(set, posix[1] === '^' ? negated(known) : known)
      at += posix[0].length
      continue
    }
    const low = member(pattern, at)
    at = low.end
    const ranged = pattern[at] === '-' && at + 1 < pattern.length && pattern[at + 1] !== ']'
    if (!ranged || low.byte === -1) {
      addAll(set, low.set)
      continue
    }
    const high = member(pattern, at + 1)
    if (high.byte === -1) {
      // A class at one end: the hyphen is a member.
      addAll(set, low.set)
      addRange(set, 0x2d, 0x2d)
      addAll(set, high.set)
    } else {
      if (high.byte < low.byte) throw new RegexError('range is out of order', at)
      addRange(set, low.byte, high.byte)
    }
    at = high.end
  }
  if (at >= pattern.length) throw new RegexError('missing ] for the class', start)
  if (caseless) foldCase(set)
  return { set: negative ? negated(set) : set, end: at + 1 }
}

function member(pattern: string, at: number): { set: ByteSet; byte: number; end: number } {
  if (pattern[at] === '\\') {
    const { set, byte, end } = escapeOf(pattern, at, true)
    return { set: set!, byte, end }
  }
  const byte = pattern.charCodeAt(at)
  if (byte > 255) throw new RegexError('character above 255: write its UTF-8 bytes as \\xhh', at)
  const set = emptySet()
  addRange(set, byte, byte)
  return { set, byte, end: at + 1 }
}
