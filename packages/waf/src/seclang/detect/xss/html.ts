/**
 * Splits a value into the parts of HTML that matter for script injection.
 *
 * A reading of the HTML tokeniser (WHATWG, 13.2.5) with what old browsers did otherwise: NUL bytes in names mean nothing, a
 * back-tick quotes, `<%` starts a comment. The structure follows libinjection (BSD-3-Clause).
 */

export type Part = 'tag' | 'name' | 'value' | 'comment' | 'doctype'

/** Where a value is thought to stand: in text, in a tag, or inside a quoted attribute. */
export type HtmlContext = 'data' | 'unquoted' | "'" | '"' | '`'

type State =
  | 'data'
  | 'beforeName'
  | 'afterName'
  | 'beforeValue'
  | 'afterValue'
  | 'selfClosing'
  | 'tagEnd'
  | 'quoted'
  | 'end'

export class HtmlReader {
  /** The part read last. */
  part: Part = 'tag'
  text = ''
  readonly #value: string
  #at = 0
  #state: State
  #quote: string
  #closing = false

  constructor(value: string, context: HtmlContext) {
    this.#value = value
    this.#state = context === 'data' ? 'data' : context === 'unquoted' ? 'beforeName' : 'quoted'
    this.#quote = context
  }

  /** Reads the next part. False: there is none. */
  next(): boolean {
    for (;;) {
      switch (this.#state) {
        case 'end':
          return false
        case 'data': {
          const open = this.#value.indexOf('<', this.#at)
          if (open === -1) return false
          this.#at = open + 1
          if (this.#tagOpen()) return true
          break
        }
        case 'beforeName':
          if (this.#beforeName()) return true
          break
        case 'afterName':
          if (this.#afterName()) return true
          break
        case 'beforeValue':
          if (this.#beforeValue()) return true
          break
        case 'quoted':
          return this.#quotedValue()
        case 'afterValue':
          this.#state = 'beforeName'
          if (this.#letter() === '/') {
            this.#at += 1
            this.#state = 'selfClosing'
          }
          break
        case 'selfClosing':
          if (this.#at >= this.#value.length) return false
          this.#state = 'beforeName'
          if (this.#letter() === '>') {
            this.#at += 1
            this.#state = 'data'
          }
          break
        case 'tagEnd':
          this.#closing = false
          this.#at += 1
          this.#state = 'data'
      }
    }
  }

  #letter(): string | undefined {
    return this.#value[this.#at]
  }

  #emit(part: Part, from: number, to: number): true {
    this.part = part
    this.text = this.#value.slice(from, to)
    return true
  }

  /** Behind a `<`. */
  #tagOpen(): boolean {
    const letter = this.#letter()
    if (letter === undefined) {
      this.#state = 'end'
      return false
    }
    if (letter === '!') {
      this.#at += 1
      return this.#declaration()
    }
    if (letter === '?') {
      this.#at += 1
      return this.#commentTo('>')
    }
    if (letter === '%') {
      this.#at += 1
      return this.#commentTo('%>')
    }
    if (letter === '/') {
      this.#at += 1
      this.#closing = true
      const first = this.#letter()
      if (first === undefined) this.#state = 'end'
      if (first === undefined || first === '>') return false
      if (isNameStart(first)) return this.#tagName()
      this.#closing = false
      return this.#commentTo('>')
    }
    return letter === '\0' || isNameStart(letter) ? this.#tagName() : false
  }

  #tagName(): boolean {
    const from = this.#at
    let at = from
    while (at < this.#value.length) {
      const letter = this.#value[at]!
      if (isWhite(letter) || letter === '/' || letter === '>') break
      at += 1
    }
    const letter = this.#value[at]
    if (letter === undefined) this.#state = 'end'
    else if (letter === '/') this.#state = 'selfClosing'
    else this.#state = letter === '>' ? 'tagEnd' : 'beforeName'
    this.#at = letter === '>' ? at : at + 1
    if (letter === '>' && this.#closing) {
      // A closing tag that ends at once is no part of its own.
      this.#closing = false
      this.#at = at + 1
      this.#state = 'data'
      return false
    }
    return this.#emit('tag', from, at)
  }

  #skipWhite(): string | undefined {
    while (
      this.#at < this.#value.length &&
      (isWhite(this.#value[this.#at]!) || this.#value[this.#at] === '\0')
    )
      this.#at += 1
    return this.#letter()
  }

  #beforeName(): boolean {
    const letter = this.#skipWhite()
    if (letter === undefined) this.#state = 'end'
    else if (letter === '/') {
      this.#at += 1
      this.#state = 'selfClosing'
    } else if (letter === '>') {
      this.#at += 1
      this.#state = 'data'
    } else return this.#name()
    return false
  }

  #name(): boolean {
    const from = this.#at
    let at = from + 1
    while (at < this.#value.length) {
      const letter = this.#value[at]!
      if (isWhite(letter) || letter === '/' || letter === '=' || letter === '>') break
      at += 1
    }
    const letter = this.#value[at]
    if (letter === undefined) this.#state = 'end'
    else if (letter === '/') this.#state = 'selfClosing'
    else if (letter === '=') this.#state = 'beforeValue'
    else this.#state = letter === '>' ? 'tagEnd' : 'afterName'
    this.#at = letter === '>' || letter === undefined ? at : at + 1
    return this.#emit('name', from, at)
  }

  #afterName(): boolean {
    const letter = this.#skipWhite()
    if (letter === undefined) this.#state = 'end'
    else if (letter === '/') {
      this.#at += 1
      this.#state = 'selfClosing'
    } else if (letter === '=') {
      this.#at += 1
      this.#state = 'beforeValue'
    } else if (letter === '>') this.#state = 'tagEnd'
    else return this.#name()
    return false
  }

  #beforeValue(): boolean {
    const letter = this.#skipWhite()
    if (letter === undefined) {
      this.#state = 'end'
      return false
    }
    if (letter === '"' || letter === "'" || letter === '`') {
      this.#quote = letter
      return this.#quotedValue()
    }
    const from = this.#at
    let at = from
    while (at < this.#value.length && !isWhite(this.#value[at]!) && this.#value[at] !== '>') at += 1
    const end = this.#value[at]
    this.#state = end === undefined ? 'end' : end === '>' ? 'tagEnd' : 'beforeName'
    this.#at = end === '>' ? at : at + 1
    return this.#emit('value', from, at)
  }

  #quotedValue(): boolean {
    // A value that began inside the attribute has no opening quote.
    if (this.#at > 0) this.#at += 1
    const from = this.#at
    const close = this.#value.indexOf(this.#quote, from)
    this.#state = close === -1 ? 'end' : 'afterValue'
    this.#at = close === -1 ? this.#value.length : close + 1
    return this.#emit('value', from, close === -1 ? this.#value.length : close)
  }

  /** Behind `<!`. */
  #declaration(): boolean {
    const rest = this.#value.slice(this.#at, this.#at + 7)
    if (rest.toLowerCase() === 'doctype') {
      const close = this.#value.indexOf('>', this.#at)
      this.#state = close === -1 ? 'end' : 'data'
      const from = this.#at
      this.#at = close === -1 ? this.#value.length : close + 1
      return this.#emit('doctype', from, this.#at)
    }
    if (rest === '[CDATA[') {
      const close = this.#value.indexOf(']]>', this.#at)
      this.#state = close === -1 ? 'end' : 'data'
      this.#at = close === -1 ? this.#value.length : close + 3
      return false
    }
    if (!rest.startsWith('--')) return this.#commentTo('>')
    this.#at += 2
    return this.#comment()
  }

  #commentTo(mark: string): boolean {
    const from = this.#at
    const close = this.#value.indexOf(mark, from)
    this.#state = close === -1 ? 'end' : 'data'
    this.#at = close === -1 ? this.#value.length : close + mark.length
    return this.#emit('comment', from, close === -1 ? this.#value.length : close)
  }

  /** A comment ends at `-->` or `-!>`; NUL bytes behind the first hyphen mean nothing. */
  #comment(): boolean {
    const value = this.#value
    const from = this.#at
    for (
      let dash = value.indexOf('-', from);
      dash !== -1 && dash <= value.length - 3;
      dash = value.indexOf('-', dash + 1)
    ) {
      let at = dash + 1
      while (value[at] === '\0') at += 1
      if ((value[at] !== '-' && value[at] !== '!') || value[at + 1] !== '>') {
        // Do not look at the same NUL bytes again.
        if (at > dash + 1) dash = at - 1
        continue
      }
      this.#at = at + 2
      this.#state = 'data'
      return this.#emit('comment', from, dash)
    }
    this.#at = value.length
    this.#state = 'end'
    return this.#emit('comment', from, value.length)
  }
}

function isWhite(letter: string): boolean {
  return letter === ' ' || (letter >= '\t' && letter <= '\r')
}

function isNameStart(letter: string): boolean {
  const lower = letter.charCodeAt(0) | 0x20
  return lower >= 0x61 && lower <= 0x7a
}
