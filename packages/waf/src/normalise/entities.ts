import { hex, putCodePoint } from './bytes.ts'
import type { Step } from './step.ts'

/** Named character references that stand for ASCII characters with a meaning in some language. */
const NAMED: ReadonlyMap<string, number> = new Map(
  Object.entries({
    lt: '<',
    gt: '>',
    amp: '&',
    quot: '"',
    apos: "'",
    colon: ':',
    semi: ';',
    lpar: '(',
    rpar: ')',
    lsqb: '[',
    rsqb: ']',
    lbrack: '[',
    rbrack: ']',
    lcub: '{',
    rcub: '}',
    lbrace: '{',
    rbrace: '}',
    grave: '`',
    equals: '=',
    sol: '/',
    bsol: '\\',
    num: '#',
    dollar: '$',
    percnt: '%',
    comma: ',',
    period: '.',
    excl: '!',
    quest: '?',
    ast: '*',
    midast: '*',
    plus: '+',
    commat: '@',
    lowbar: '_',
    vert: '|',
    verbar: '|',
    hat: '^',
    tab: '\t',
    newline: '\n',
    nbsp: ' ',
  }).map(([name, character]) => [name, character.charCodeAt(0)]),
)
const LONGEST_NAME = 8
/** Those that HTML takes without the semicolon. */
const BARE: readonly string[] = ['quot', 'nbsp', 'amp', 'lt', 'gt']
/** Digits of a numeric reference: padding with zeros has no end in HTML, so it needs one here. */
const MOST_DIGITS = 32

/** Undoes `&lt;`, `&#60;`, `&#x3c;` and forms without a semicolon once (HTML, 13.5 and 13.2.5.72). */
export const entities: Step = (from, length, to) => {
  let out = 0
  let i = 0
  while (i < length) {
    const byte = from[i]!
    if (byte === 0x26) {
      const found = from[i + 1] === 0x23 ? numeric(from, i + 2, length) : named(from, i + 1, length)
      if (found !== 0) {
        // Length of the reference in the upper part, code point in the lower one.
        out = putCodePoint(found & 0x1fffff, to, out)
        i += found >>> 21
        continue
      }
    }
    to[out++] = byte
    i += 1
  }
  return out
}

function numeric(bytes: Uint8Array, start: number, length: number): number {
  const base = start < length && (bytes[start]! | 0x20) === 0x78 ? 16 : 10
  const first = base === 16 ? start + 1 : start
  let code = 0
  let i = first
  for (; i < length && i - first < MOST_DIGITS; i += 1) {
    const digit = hex(bytes[i])
    if (digit < 0 || digit >= base) break
    code = code * base + digit
    if (code > 0x10ffff) return 0
  }
  // Short enough to hold its own UTF-8: `&#9` and `&#xa` are one byte each, more digits give more room.
  if (i === first || code === 0) return 0
  if (i < length && bytes[i] === 0x3b) i += 1
  return pack(i - start + 2, code)
}

function named(bytes: Uint8Array, start: number, length: number): number {
  let i = start
  const last = Math.min(length, start + LONGEST_NAME)
  while (i < last && isLetter(bytes[i]!)) i += 1
  const closed = i < length && bytes[i] === 0x3b
  // Most ampersands stand between parameters or words: no text is made for those.
  if (i === start || (!closed && !mayBeBare(bytes[start]! | 0x20))) return 0
  let name = ''
  for (let k = start; k < i; k += 1) name += String.fromCharCode(bytes[k]! | 0x20)
  if (closed) {
    const code = NAMED.get(name)
    if (code !== undefined) return pack(name.length + 2, code)
  }
  for (const bare of BARE) if (name.startsWith(bare)) return pack(bare.length + 1, NAMED.get(bare)!)
  return 0
}

const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a && byte >= 0x41
/** First letters of {@link BARE}. */
const mayBeBare = (lower: number): boolean =>
  lower === 0x6c || lower === 0x67 || lower === 0x61 || lower === 0x71 || lower === 0x6e

const pack = (length: number, code: number): number => length * 0x200000 + code
