/**
 * JSON (RFC 8259), read strictly from bytes: every key, string and scalar goes out with its place, duplicates included.
 *
 * A body that two parsers could read differently is refused: a BOM, comments, NaN, a trailing comma, a second value, two
 * members of one name. `JSON.parse` would tell of none but the syntax, and forgets the duplicates.
 */
import type { Limits } from '../options.ts'
import type { Trail } from '../place.ts'
import { Refusal } from '../refusal.ts'
import type { Emit } from '../types.ts'
import { escapeLength, unescaped } from './strings.ts'

/** Members of one object from which on a set finds duplicates faster than a list. */
const MANY = 16

/** Thrown at the end of a body that was cut off: what was there has been told. */
const CUT = Symbol('cut')

/**
 * Reads a document. `text` has one character a byte; `trail` stands at the document itself.
 * @throws Refusal for bad form, and beyond a limit.
 */
export function readJson(text: string, limits: Limits, trail: Trail, emit: Emit, truncated = false): void {
  const reading = new Reading(text, limits, trail, emit, truncated)
  try {
    reading.document()
  } catch (thrown) {
    if (thrown !== CUT) throw thrown
  }
}

class Reading {
  readonly #text: string
  readonly #limits: Limits
  readonly #trail: Trail
  readonly #emit: Emit
  readonly #truncated: boolean
  /** Names of the members of all open objects; each object knows where its own begin. */
  readonly #names: string[] = []
  #at = 0
  #keys = 0

  constructor(text: string, limits: Limits, trail: Trail, emit: Emit, truncated: boolean) {
    this.#text = text
    this.#limits = limits
    this.#trail = trail
    this.#emit = emit
    this.#truncated = truncated
  }

  document(): void {
    if (this.#text.startsWith('\xef\xbb\xbf')) throw this.#refusal('json-bom', 'a byte order mark')
    this.#value()
    const next = this.#skipSpace()
    if (this.#at < this.#text.length) {
      throw this.#refusal('json-trailing', `something behind the value: ${shown(next)}`)
    }
  }

  #value(): void {
    const code = this.#skipSpace()
    if (code === 0x22) this.#emit(this.#trail, this.#string('value'), 'value')
    else if (code === 0x7b) this.#object()
    else if (code === 0x5b) this.#array()
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) this.#number()
    else this.#literal(code)
  }

  #object(): void {
    const trail = this.#trail
    const depth = this.#enter()
    const first = this.#names.length
    let many: Set<string> | null = null
    trail.depth = depth
    let code = this.#skipSpace()
    if (code === 0x7d) this.#at++
    else {
      for (;;) {
        // Until the name is known, the place is the object's own.
        trail.depth = depth
        if (code !== 0x22) throw this.#syntax(code)
        if (++this.#keys > this.#limits.maxKeys) {
          throw this.#refusal('json-keys', `more than ${this.#limits.maxKeys} members`)
        }
        const name = this.#string('key')
        trail.steps[depth] = name
        trail.depth = depth + 1
        if (many !== null) {
          if (many.has(name)) throw this.#refusal('json-duplicate-key', 'two members of one name')
          many.add(name)
        } else if (this.#isTwice(name, first)) {
          throw this.#refusal('json-duplicate-key', 'two members of one name')
        }
        this.#names.push(name)
        if (many === null && this.#names.length - first > MANY) many = new Set(this.#names.slice(first))
        this.#emit(trail, name, 'key')
        code = this.#skipSpace()
        if (code !== 0x3a) throw this.#syntax(code)
        this.#at++
        this.#value()
        code = this.#skipSpace()
        this.#at++
        if (code === 0x7d) break
        if (code !== 0x2c) {
          this.#at--
          throw this.#syntax(code)
        }
        code = this.#skipSpace()
      }
    }
    this.#names.length = first
    trail.depth = depth
  }

  #array(): void {
    const trail = this.#trail
    const depth = this.#enter()
    if (this.#skipSpace() === 0x5d) this.#at++
    else {
      for (let index = 0; ; index++) {
        trail.steps[depth] = index
        this.#value()
        const code = this.#skipSpace()
        this.#at++
        if (code === 0x5d) break
        if (code !== 0x2c) {
          this.#at--
          throw this.#syntax(code)
        }
      }
    }
    trail.depth = depth
  }

  /** Steps into an object or array and gives the depth at which its members stand. */
  #enter(): number {
    const depth = this.#trail.depth
    if (depth >= this.#limits.maxDepth) {
      throw this.#refusal('json-depth', `nested deeper than ${this.#limits.maxDepth}`)
    }
    this.#at++
    this.#trail.depth = depth + 1
    this.#trail.steps[depth] = 0
    return depth
  }

  #isTwice(name: string, first: number): boolean {
    const names = this.#names
    for (let i = names.length - 1; i >= first; i--) if (names[i] === name) return true
    return false
  }

  #string(kind: 'key' | 'value'): string {
    const text = this.#text
    const from = ++this.#at
    let at = from
    let escapes = false
    for (;;) {
      const code = text.charCodeAt(at)
      if (code === 0x22) break
      if (code === 0x5c) {
        const length = escapeLength(text, at)
        if (length === 0) {
          if (this.#truncated && at + 6 > text.length) this.#cutOff(from, at, escapes, kind)
          throw this.#refusal('json-syntax', 'an escape that JSON does not have')
        }
        escapes = true
        at += length
      } else if (code < 0x20) throw this.#refusal('json-syntax', 'a control character in a string')
      else if (at >= text.length) {
        if (this.#truncated) this.#cutOff(from, at, escapes, kind)
        throw this.#refusal('json-syntax', 'a string without end')
      } else at++
    }
    if (at - from > this.#limits.maxString) {
      throw this.#refusal('json-string', `a string of more than ${this.#limits.maxString} bytes`)
    }
    this.#at = at + 1
    return escapes ? unescaped(text, from, at) : text.slice(from, at)
  }

  #cutOff(from: number, to: number, escapes: boolean, kind: 'key' | 'value'): never {
    this.#emit(this.#trail, escapes ? unescaped(this.#text, from, to) : this.#text.slice(from, to), kind)
    throw CUT
  }

  #number(): void {
    const text = this.#text
    const from = this.#at
    let at = from
    if (text.charCodeAt(at) === 0x2d) at++
    const lead = text.charCodeAt(at)
    const whole = this.#digits(at)
    // No digit, or a zero in front of others: octal to some.
    if (whole === at || (lead === 0x30 && whole > at + 1)) throw this.#numberFault(whole)
    at = whole
    if (text.charCodeAt(at) === 0x2e) {
      const fraction = this.#digits(at + 1)
      if (fraction === at + 1) throw this.#numberFault(fraction)
      at = fraction
    }
    if ((text.charCodeAt(at) | 0x20) === 0x65) {
      const sign = text.charCodeAt(at + 1)
      const digits = sign === 0x2b || sign === 0x2d ? at + 2 : at + 1
      at = this.#digits(digits)
      if (at === digits) throw this.#numberFault(at)
    }
    this.#at = at
    this.#emit(this.#trail, text.slice(from, at), 'value')
  }

  #digits(from: number): number {
    let at = from
    for (;;) {
      const code = this.#text.charCodeAt(at)
      if (!(code >= 0x30 && code <= 0x39)) return at
      at++
    }
  }

  #numberFault(at: number): unknown {
    if (this.#truncated && at >= this.#text.length) return CUT
    return this.#refusal('json-syntax', 'a number that JSON does not have')
  }

  #literal(code: number): void {
    const word = code === 0x74 ? 'true' : code === 0x66 ? 'false' : 'null'
    if (!this.#text.startsWith(word, this.#at)) {
      const rest = this.#text.length - this.#at
      if (this.#truncated && rest < word.length && word.startsWith(this.#text.slice(this.#at))) throw CUT
      throw this.#syntax(code)
    }
    this.#at += word.length
    this.#emit(this.#trail, word, 'value')
  }

  /** Character code of the next byte that is no space; NaN at the end. */
  #skipSpace(): number {
    const text = this.#text
    for (;;) {
      const code = text.charCodeAt(this.#at)
      if (code > 0x20) return code
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) {
        if (this.#truncated && this.#at >= text.length) throw CUT
        return code
      }
      this.#at++
    }
  }

  #syntax(code: number): Refusal {
    if (Number.isNaN(code)) return this.#refusal('json-syntax', 'it ends too early')
    return this.#refusal('json-syntax', `${shown(code)} where JSON has no place for it`)
  }

  #refusal(rule: string, message: string): Refusal {
    return new Refusal(rule, this.#trail.toString(), message)
  }
}

/** A byte, by its number: never the client's own text. */
function shown(code: number): string {
  return `byte 0x${code.toString(16).padStart(2, '0')}`
}
