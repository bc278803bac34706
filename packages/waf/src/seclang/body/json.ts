import { utf8Bytes } from '../transform/bytes.ts'
import { addArgument, type BodyLimits, emptyBody, type ParsedBody } from './body.ts'

/**
 * Reads JSON (RFC 8259) into arguments: `json.a.b`. Members of an array have its name, as ModSecurity v2 has it, so that
 * rules which name a key fit them too. Duplicates stay, numbers and words keep their text, `null` is empty. What was read
 * before a mistake stays inspected.
 */
export function readJson(text: string, limits: BodyLimits): ParsedBody {
  const body = emptyBody()
  if (text.trim() === '') return body
  const reader = new JsonReader(text, limits, body)
  try {
    reader.document()
  } catch (error) {
    if (!(error instanceof JsonMistake)) throw error
    body.error = error.message
  }
  return body
}

/** Bytes of the names of all values: each repeats those around it, so a short body could have very long ones. */
const MOST_NAMES = 131_072

class JsonMistake extends Error {}

class JsonReader {
  readonly #text: string
  readonly #limits: BodyLimits
  readonly #body: ParsedBody
  #at = 0
  #names = 0

  constructor(text: string, limits: BodyLimits, body: ParsedBody) {
    this.#text = text
    this.#limits = limits
    this.#body = body
  }

  document(): void {
    this.#value('json', 0)
    this.#blanks()
    if (this.#at < this.#text.length) this.#refuse('text after the JSON value')
  }

  #refuse(problem: string): never {
    throw new JsonMistake(`${problem} at byte ${this.#at}`)
  }

  #blanks(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at += 1
    }
  }

  #value(path: string, depth: number): void {
    if (depth > this.#limits.jsonDepth) this.#refuse('JSON is nested too deep')
    this.#blanks()
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(path, depth)
      case '[':
        return this.#array(path, depth)
      case '"':
        return this.#add(path, this.#string())
      default:
        return this.#add(path, this.#scalar())
    }
  }

  #add(path: string, value: string): void {
    this.#names += path.length
    if (this.#names > MOST_NAMES) this.#refuse('the names of all values are too long')
    if (!addArgument(this.#body, this.#limits, path, value)) this.#refuse(this.#body.error)
  }

  #object(path: string, depth: number): void {
    this.#at += 1
    this.#blanks()
    if (this.#take('}')) return
    do {
      this.#blanks()
      if (this.#text[this.#at] !== '"') this.#refuse('a key is missing')
      const key = this.#string()
      this.#blanks()
      if (!this.#take(':')) this.#refuse('a colon is missing')
      this.#value(`${path}.${key}`, depth + 1)
      this.#blanks()
    } while (this.#take(','))
    if (!this.#take('}')) this.#refuse('an object is not closed')
  }

  #array(path: string, depth: number): void {
    this.#at += 1
    this.#blanks()
    if (this.#take(']')) return
    do {
      this.#value(path, depth + 1)
      this.#blanks()
    } while (this.#take(','))
    if (!this.#take(']')) this.#refuse('an array is not closed')
  }

  #take(letter: string): boolean {
    if (this.#text[this.#at] !== letter) return false
    this.#at += 1
    return true
  }

  #scalar(): string {
    const word = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/.exec(
      this.#text.slice(this.#at, this.#at + 400),
    )
    if (!word) this.#refuse('a value is missing')
    this.#at += word[0].length
    return word[0] === 'null' ? '' : word[0]
  }

  #string(): string {
    let out = ''
    let from = ++this.#at
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === 0x22) {
        out += this.#text.slice(from, this.#at)
        this.#at += 1
        return out
      }
      if (code < 0x20) this.#refuse('a control character in a string')
      if (code !== 0x5c) continue
      out += this.#text.slice(from, this.#at) + this.#escape()
      from = this.#at + 1
    }
    this.#refuse('a string is not closed')
  }

  /** Reads an escape; afterwards the place is its last character. */
  #escape(): string {
    this.#at += 1
    const letter = this.#text[this.#at]!
    const simple = ESCAPES[letter]
    if (simple !== undefined) return simple
    if (letter !== 'u') this.#refuse('an unknown escape')
    const high = this.#hex(this.#at + 1)
    this.#at += 4
    const isHigh = high >= 0xd800 && high <= 0xdbff
    if (isHigh && this.#text.startsWith('\\u', this.#at + 1)) {
      const low = this.#hex(this.#at + 3)
      if (low >= 0xdc00 && low <= 0xdfff) {
        this.#at += 6
        return utf8Bytes(String.fromCharCode(high, low))
      }
    }
    return utf8Bytes(String.fromCharCode(high))
  }

  #hex(at: number): number {
    const digits = this.#text.slice(at, at + 4)
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.#refuse('a broken \\u escape')
    return Number.parseInt(digits, 16)
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}
