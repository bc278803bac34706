/**
 * XML 1.0, as far as a request may carry it: elements, attributes, text, CDATA, comments and instructions.
 *
 * Nothing is declared and nothing is fetched. A document type is refused with everything that hangs on it: entities,
 * external subsets, default attributes. Text is told as a back end reads it, joined across comments and CDATA.
 */
import type { Limits } from '../options.ts'
import type { Trail } from '../place.ts'
import { Refusal } from '../refusal.ts'
import type { Emit } from '../types.ts'
import { dereferenced } from './entities.ts'

// Names by bytes: UTF-8 letters are bytes above 0x7f. Prefixes are part of the name.
const NAME = /[A-Za-z_:\x80-\xff][\w:.\-\x80-\xff]{0,255}/y
const ATTRIBUTE =
  /([A-Za-z_:\x80-\xff][\w:.\-\x80-\xff]{0,255})[ \t\r\n]*=[ \t\r\n]*(?:"([^<"]*)"|'([^<']*)')/y
const SPACE = /[ \t\r\n]*/y
const ENCODING = /^[\w.-]{1,40}$/

/** Thrown at the end of a body that was cut off. */
const CUT = Symbol('cut')

/**
 * Reads a document. `text` has one character a byte; `trail` stands at the document itself.
 * @throws Refusal for bad form, for a document type or an entity, and beyond a limit.
 */
export function readXml(text: string, limits: Limits, trail: Trail, emit: Emit, truncated = false): void {
  const reading = new Reading(text, limits, trail, emit, truncated)
  try {
    reading.document()
  } catch (thrown) {
    if (thrown !== CUT) throw thrown
  } finally {
    trail.suffix = ''
  }
}

class Reading {
  readonly #text: string
  readonly #limits: Limits
  readonly #trail: Trail
  readonly #emit: Emit
  readonly #truncated: boolean
  readonly #base: number
  #at = 0
  #keys = 0
  /** Text of the open element so far. */
  #pending = ''
  #closed = false

  constructor(text: string, limits: Limits, trail: Trail, emit: Emit, truncated: boolean) {
    this.#text = text
    this.#limits = limits
    this.#trail = trail
    this.#emit = emit
    this.#truncated = truncated
    this.#base = trail.depth
  }

  document(): void {
    const text = this.#text
    if (/^(?:\xfe\xff|\xff\xfe|\0|<\0)/.test(text))
      throw this.#refusal('xml-encoding', 'it is not ASCII-compatible')
    if (text.startsWith('\xef\xbb\xbf')) this.#at = 3
    this.#declaration()
    while (this.#at < text.length) {
      const open = text.indexOf('<', this.#at)
      const end = open === -1 ? text.length : open
      if (end > this.#at) this.#characters(text.slice(this.#at, end))
      this.#at = end
      if (open !== -1) this.#markup()
    }
    if (this.#truncated) this.#flush()
    else if (!this.#closed) throw this.#refusal('xml-syntax', 'an element without end')
  }

  #declaration(): void {
    if (!/^<\?xml[ \t\r\n]/.test(this.#text.slice(this.#at, this.#at + 6))) return
    const end = this.#find('?>')
    const found = /encoding[ \t\r\n]*=[ \t\r\n]*["']([^"']*)["']/.exec(this.#text.slice(this.#at, end))
    if (found !== null && !(ENCODING.test(found[1]!) && this.#limits.charsets.has(found[1]!.toLowerCase()))) {
      throw this.#refusal('xml-encoding', 'an encoding that is not allowed')
    }
    this.#at = end + 2
  }

  #markup(): void {
    const text = this.#text
    const next = text.charCodeAt(this.#at + 1)
    if (next === 0x2f) this.#endTag()
    else if (next === 0x21) this.#exclamation()
    else if (next === 0x3f) {
      const end = this.#find('?>')
      this.#aside(text.slice(this.#at + 2, end), '?')
      this.#at = end + 2
    } else this.#startTag()
  }

  #exclamation(): void {
    const text = this.#text
    if (text.startsWith('<!--', this.#at)) {
      const end = this.#find('-->', 4)
      this.#aside(text.slice(this.#at + 4, end), '#comment')
      this.#at = end + 3
    } else if (text.startsWith('<![CDATA[', this.#at)) {
      if (this.#trail.depth === this.#base)
        throw this.#refusal('xml-syntax', 'text outside of the root element')
      const end = this.#find(']]>', 9)
      this.#pending += text.slice(this.#at + 9, end)
      this.#at = end + 3
    } else throw this.#refusal('xml-doctype', 'a document type or entity declaration')
  }

  /** Comments and instructions: no part of the data, but a back end may act on them. */
  #aside(text: string, mark: string): void {
    if (text === '') return
    this.#trail.suffix = mark
    this.#emit(this.#trail, text, 'text')
    this.#trail.suffix = ''
  }

  #startTag(): void {
    const trail = this.#trail
    this.#flush()
    if (this.#closed) throw this.#refusal('xml-syntax', 'a second root element')
    if (trail.depth - this.#base >= this.#limits.maxDepth) {
      throw this.#refusal('xml-depth', `nested deeper than ${this.#limits.maxDepth}`)
    }
    this.#at++
    const name = this.#match(NAME)
    if (name === null) throw this.#syntax('a < that begins no tag')
    this.#count()
    trail.steps[trail.depth++] = name[0]
    this.#emit(trail, name[0], 'key')
    this.#attributes()
    if (this.#text.startsWith('/>', this.#at)) {
      this.#at += 2
      this.#leave()
    } else if (this.#text[this.#at] === '>') this.#at++
    else throw this.#syntax('a tag that two parsers could read differently')
  }

  #attributes(): void {
    const names: string[] = []
    for (;;) {
      const space = this.#match(SPACE)![0]
      const code = this.#text.charCodeAt(this.#at)
      if (code === 0x3e || code === 0x2f) return
      const attribute = space === '' ? null : this.#match(ATTRIBUTE)
      if (attribute === null) throw this.#syntax('an attribute that two parsers could read differently')
      this.#count()
      const name = attribute[1]!
      // A tag with many attributes is refused long before this list is long.
      if (names.length >= 256 || names.includes(name))
        throw this.#refusal('xml-attributes', 'too many, or one twice')
      names.push(name)
      this.#trail.suffix = `@${name}`
      this.#emit(this.#trail, name, 'key')
      this.#value(attribute[2] ?? attribute[3]!)
      this.#trail.suffix = ''
    }
  }

  #endTag(): void {
    const trail = this.#trail
    this.#flush()
    this.#at += 2
    const name = this.#match(NAME)
    this.#match(SPACE)
    if (name === null || this.#text[this.#at] !== '>') throw this.#syntax('an end tag that is none')
    if (trail.depth === this.#base || trail.steps[trail.depth - 1] !== name[0]) {
      throw this.#refusal('xml-syntax', 'an end tag of another element')
    }
    this.#at++
    this.#leave()
  }

  #leave(): void {
    this.#trail.depth--
    if (this.#trail.depth === this.#base) this.#closed = true
  }

  #characters(text: string): void {
    if (this.#trail.depth === this.#base) {
      if (text.trim() !== '') throw this.#refusal('xml-syntax', 'text outside of the root element')
      return
    }
    const plain = dereferenced(text)
    if (plain === null) {
      if (this.#truncated && this.#at + text.length >= this.#text.length) {
        this.#pending += text
        return
      }
      throw this.#refusal('xml-entity', 'a reference that needs a declaration')
    }
    this.#pending += plain
  }

  #flush(): void {
    const text = this.#pending
    this.#pending = ''
    if (text !== '' && /[^ \t\r\n]/.test(text)) this.#emit(this.#trail, text, 'value')
  }

  #value(text: string): void {
    const plain = dereferenced(text)
    if (plain === null) throw this.#refusal('xml-entity', 'a reference that needs a declaration')
    if (plain !== '') this.#emit(this.#trail, plain, 'value')
  }

  #count(): void {
    if (++this.#keys > this.#limits.maxKeys) {
      throw this.#refusal('xml-keys', `more than ${this.#limits.maxKeys} elements and attributes`)
    }
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match !== null) this.#at = pattern.lastIndex
    return match
  }

  #find(mark: string, skip = 2): number {
    const end = this.#text.indexOf(mark, this.#at + skip)
    if (end !== -1) return end
    throw this.#syntax(`no ${mark}`)
  }

  /** What a cut-off body ends with is looked at as text, for what it may hold. */
  #syntax(message: string): unknown {
    if (!this.#truncated) return this.#refusal('xml-syntax', message)
    this.#flush()
    this.#trail.suffix = ''
    this.#emit(this.#trail, this.#text.slice(this.#at), 'text')
    return CUT
  }

  #refusal(rule: string, message: string): Refusal {
    return new Refusal(rule, this.#trail.toString(), message)
  }
}
