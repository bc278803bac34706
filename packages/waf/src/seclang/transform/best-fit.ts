/**
 * Which ASCII character a code point is taken for by servers that must squeeze Unicode into one byte.
 *
 * Attackers write U+FF1C or U+2039 and hope that a database or a file system makes `<` of it. The table follows the
 * best-fit behaviour of Windows code page 20127: compatibility forms lose their marks, look-alike punctuation becomes
 * ASCII punctuation.
 */

const PUNCTUATION: readonly (readonly [string, string])[] = [
  [' ', '\u1680\u2028\u2029\u202f\u205f'],
  ['!', '\u00a1\u01c3'],
  ['"', '\u02ba\u030e\u201c\u201d\u201e\u201f\u2033\u275d\u275e\u301d\u301e\u301f'],
  ['#', '\u2114'],
  ['$', '\u00a4\u20a4'],
  ["'", '\u02b9\u02bb\u02bc\u02bd\u02c8\u02ca\u0301\u2018\u2019\u201a\u201b\u2032\u275b\u275c'],
  ['*', '\u066d\u2022\u204e\u2217\u2731\u2732\u2733'],
  [',', '\u00b8\u0327\u3001'],
  ['-', '\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2022\u2043\u2212\u2500\u2501'],
  ['.', '\u00b7\u0387\u2024\u2026\u2219\u22c5\u3002'],
  ['/', '\u2044\u2215\u2571\u2afd'],
  [':', '\u02d0\u0589\u2236'],
  [';', '\u037e'],
  ['<', '\u00ab\u02c2\u2039\u2329\u276e\u3008\u300a'],
  ['>', '\u00bb\u02c3\u203a\u232a\u276f\u3009\u300b'],
  ['C', '\u00a9\u20a1'],
  ['D', '\u00d0\u0110\u0189'],
  ['F', '\u0191\u20a3'],
  ['H', '\u0126'],
  ['I', '\u0197'],
  ['L', '\u0141'],
  ['N', '\u20a6'],
  ['O', '\u00d8\u0398\u03a9\u019f'],
  ['R', '\u00ae'],
  ['T', '\u0166\u01ae'],
  ['Y', '\u00a5'],
  ['[', '\u301a'],
  ['\\', '\u2216\u2572\u29f5\u29f9'],
  [']', '\u301b'],
  ['^', '\u02c4\u02c6\u0302\u2038\u2303'],
  ['_', '\u02cd\u0331\u0332\u2017\u2581'],
  ['`', '\u02cb\u0300\u2035'],
  ['a', '\u00e6\u03b1'],
  ['A', '\u00c6'],
  ['b', '\u0180'],
  ['c', '\u00a2'],
  ['d', '\u0111\u03b4'],
  ['e', '\u03b5\u0259'],
  ['f', '\u0192\u03c6'],
  ['g', '\u0261'],
  ['h', '\u0127'],
  ['i', '\u0131\u2139'],
  ['l', '\u0142\u019a'],
  ['o', '\u00f8'],
  ['p', '\u03c0'],
  ['t', '\u0167\u01ab\u03c4'],
  ['z', '\u01b6'],
  ['{', '\u2774'],
  ['|', '\u00a6\u01c0\u2223\u2502\u2758\u2759\u275a'],
  ['}', '\u2775'],
  ['~', '\u02dc\u0303\u223c\u2053\u301c'],
  ['%', '\u066a'],
  ['+', '\u271a'],
]

/** 0: not looked up yet; else the character plus 1, or 1 for "none". Two bytes for each of 65,536 code points. */
let table: Uint16Array | null = null

/** The ASCII code that `codePoint` is taken for, -1 when there is none. */
export function bestFit(codePoint: number): number {
  if (codePoint < 0x80) return codePoint
  if (codePoint > 0xffff) return -1
  table ??= punctuation()
  const known = table[codePoint]!
  if (known !== 0) return known - 2
  const found = byDecomposition(codePoint)
  table[codePoint] = found + 2
  return found
}

function punctuation(): Uint16Array {
  const made = new Uint16Array(0x10000)
  for (const [ascii, alikes] of PUNCTUATION) {
    for (const alike of alikes) made[alike.charCodeAt(0)] = ascii.charCodeAt(0) + 2
  }
  return made
}

/** Compatibility decomposition (Unicode NFKD) without its combining marks, when one ASCII character is left. */
function byDecomposition(codePoint: number): number {
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return -1
  const parts = String.fromCharCode(codePoint).normalize('NFKD')
  const first = parts.charCodeAt(0)
  // Spacing marks (U+00A8 and the like) decompose to a blank with a mark; they are no blank to anybody.
  if (first >= 0x80 || (first === 0x20 && parts.length > 1)) return -1
  for (let i = 1; i < parts.length; i++) {
    const code = parts.charCodeAt(i)
    if (code < 0x300 || code > 0x36f) return -1
  }
  return first
}
