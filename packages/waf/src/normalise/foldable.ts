/** Which folding steps could change a text: one pass, so that the steps themselves run on few texts. */
import { FLAGS, isWhite, isWord, QUOTE, SHELL, WHITE } from './bytes.ts'
import { isPart, LONG_RUN } from './fold.ts'

export const COMMENTS = 1
export const JOINS = 2
export const QUOTES = 4
export const DOTS = 8
export const RUNS = 16

/** The steps that have something to do in `length` bytes. */
export function foldable(bytes: Uint8Array, length: number): number {
  let folds = 0
  let run = 0
  for (let i = 0; i < length; i += 1) {
    const byte = bytes[i]!
    const flags = FLAGS[byte]!
    if (flags === 0) {
      run = 0
      continue
    }
    if ((flags & WHITE) !== 0) {
      run += 1
      if (run > LONG_RUN) folds |= RUNS
      continue
    }
    run = 0
    if (byte === 0x2f || byte === 0x5c) folds |= slash(bytes, i, length)
    else if ((flags & QUOTE) !== 0) folds |= quote(bytes, i, length)
    else if ((flags & SHELL) !== 0 && i + 1 < length) folds |= QUOTES
  }
  return folds
}

function slash(bytes: Uint8Array, at: number, length: number): number {
  if (at + 1 >= length) return 0
  const next = bytes[at + 1]!
  if (bytes[at] === 0x2f && next === 0x2a) return COMMENTS
  let folds = 0
  if (bytes[at] === 0x5c && at > 0 && isWord(next)) folds |= QUOTES
  if (at > 0 && bytes[at - 1] === 0x3a) return folds
  const dot = next === 0x2e && at + 2 < length
  if (isSlash(next) || (dot && isSlash(bytes[at + 2]!))) folds |= DOTS
  return folds
}

function quote(bytes: Uint8Array, at: number, length: number): number {
  if (at === 0 || at + 1 >= length) return 0
  const before = bytes[at - 1]!
  const next = bytes[at + 1]!
  if (isPart(before) && (isPart(next) || next === bytes[at])) return QUOTES
  const joins = next === 0x2b || next === 0x2e || next === 0x7c || isWhite(next)
  return joins && isWord(before) ? JOINS : 0
}

const isSlash = (byte: number): boolean => byte === 0x2f || byte === 0x5c
