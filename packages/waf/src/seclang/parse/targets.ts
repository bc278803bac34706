/** What a rule looks at: `ARGS|!ARGS:password|&REQUEST_HEADERS:Host|TX:/^score_/`. */
import { Regex } from '../regex/regex.ts'
import { Subject } from '../regex/subject.ts'
import { RegexError } from '../regex/syntax.ts'
import { type KnownVariable, variableNames, variableOf } from '../variables/index.ts'
import { Mistake } from './fault.ts'

/** Keys that a pattern matches. What it said of a key is kept: clients send the same names again and again. */
export class KeyPattern {
  readonly kind = 'pattern'
  readonly source: string
  readonly #pattern: Regex
  /** Lower case letters and the like that stand at the beginning of each key that matches. */
  readonly #prefix: string
  readonly #known = new Map<string, boolean>()

  constructor(source: string) {
    this.source = source
    this.#pattern = new Regex(source, true)
    const plain = /^\^([a-z0-9_-]+)(?![?*+{|])/.exec(source)
    this.#prefix = plain === null || source.includes('|') ? '' : plain[1]!.slice(0, 1)
  }

  matches(key: string): boolean {
    if (
      this.#prefix !== '' &&
      (key.charCodeAt(0) | 0x20) !== this.#prefix.charCodeAt(0) &&
      key[0] !== this.#prefix
    )
      return false
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const found = this.#pattern.test(new Subject(key))
    if (this.#known.size < MAX_KNOWN && key.length <= MAX_KEY) this.#known.set(key, found)
    return found
  }
}

const MAX_KNOWN = 500
const MAX_KEY = 100

/** Which members of a collection are meant. */
export type Selector =
  /** All of them. */
  | null
  /** Those with this name, lower case. */
  | { readonly kind: 'key'; readonly key: string }
  /** Those whose name matches, in any case. */
  | KeyPattern

/** One part of a rule's list of variables. */
export interface Target {
  /** Upper case. */
  readonly variable: string
  readonly selector: Selector
  /** `&`: the number of members instead of their values. */
  readonly count: boolean
  /** The variable itself. */
  readonly source: KnownVariable
}

/** A rule's list, with what it leaves out apart. */
export interface TargetList {
  readonly targets: readonly Target[]
  readonly exclusions: readonly Target[]
}

/** Reads a list of variables. */
export function parseTargets(text: string): TargetList {
  const targets: Target[] = []
  const exclusions: Target[] = []
  for (const part of splitList(text)) {
    const excluded = part.startsWith('!')
    const counted = part.startsWith('&')
    const target = parseTarget(excluded || counted ? part.slice(1) : part, counted)
    if (excluded) exclusions.push(target)
    else targets.push(target)
  }
  return { targets, exclusions }
}

function parseTarget(text: string, count: boolean): Target {
  const colon = text.indexOf(':')
  const variable = (colon === -1 ? text : text.slice(0, colon)).trim().toUpperCase()
  if (!/^[A-Z][A-Z0-9_]*$/.test(variable)) {
    throw new Mistake(`'${text}' is no variable`, 'Write NAME, NAME:key or NAME:/pattern/, joined by |.')
  }
  const source = variableOf(variable)
  if (source === undefined) {
    throw new Mistake(`variable ${variable} is not known`, `Known are ${variableNames.join(', ')}.`)
  }
  return { variable, selector: colon === -1 ? null : parseSelector(text.slice(colon + 1)), count, source }
}

function parseSelector(text: string): Selector {
  const bare = text.length > 1 && text.startsWith("'") && text.endsWith("'") ? text.slice(1, -1) : text
  if (bare === '') throw new Mistake('the key after : is empty', 'Leave the colon out, or name a key.')
  if (bare === '/*') return { kind: 'key', key: '/*' }
  if (bare.length < 2 || !bare.startsWith('/') || !bare.endsWith('/'))
    return { kind: 'key', key: bare.toLowerCase() }
  const source = bare.slice(1, -1).replaceAll('\\/', '/')
  try {
    return new KeyPattern(source)
  } catch (error) {
    if (!(error instanceof RegexError)) throw error
    throw new Mistake(`key pattern: ${error.message}`, 'Change the pattern between the slashes.')
  }
}

/** Splits at `|` and `,`, but not inside `/…/` after a colon. */
function splitList(text: string): string[] {
  const parts: string[] = []
  let start = 0
  let inPattern = false
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (inPattern) {
      if (letter === '\\') at += 1
      else if (letter === '/' && endsPattern(text, at)) inPattern = false
    } else if (
      letter === ':' &&
      (text[at + 1] === '/' || text.startsWith("'/", at + 1)) &&
      text[at + 2] !== '*' &&
      text[at + 2] !== '@'
    ) {
      inPattern = text[at + 2] !== '/' || text[at + 1] === "'"
      at += text[at + 1] === '/' ? 1 : 2
    } else if (letter === '|' || letter === ',') {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  parts.push(text.slice(start))
  const trimmed = parts.map(part => part.trim())
  if (trimmed.some(part => part === ''))
    throw new Mistake('a part of the list of variables is empty', 'Join variables by single |.')
  return trimmed
}

function endsPattern(text: string, at: number): boolean {
  const next = text[at + 1] === "'" ? text[at + 2] : text[at + 1]
  return next === undefined || next === '|' || next === ','
}
