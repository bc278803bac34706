/**
 * Reads the regular expressions of rules: the syntax of PCRE, without what can't be matched in linear time.
 *
 * Bytes, not characters; `.` takes every byte and `$` is the very end, as ModSecurity sets PCRE up.
 */
import { ANY, type ByteSet, foldCase, rangeSet } from './byte-set.ts'
import { bracketClass } from './parse-class.ts'
import { escapeOf } from './parse-escape.ts'
import { EMPTY, type Node, RegexError } from './syntax.ts'

/** Copies that counted repetitions may add up to, nested ones multiplied. */
const MAX_REPEAT = 1000
const MAX_DEPTH = 250
const MAX_LENGTH = 65_536

interface Flags {
  caseless: boolean
  multiline: boolean
  /** `.` takes a line feed too. */
  dotAll: boolean
  /** Blanks and comments in the pattern mean nothing. */
  extended: boolean
}

/** A read pattern. */
export interface Parsed {
  readonly root: Node
  /** Number of capturing groups. */
  readonly groups: number
}

/**
 * Reads a pattern.
 * @param caseless ignore the case of ASCII letters from the start.
 * @throws RegexError
 */
export function parseRegex(pattern: string, caseless = false): Parsed {
  if (pattern.length > MAX_LENGTH)
    throw new RegexError(`pattern is longer than ${MAX_LENGTH} bytes`, MAX_LENGTH)
  const parser = new Parser(pattern, { caseless, multiline: false, dotAll: true, extended: false })
  return { root: parser.whole(), groups: parser.groups }
}

class Parser {
  groups = 0
  readonly #pattern: string
  #flags: Flags
  #at = 0
  #depth = 0

  constructor(pattern: string, flags: Flags) {
    this.#pattern = pattern
    this.#flags = flags
  }

  whole(): Node {
    const root = this.#alternatives()
    if (this.#at < this.#pattern.length) this.#refuse('unmatched )')
    return root
  }

  #refuse(problem: string, at = this.#at): never {
    throw new RegexError(problem, at)
  }

  #alternatives(): Node {
    if (++this.#depth > MAX_DEPTH) this.#refuse('groups are nested too deep')
    const parts = [this.#sequence()]
    while (this.#pattern[this.#at] === '|') {
      this.#at += 1
      parts.push(this.#sequence())
    }
    this.#depth -= 1
    return parts.length === 1 ? parts[0]! : { kind: 'alt', parts }
  }

  #sequence(): Node {
    const parts: Node[] = []
    while (this.#at < this.#pattern.length) {
      const letter = this.#pattern[this.#at]!
      if (letter === '|' || letter === ')') break
      if (this.#flags.extended && this.#skipExtended(letter)) continue
      const atom = this.#atom(letter)
      if (atom !== null) parts.push(this.#quantified(atom))
    }
    return parts.length === 1 ? parts[0]! : { kind: 'cat', parts }
  }

  #skipExtended(letter: string): boolean {
    if (letter === '#') {
      const end = this.#pattern.indexOf('\n', this.#at)
      this.#at = end === -1 ? this.#pattern.length : end + 1
      return true
    }
    if (!/\s/.test(letter)) return false
    this.#at += 1
    return true
  }

  /** `null` for what only changes flags. */
  #atom(letter: string): Node | null {
    const at = this.#at
    switch (letter) {
      case '(':
        return this.#group()
      case '[': {
        const { set, end } = bracketClass(this.#pattern, at, this.#flags.caseless)
        this.#at = end
        return { kind: 'set', set }
      }
      case '.':
        this.#at += 1
        return { kind: 'set', set: this.#flags.dotAll ? ANY : notNewline() }
      case '^':
        this.#at += 1
        return { kind: 'assert', what: this.#flags.multiline ? 'lineStart' : 'start' }
      case '$':
        this.#at += 1
        return { kind: 'assert', what: this.#flags.multiline ? 'lineEnd' : 'end' }
      case '\\': {
        if (this.#pattern[at + 1] === 'Q') return this.#quoted()
        const found = escapeOf(this.#pattern, at, false)
        this.#at = found.end
        if (found.assertion !== undefined) return { kind: 'assert', what: found.assertion }
        return found.byte === -1 ? { kind: 'set', set: found.set! } : this.#set(found.set!)
      }
      case '*':
      case '+':
      case '?':
        return this.#refuse(`nothing to repeat before ${letter}`)
      default:
        this.#at += 1
        return this.#set(byteSet(letter, at))
    }
  }

  /** `\Q…\E`: the bytes between them as they are. */
  #quoted(): Node {
    const from = this.#at + 2
    const close = this.#pattern.indexOf('\\E', from)
    const to = close === -1 ? this.#pattern.length : close
    this.#at = close === -1 ? to : to + 2
    const parts = [...this.#pattern.slice(from, to)].map((letter, i) => this.#set(byteSet(letter, from + i)))
    return parts.length === 1 ? parts[0]! : { kind: 'cat', parts }
  }

  #set(set: ByteSet): Node {
    if (this.#flags.caseless) foldCase(set)
    return { kind: 'set', set }
  }

  #group(): Node | null {
    const start = this.#at
    const outer = { ...this.#flags }
    this.#at += 1
    let index = 0
    if (this.#pattern[this.#at] === '?') {
      const named = /^\?P?<([A-Za-z_]\w{0,31})>/.exec(this.#pattern.slice(this.#at, this.#at + 40))
      if (named) {
        index = ++this.groups
        this.#at += named[0].length
      } else if (this.#flagGroup() === 'flags') {
        // They hold until the group around them ends.
        return null
      }
    } else if (this.#pattern[this.#at] === '*') {
      this.#refuse('backtracking verbs are not supported', start)
    } else {
      index = ++this.groups
    }
    const part = this.#alternatives()
    if (this.#pattern[this.#at] !== ')') this.#refuse('missing ) for the group', start)
    this.#at += 1
    this.#flags = outer
    return index === 0 ? part : { kind: 'capture', index, part }
  }

  /** Reads from `?` on: `?:`, `?i)`, `?i-s:`, `?#…)`. */
  #flagGroup(): 'flags' | 'group' {
    const start = this.#at - 1
    if (this.#pattern.startsWith('?#', this.#at)) {
      const end = this.#pattern.indexOf(')', this.#at)
      if (end === -1) this.#refuse('missing ) for the comment', start)
      this.#at = end + 1
      return 'flags'
    }
    const found = /^\?([imsxJU]*)(?:-([imsx]*))?([:)])/.exec(this.#pattern.slice(this.#at, this.#at + 24))
    if (!found) this.#refuse(unsupportedGroup(this.#pattern.slice(this.#at, this.#at + 3)), start)
    const [all, on, off = '', close] = found!
    if (/[JU]/.test(on!)) this.#refuse('flags J and U are not supported', start)
    const next = { ...this.#flags }
    for (const letter of on!) next[FLAG_NAMES[letter]!] = true
    for (const letter of off) next[FLAG_NAMES[letter]!] = false
    this.#flags = next
    this.#at += all.length
    return close === ')' ? 'flags' : 'group'
  }

  #quantified(atom: Node): Node {
    let node = atom
    for (;;) {
      const start = this.#at
      const bounds = this.#bounds()
      if (bounds === null) return node
      const [min, max] = bounds
      if (max !== Number.POSITIVE_INFINITY && max < min)
        this.#refuse('repetition bounds are in the wrong order', start)
      if (min > MAX_REPEAT || (max !== Number.POSITIVE_INFINITY && max > MAX_REPEAT)) {
        this.#refuse(`repetition of more than ${MAX_REPEAT}`, start)
      }
      if (this.#pattern[this.#at] === '+') this.#refuse('possessive quantifiers are not supported')
      const greedy = this.#pattern[this.#at] !== '?'
      if (!greedy) this.#at += 1
      node = node.kind === 'assert' && min > 0 ? node : { kind: 'repeat', part: node, min, max, greedy }
      if (node.kind === 'repeat' && max === 0) node = EMPTY
    }
  }

  #bounds(): [number, number] | null {
    switch (this.#pattern[this.#at]) {
      case '*':
        this.#at += 1
        return [0, Number.POSITIVE_INFINITY]
      case '+':
        this.#at += 1
        return [1, Number.POSITIVE_INFINITY]
      case '?':
        this.#at += 1
        return [0, 1]
      case '{': {
        const found = /^\{(\d{1,6})(,(\d{0,6}))?\}/.exec(this.#pattern.slice(this.#at, this.#at + 16))
        // PCRE takes a brace that counts nothing for the character.
        if (!found) return null
        this.#at += found[0].length
        const min = Number(found[1])
        if (found[2] === undefined) return [min, min]
        return [min, found[3] === '' ? Number.POSITIVE_INFINITY : Number(found[3])]
      }
      default:
        return null
    }
  }
}

const FLAG_NAMES: Readonly<Record<string, keyof Flags>> = {
  i: 'caseless',
  m: 'multiline',
  s: 'dotAll',
  x: 'extended',
}

function notNewline(): ByteSet {
  const set = ANY.slice()
  set[0]! &= ~(1 << 0x0a)
  return set
}

function byteSet(letter: string, at: number): ByteSet {
  const code = letter.charCodeAt(0)
  if (code > 255) throw new RegexError('character above 255: write its UTF-8 bytes as \\xhh', at)
  return rangeSet(code, code)
}

function unsupportedGroup(start: string): string {
  if (/^\?<?[=!]/.test(start)) return 'lookaround is not supported: it can not be matched in linear time'
  if (start.startsWith('?>')) return 'atomic groups are not supported'
  if (/^\?[R0-9&+(|]/.test(start)) return 'recursion, conditions and branch resets are not supported'
  return 'unknown group'
}
