/** Steps that take out what a language's reader skips, so that a word cut in two is whole again. */
import { isWhite, isWord } from './bytes.ts'
import type { Step } from './step.ts'

/** A comment of SQL becomes a space; the contents of a MySQL version comment (`/*!50000 … *\/`) stay. Open ones stay too. */
export const sqlComments: Step = (from, length, to) => {
  let out = 0
  let i = 0
  // Where the last search for an end of comment ended in vain: no second search.
  let hopeless = false
  let open = 0
  while (i < length) {
    const byte = from[i]!
    if (byte === 0x2f && from[i + 1] === 0x2a && i + 1 < length) {
      if (from[i + 2] === 0x21 && i + 2 < length) {
        i += 3
        while (i < length && from[i]! >= 0x30 && from[i]! <= 0x39) i += 1
        to[out++] = 0x20
        open += 1
        continue
      }
      const end = hopeless ? -1 : endOfComment(from, i + 2, length)
      if (end >= 0) {
        // Nothing between two letters: `un/**/ion` is one word to some filters, two to the database.
        to[out++] = 0x20
        i = end
        continue
      }
      hopeless = true
    } else if (open > 0 && byte === 0x2a && from[i + 1] === 0x2f && i + 1 < length) {
      to[out++] = 0x20
      open -= 1
      i += 2
      continue
    }
    to[out++] = byte
    i += 1
  }
  return out
}

function endOfComment(bytes: Uint8Array, from: number, length: number): number {
  for (let i = from; i + 1 < length; i += 1) if (bytes[i] === 0x2a && bytes[i + 1] === 0x2f) return i + 2
  return -1
}

/** White bytes that a run may have before it counts as long. */
export const LONG_RUN = 8

/** A run of more than eight white bytes becomes one space: patterns look over a few, not over any number. */
export const whiteSpace: Step = (from, length, to) => {
  let out = 0
  let i = 0
  while (i < length) {
    let end = i
    while (end < length && isWhite(from[end])) end += 1
    if (end - i > LONG_RUN) {
      to[out++] = 0x20
      i = end
      continue
    }
    while (i < end) to[out++] = from[i++]!
    if (i < length) to[out++] = from[i++]!
  }
  return out
}

/** `/./` and `//` become `/`, except behind a colon, where `//` starts an authority. `\` counts as `/` here and stays. */
export const pathDots: Step = (from, length, to) => {
  let out = 0
  let i = 0
  while (i < length) {
    const byte = from[i]!
    to[out++] = byte
    i += 1
    if (byte !== 0x2f && byte !== 0x5c) continue
    if (out >= 2 && to[out - 2] === 0x3a) continue
    while (i < length) {
      if (isSlash(from[i])) i += 1
      else if (from[i] === 0x2e && i + 1 < length && isSlash(from[i + 1])) i += 2
      else break
    }
  }
  return out
}

const isSlash = (byte: number | undefined): boolean => byte === 0x2f || byte === 0x5c

/**
 * Takes out what shells read over inside a word: paired quotes between letters (`c'a't`, `wh""oami`), `\` before a letter,
 * `^` of cmd.exe, `$@` and `$*`; `$IFS`, `${IFS}` and `$IFS$9` become a space.
 */
export const shellQuotes: Step = (from, length, to) => {
  let out = 0
  let i = 0
  while (i < length) {
    const byte = from[i]!
    if (byte === 0x27 || byte === 0x22) {
      // One or two quotes with a letter, digit, `/`, `.` or `-` on both sides.
      const width = i + 1 < length && from[i + 1] === byte ? 2 : 1
      if (
        isPart(out > 0 ? to[out - 1] : undefined) &&
        isPart(i + width < length ? from[i + width] : undefined)
      ) {
        i += width
        continue
      }
    } else if ((byte === 0x5c || byte === 0x5e) && i > 0 && i + 1 < length) {
      if (isWord(from[i + 1]) && (isPart(from[i - 1]) || byte === 0x5e)) {
        i += 1
        continue
      }
    } else if (byte === 0x24) {
      const width = expansion(from, i, length)
      if (width > 2) to[out++] = 0x20
      if (width > 0) {
        i += width
        continue
      }
    }
    to[out++] = byte
    i += 1
  }
  return out
}

/** Bytes between which a shell reads over quotes. */
export const isPart = (byte: number | undefined): boolean =>
  isWord(byte) || byte === 0x2f || byte === 0x2e || byte === 0x2d

/** Length of `$@`, `$*`, `$IFS`, `${IFS}` with `$1` to `$9` behind it; 0 for anything else. */
function expansion(bytes: Uint8Array, at: number, length: number): number {
  const next = at + 1 < length ? bytes[at + 1] : 0
  if ((next === 0x40 || next === 0x2a) && at + 2 < length && isWord(bytes[at + 2])) return 2
  const brace = next === 0x7b ? 1 : 0
  const name = at + 1 + brace
  if (name + 3 > length) return 0
  if (bytes[name] !== 0x49 || bytes[name + 1] !== 0x46 || bytes[name + 2] !== 0x53) return 0
  let end = name + 3
  if (brace === 1) {
    // `${IFS%??}`, `${IFS:0:1}`: up to the brace, a few bytes on.
    const last = Math.min(end + 8, length)
    while (end < last && bytes[end] !== 0x7d) end += 1
    if (end >= last) return 0
    end += 1
  } else if (isWord(bytes[end]) && end < length) {
    return 0
  }
  if (end + 1 < length && bytes[end] === 0x24 && bytes[end + 1]! >= 0x31 && bytes[end + 1]! <= 0x39) end += 2
  return end - at
}

/** Joins strings that a program would join: `'al'+'ert'`, `'a' || 'b'`, `"a"."b"` lose the quotes and what is between. */
export const stringJoins: Step = (from, length, to) => {
  let out = 0
  let i = 0
  while (i < length) {
    const byte = from[i]!
    if (byte === 0x27 || byte === 0x22 || byte === 0x60) {
      const end = join(from, i, length)
      if (end > 0) {
        i = end
        continue
      }
    }
    to[out++] = byte
    i += 1
  }
  return out
}

const MOST_SPACES = 4

/** Offset behind `' + '`, or 0. A letter must stand on both sides: empty strings join nothing. */
function join(bytes: Uint8Array, at: number, length: number): number {
  if (at === 0 || !isWord(bytes[at - 1])) return 0
  let i = skipWhite(bytes, at + 1, length)
  if (bytes[i] === 0x2b || bytes[i] === 0x2e) i += 1
  else if (bytes[i] === 0x7c && bytes[i + 1] === 0x7c) i += 2
  else return 0
  i = skipWhite(bytes, i, length)
  if (i + 1 >= length || bytes[i] !== bytes[at]) return 0
  return isWord(bytes[i + 1]) ? i + 1 : 0
}

function skipWhite(bytes: Uint8Array, at: number, length: number): number {
  let i = at
  while (i < length && i - at < MOST_SPACES && isWhite(bytes[i])) i += 1
  return i
}

/** Longest tag that is taken out. */
const LONGEST_TAG = 64

/** Takes out tags, as a page does that strips markup: what is left may be an attribute or a script again. */
export const tags: Step = (from, length, to) => {
  let out = 0
  let i = 0
  while (i < length) {
    const byte = from[i]!
    if (byte === 0x3c) {
      const end = endOfTag(from, i + 1, length)
      if (end > 0) {
        i = end
        continue
      }
    }
    to[out++] = byte
    i += 1
  }
  return out
}

/** Offset behind the `>` of a tag whose name starts at `at`, or 0. */
function endOfTag(bytes: Uint8Array, at: number, length: number): number {
  const first = bytes[at]
  if (at >= length || (first !== 0x2f && first !== 0x21 && !isWord(first))) return 0
  const last = Math.min(length, at + LONGEST_TAG)
  for (let i = at; i < last; i += 1) {
    if (bytes[i] === 0x3c) return 0
    if (bytes[i] === 0x3e) return i + 1
  }
  return 0
}
