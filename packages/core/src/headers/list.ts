/** Field lines of a message: order, case and duplicates are kept (RFC 9110, section 5). */

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// obs-text (0x80-0xff) passes; controls but HTAB do not (RFC 9110, 5.5). One character is one byte.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** True for a legal field name (a token). */
export function isFieldName(name: string): boolean {
  return NAME.test(name)
}

/** True for a legal field value: no controls but HTAB, one character a byte. */
export function isFieldValue(value: string): boolean {
  return VALUE.test(value)
}

/** True when both names are equal without regard to case. `lower` is in lower case. */
export function sameName(name: string, lower: string): boolean {
  return name.length === lower.length && (name === lower || name.toLowerCase() === lower)
}

/**
 * Field lines in the order of the wire, as one flat array. Names compare without regard to case.
 * Values are strings of one character a byte (latin1), so bytes above 0x7f pass unchanged.
 */
export class HeaderList {
  /** `[name, value, name, value, …]`. Whoever writes here has checked names and values. */
  readonly raw: string[]

  /** Takes over `raw` without a copy and without checks: for heads that a parser has accepted. */
  constructor(raw: string[] = []) {
    this.raw = raw
  }

  /**
   * Makes a list from a record; an array value becomes several lines.
   * @throws TypeError for an illegal name or value.
   */
  static from(fields: Readonly<Record<string, string | number | readonly string[]>>): HeaderList {
    const list = new HeaderList()
    for (const name of Object.keys(fields)) {
      const value = fields[name]
      if (Array.isArray(value)) for (const one of value) list.append(name, one)
      else if (value !== undefined) list.append(name, String(value))
    }
    return list
  }

  /** Number of lines. */
  get size(): number {
    return this.raw.length >> 1
  }

  /** Value of the first line with this name (lower case is quickest). */
  get(name: string): string | undefined {
    const { raw } = this
    const lower = name.toLowerCase()
    for (let i = 0; i < raw.length; i += 2) if (sameName(raw[i]!, lower)) return raw[i + 1]
    return undefined
  }

  /** Values of all lines with this name, in order. */
  all(name: string): string[] {
    const { raw } = this
    const lower = name.toLowerCase()
    const values: string[] = []
    for (let i = 0; i < raw.length; i += 2) if (sameName(raw[i]!, lower)) values.push(raw[i + 1]!)
    return values
  }

  /** All lines of a list-based field as one value, joined by `, ` (RFC 9110, 5.3). Not for `Set-Cookie`. */
  joined(name: string): string | undefined {
    const values = this.all(name)
    return values.length === 0 ? undefined : values.join(', ')
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  /** Adds a line at the end. @throws TypeError for an illegal name or value. */
  append(name: string, value: string): this {
    assertField(name, value)
    this.raw.push(name, value)
    return this
  }

  /** Leaves one line with this name, at the place of the first. @throws TypeError for an illegal name or value. */
  set(name: string, value: string): this {
    assertField(name, value)
    const { raw } = this
    const lower = name.toLowerCase()
    let kept = 0
    let written = false
    for (let i = 0; i < raw.length; i += 2) {
      const old = raw[i]!
      if (sameName(old, lower)) {
        if (written) continue
        written = true
        raw[kept++] = name
        raw[kept++] = value
      } else {
        raw[kept++] = old
        raw[kept++] = raw[i + 1]!
      }
    }
    raw.length = kept
    if (!written) raw.push(name, value)
    return this
  }

  /** Removes all lines with this name. */
  delete(name: string): boolean {
    const lower = name.toLowerCase()
    return this.deleteWhere(candidate => sameName(candidate, lower))
  }

  /** Removes all lines for which `test` is true. */
  deleteWhere(test: (name: string, value: string) => boolean): boolean {
    const { raw } = this
    let kept = 0
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i]!
      const value = raw[i + 1]!
      if (test(name, value)) continue
      raw[kept++] = name
      raw[kept++] = value
    }
    const removed = kept < raw.length
    raw.length = kept
    return removed
  }

  clone(): HeaderList {
    return new HeaderList(this.raw.slice())
  }

  *[Symbol.iterator](): Generator<[name: string, value: string], void, undefined> {
    for (let i = 0; i < this.raw.length; i += 2) yield [this.raw[i]!, this.raw[i + 1]!]
  }
}

function assertField(name: string, value: string): void {
  if (typeof name !== 'string' || !isFieldName(name)) throw new TypeError('illegal header name')
  // A non-string is never coerced: its toString may give different bytes each time.
  if (typeof value !== 'string' || !isFieldValue(value))
    throw new TypeError(`illegal value for header ${name}`)
}
