import { BLANK, type ByteSet, DIGIT, negated, rangeSet, SPACE, WORD } from './byte-set.ts'
import { type Assertion, RegexError } from './syntax.ts'

/** What an escape means: a set, or a condition. */
export interface Escape {
  readonly set?: ByteSet
  readonly assertion?: Assertion
  /** The one byte that it stands for; -1 for classes and conditions. */
  readonly byte: number
  readonly end: number
}

const CLASSES: ReadonlyMap<string, ByteSet> = new Map([
  ['d', DIGIT],
  ['D', negated(DIGIT)],
  ['w', WORD],
  ['W', negated(WORD)],
  ['s', SPACE],
  ['S', negated(SPACE)],
  ['h', BLANK],
  ['H', negated(BLANK)],
  ['N', negated(rangeSet(0x0a, 0x0a))],
])

const ASSERTIONS: ReadonlyMap<string, Assertion> = new Map<string, Assertion>([
  ['A', 'start'],
  ['z', 'end'],
  ['b', 'word'],
  ['B', 'notWord'],
])

const BYTES: ReadonlyMap<string, number> = new Map([
  ['a', 0x07],
  ['e', 0x1b],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
])

/** Reads the escape at `at`, which is a backslash. `inClass`: between brackets, where `\b` is a backspace. */
export function escapeOf(pattern: string, at: number, inClass: boolean): Escape {
  const letter = pattern[at + 1]
  if (letter === undefined) throw new RegexError('pattern ends with a backslash', at)
  const end = at + 2
  const named = CLASSES.get(letter)
  if (named) return { set: named.slice(), byte: -1, end }
  if (letter === 'v') {
    // PCRE: any vertical space. As one byte it is the vertical tab in most rules, and both are meant.
    const set = rangeSet(0x0a, 0x0d)
    set[0x85 >> 5]! |= 1 << (0x85 & 31)
    return { set, byte: -1, end }
  }
  if (!inClass) {
    const assertion = ASSERTIONS.get(letter)
    if (assertion) return { assertion, byte: -1, end }
  }
  if (inClass && letter === 'b') return one(0x08, end)
  const byte = BYTES.get(letter)
  if (byte !== undefined) return one(byte, end)
  if (letter === 'x') return hexadecimal(pattern, at)
  if (letter === 'c') return one((pattern.charCodeAt(end) & 0xdf) ^ 0x40, end + 1)
  const code = letter.charCodeAt(0)
  if (letter === '0' || (inClass && code >= 0x30 && code <= 0x37)) return octal(pattern, at)
  if (/[A-Za-z0-9]/.test(letter)) throw new RegexError(unsupported(letter), at)
  return one(code, end)
}

function hexadecimal(pattern: string, at: number): Escape {
  const found = /^\\x(?:\{([0-9a-fA-F]{1,8})\}|([0-9a-fA-F]{0,2}))/.exec(pattern.slice(at, at + 13))
  const byte = Number.parseInt(found?.[1] ?? found?.[2] ?? '', 16) || 0
  if (!found || byte > 255) throw new RegexError('\\x needs a byte: \\x00 to \\xff', at)
  return one(byte, at + found[0].length)
}

function octal(pattern: string, at: number): Escape {
  const digits = /^[0-7]{1,3}/.exec(pattern.slice(at + 1, at + 4))![0]
  return one(Number.parseInt(digits, 8) & 0xff, at + 1 + digits.length)
}

function one(byte: number, end: number): Escape {
  return { set: rangeSet(byte, byte), byte, end }
}

function unsupported(letter: string): string {
  if (letter === 'Z' || letter === 'G') return `\\${letter} is not supported: use \\z or \\A`
  if (/[1-9gk]/.test(letter))
    return 'back references are not supported: they can not be matched in linear time'
  if (letter === 'p' || letter === 'P' || letter === 'X')
    return 'Unicode properties are not supported: values are bytes'
  return `unknown escape \\${letter}`
}
