/**
 * Which bytes a transformation can change at all. A value without any of them comes out as it went in, so it need not be run.
 *
 * Bytes are told apart in a few classes, as bits: one look at each byte of a value says which transformations matter.
 */

const UPPER = 1
const LOWER = 1 << 1
const PERCENT = 1 << 2
const PLUS = 1 << 3
const AMPERSAND = 1 << 4
const BACKSLASH = 1 << 5
const NUL = 1 << 6
const BLANK = 1 << 7
/** White space but the blank, and the bytes above 0x7f that count as such. */
const SPACE = 1 << 8
const QUOTE = 1 << 9
const CARET = 1 << 10
const COMMA = 1 << 11
const HIGH = 1 << 12
/** A blank in front of a blank, `/` or `(`. */
const RUN = 1 << 13
/** `/` in front of `/` or `.`, or `.` at the beginning: a path has nothing to normalise without. */
const SEGMENT = 1 << 14
/** A mark of a comment: `/*`, its end, `--`, `#`, `<!`. */
const COMMENT = 1 << 15
/** Set for every value: for transformations that change nearly all. */
export const ALWAYS: number = 1 << 16
/** A byte that means something with the next one. Not a class of its own. */
const PAIR = 1 << 17

const WHITE = BLANK | SPACE

/** By name in lower case. What is not listed may change any value. */
const TRIGGERS: ReadonlyMap<string, number> = new Map([
  ['cmdline', UPPER | BACKSLASH | SPACE | RUN | QUOTE | CARET | COMMA],
  ['compresswhitespace', SPACE | RUN],
  ['cssdecode', BACKSLASH],
  ['escapeseqdecode', BACKSLASH],
  ['htmlentitydecode', AMPERSAND],
  ['jsdecode', BACKSLASH],
  ['lowercase', UPPER],
  ['normalisepath', SEGMENT],
  ['normalisepathwin', SEGMENT | BACKSLASH],
  ['normalizepath', SEGMENT],
  ['normalizepathwin', SEGMENT | BACKSLASH],
  ['parityzero7bit', HIGH],
  ['removecomments', COMMENT],
  ['removecommentschar', COMMENT],
  ['removenulls', NUL],
  ['removewhitespace', WHITE],
  ['replacecomments', COMMENT],
  ['replacenulls', NUL],
  ['trim', WHITE],
  ['trimleft', WHITE],
  ['trimright', WHITE],
  ['uppercase', LOWER],
  ['urldecode', PERCENT | PLUS],
  ['urldecodeuni', PERCENT | PLUS],
  ['utf8tounicode', HIGH],
])

const CLASSES: readonly (readonly [number, string])[] = [
  [PERCENT, '%'],
  [PLUS, '+'],
  [AMPERSAND, '&'],
  [BACKSLASH, '\\'],
  [NUL, '\0'],
  [BLANK, ' '],
  [SPACE, '\t\n\v\f\r\x85\xa0'],
  [QUOTE, '"\''],
  [CARET, '^'],
  [COMMA, ',;'],
  [COMMENT, '#'],
  [PAIR, ' /*-<'],
]

const OF_BYTE: Int32Array = Int32Array.from({ length: 256 }, (_, byte) => {
  let bits = byte >= 0x80 ? HIGH : 0
  if (byte >= 0x41 && byte <= 0x5a) bits |= UPPER
  if (byte >= 0x61 && byte <= 0x7a) bits |= LOWER
  for (const [bit, bytes] of CLASSES) if (bytes.includes(String.fromCharCode(byte))) bits |= bit
  return bits
})

/** Classes of bytes, as bits, of which a value must hold one for the transformation to change it. */
export function triggersOf(name: string): number {
  return TRIGGERS.get(name.toLowerCase()) ?? ALWAYS
}

/** Classes of the bytes that a value holds. */
export function classesIn(value: Uint8Array): number {
  let bits = value[0] === 0x2e ? ALWAYS | SEGMENT : ALWAYS
  for (let i = 0; i < value.length; i++) {
    const byte = value[i]!
    const classes = OF_BYTE[byte]!
    bits |= classes
    if ((classes & PAIR) !== 0 && i + 1 < value.length) bits |= ofPair(byte, value[i + 1]!)
  }
  return bits & ~PAIR
}

function ofPair(byte: number, next: number): number {
  switch (byte) {
    case 0x20:
      return next === 0x20 || next === 0x2f || next === 0x28 ? RUN : 0
    case 0x2f:
      return next === 0x2a ? COMMENT : next === 0x2f || next === 0x2e ? SEGMENT : 0
    case 0x2a:
      return next === 0x2f ? COMMENT : 0
    case 0x2d:
      return next === 0x2d ? COMMENT : 0
    default:
      return next === 0x21 ? COMMENT : 0
  }
}
