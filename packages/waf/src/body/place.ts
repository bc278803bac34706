/** Places of values, written out only when somebody asks. */
import type { Place, Section } from './types.ts'

/** Longest place in characters. */
const MOST = 256
/** Longest name within a place in characters. */
const MOST_NAME = 64

/** One step of a path into a structured body: the name of a member, or the index of an item. */
export type Step = string | number

/** The place of the value at hand. The readers move it along; see {@link Place} for how long it is right. */
export class Trail implements Place {
  section: Section = 'path'
  /** What stands before the steps: the name of the section, or `multipart.field` and the like for a body within a body. */
  root = ''
  /** Name of a parameter, cookie or header, as it stands in the request; `null` for the section itself. */
  name: string | null = null
  /** True when `name` may have percent escapes. */
  encoded = false
  /** Steps into a structured body; only the first `depth` count. */
  readonly steps: Step[] = []
  depth = 0
  /** Behind the steps, with its mark: `@href` for an attribute. */
  suffix = ''

  /** Moves to the section itself. */
  at(section: Section, root: string = section): void {
    this.section = section
    this.root = root
    this.name = null
    this.encoded = false
    this.depth = 0
    this.suffix = ''
  }

  toString(): string {
    let text = this.root
    if (this.name !== null) {
      const name = this.encoded ? decodedOnce(this.name) : this.name
      text += this.section === 'header' ? `:${legible(name.toLowerCase())}` : `.${legible(name)}`
    }
    for (let i = 0; i < this.depth && text.length < MOST; i++) {
      const step = this.steps[i]!
      if (typeof step === 'number') text += `[${step}]`
      // Names of XML cannot begin so: the mark is the reader's own. Those of JSON can, and stand in quotes.
      else if (this.section === 'xml' && (step[0] === '@' || step[0] === '#')) text += legible(step)
      else text += isPlain(step) ? `.${step}` : `["${legible(step)}"]`
    }
    if (this.suffix !== '') text += legible(this.suffix)
    return text.length > MOST ? `${text.slice(0, MOST - 3)}...` : text
  }
}

/** A name that needs no quotes between dots: so `a.b` as one key never reads like `b` within `a`. */
function isPlain(name: string): boolean {
  if (name.length === 0 || name.length > MOST_NAME) return false
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    const lower = code | 0x20
    if (lower >= 0x61 && lower <= 0x7a && code >= 0x41) continue
    if ((code >= 0x30 && code <= 0x39) || code === 0x5f || code === 0x2d || code === 0x24 || code === 0x3a)
      continue
    return false
  }
  return true
}

/** Text of a client in printable ASCII, bounded. */
export function legible(text: string): string {
  const cut = text.length > MOST_NAME ? `${text.slice(0, MOST_NAME - 3)}...` : text
  return cut.replace(/[^\x20-\x7e]|["\\]/g, c => {
    const code = c.charCodeAt(0)
    return `\\x${code.toString(16).padStart(2, '0')}`
  })
}

/** Browsers write `user[name]` as `user%5Bname%5D`: a place names the field, not its spelling. */
function decodedOnce(name: string): string {
  if (!name.includes('%')) return name
  return name
    .slice(0, 4 * MOST_NAME)
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
