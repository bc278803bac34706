/**
 * The forms of a value that are scanned.
 *
 * 1. `base`: what every back end sees: the value with the encoding of its place undone once.
 * 2. `decoded`: escapes undone again and again until nothing changes, five rounds at most.
 * 3. `folded`: comments, joins of strings, quotes inside words, path dots and long white space taken out.
 * 4. `stripped`: tags taken out.
 * 5. `base64`: text hidden in base64, with 2 to 4 applied to it.
 *
 * Every step shrinks what it changes, so its length tells whether it did. A value without a byte that sets off a step has
 * one form.
 */
import { base64At, base64Runs, SHORTEST_RUN } from './base64.ts'
import {
  AMPERSAND,
  BACKSLASH,
  FLAGS,
  flagsOf,
  HIGH,
  NUL,
  PERCENT,
  PLUS,
  QUOTE,
  SHELL,
  SLASH,
  TAG,
  WHITE,
} from './bytes.ts'
import { entities } from './entities.ts'
import { escapes } from './escapes.ts'
import { pathDots, shellQuotes, sqlComments, stringJoins, tags, whiteSpace } from './fold.ts'
import { COMMENTS, DOTS, foldable, JOINS, QUOTES, RUNS } from './foldable.ts'
import { formEncoding, percent } from './percent.ts'
import { nul, unicode } from './unicode.ts'

export type ViewName = 'base' | 'decoded' | 'folded' | 'stripped' | 'base64'

/** Encoding of the place that a value comes from. */
export type Encoding = 'plain' | 'percent' | 'form'

/** Looks at one form of a value. The bytes are its own only during the call. */
export type OnView = (name: ViewName, bytes: Uint8Array, length: number) => void

export const MOST_ROUNDS = 5

const DECODED = PERCENT | AMPERSAND | BACKSLASH | HIGH | NUL
const FOLDED = SLASH | QUOTE | SHELL | BACKSLASH | WHITE
/** Buffers up to this size are kept between values. */
const KEPT = 1 << 20

/** Gives the forms of values to `onView`. Holds its buffers, at most 4 MB between calls; not re-entrant. */
export function viewer(onView: OnView): (value: string, encoding: Encoding) => void {
  let base: Buffer = Buffer.allocUnsafeSlow(4096)
  let other: Buffer = Buffer.allocUnsafeSlow(4096)
  let spare: Buffer = Buffer.allocUnsafeSlow(4096)
  let hidden: Buffer = Buffer.allocUnsafeSlow(4096)

  function view(value: string, encoding: Encoding): void {
    const size = value.length
    if (size > base.length) grow(size)
    let flags = load(value, size)
    let length = size
    if (encoding === 'form' && (flags & (PERCENT | PLUS)) !== 0) {
      length = formEncoding(base, length, base)
      flags = flagsOf(base, length)
    } else if (encoding === 'percent' && (flags & PERCENT) !== 0) {
      length = percent(base, length, base)
      flags = flagsOf(base, length)
    }
    onView('base', base, length)
    more(base, length, flags)
    if (length >= SHORTEST_RUN) {
      base64Runs(base, length, reveal)
    }
    if (base.length > KEPT) grow(4096)
  }

  function grow(size: number): void {
    base = Buffer.allocUnsafeSlow(size)
    other = Buffer.allocUnsafeSlow(size)
    spare = Buffer.allocUnsafeSlow(size)
    hidden = Buffer.allocUnsafeSlow(size)
  }

  function load(value: string, size: number): number {
    const bytes = base
    if (size > 256) {
      bytes.write(value, 0, size, 'latin1')
      return flagsOf(bytes, size)
    }
    const table = FLAGS
    let flags = 0
    for (let i = 0; i < size; i += 1) {
      const code = value.charCodeAt(i)
      bytes[i] = code
      flags |= table[code & 0xff]!
    }
    return flags
  }

  /** Decoded, folded and stripped form of what stands in `from`. */
  function more(from: Buffer, length: number, flags: number): void {
    let rest = length
    let now = flags
    if ((flags & DECODED) !== 0) {
      copy(from, length, other)
      rest = decodeFully(other, length, flags)
      if (rest !== length) {
        onView('decoded', other, rest)
        now = flagsOf(other, rest)
      }
    }
    if ((now & (FOLDED | TAG)) === 0) return
    const plain = rest === length ? from : other
    if ((now & TAG) !== 0) {
      const stripped = tags(plain, rest, spare)
      if (stripped !== rest && stripped > 0) onView('stripped', spare, stripped)
    }
    const folds = (now & FOLDED) === 0 ? 0 : foldable(plain, rest)
    if (folds === 0) return
    if (plain === from) copy(from, length, other)
    const folded = fold(other, rest, folds)
    if (folded !== rest) onView('folded', other, folded)
  }

  /** A run of base64 digits in `base`. */
  function reveal(from: number, to: number): void {
    let start = from
    while (start < to && base[start] === 0x2f) start += 1
    if (tryBase64(start, to)) return
    // Segments of a path.
    let segment = start
    for (let i = start; i <= to; i += 1) {
      if (i < to && base[i] !== 0x2f) continue
      if (segment !== start || i !== to) tryBase64(segment, i)
      segment = i + 1
    }
  }

  function tryBase64(from: number, to: number): boolean {
    if (to - from < SHORTEST_RUN) return false
    const length = base64At(base, from, to, hidden)
    if (length === 0) return false
    onView('base64', hidden, length)
    more(hidden, length, flagsOf(hidden, length))
    return true
  }

  return view
}

function copy(from: Buffer, length: number, to: Buffer): void {
  // A call into the runtime costs more than a few bytes.
  if (length > 256) from.copy(to, 0, 0, length)
  else for (let i = 0; i < length; i += 1) to[i] = from[i]!
}

/** Undoes escapes in place until nothing changes. Gives the new length. */
export function decodeFully(bytes: Uint8Array, length: number, flags: number): number {
  let size = length
  let now = flags
  for (let round = 0; round < MOST_ROUNDS && (now & DECODED) !== 0; round += 1) {
    const before = size
    if ((now & PERCENT) !== 0) {
      // Where spaces are written `+`, there is none: a form's value inside another format.
      const asForm = (now & PLUS) !== 0 && (now & WHITE) === 0
      const next = percent(bytes, size, bytes)
      if (next !== size && asForm) plusToSpace(bytes, next)
      size = next
    }
    if ((now & AMPERSAND) !== 0) size = entities(bytes, size, bytes)
    if ((now & BACKSLASH) !== 0) size = escapes(bytes, size, bytes)
    if ((now & HIGH) !== 0) size = unicode(bytes, size, bytes)
    if ((now & NUL) !== 0) size = nul(bytes, size, bytes)
    if (size === before) break
    now = flagsOf(bytes, size)
  }
  return size
}

function plusToSpace(bytes: Uint8Array, length: number): void {
  for (let i = 0; i < length; i += 1) if (bytes[i] === 0x2b) bytes[i] = 0x20
}

/** Takes out in place what languages read over: the steps that {@link foldable} names. Gives the new length. */
export function fold(bytes: Uint8Array, length: number, folds: number): number {
  let size = length
  if ((folds & COMMENTS) !== 0) size = sqlComments(bytes, size, bytes)
  if ((folds & JOINS) !== 0) size = stringJoins(bytes, size, bytes)
  if ((folds & QUOTES) !== 0) size = shellQuotes(bytes, size, bytes)
  if ((folds & DOTS) !== 0) size = pathDots(bytes, size, bytes)
  if ((folds & RUNS) !== 0) size = whiteSpace(bytes, size, bytes)
  return size
}
