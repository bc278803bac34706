/**
 * Cache directives (RFC 9111, 5.2), from `Cache-Control` or a targeted field.
 *
 * What is malformed is read in the way that stores less: an invalid or contradictory lifetime is 0, and a restriction
 * counts whatever stands behind its name.
 */

/** Directives of a request or a response. Seconds; `null` for what is not said. */
export interface Directives {
  /** `max-age`; 0 when it is invalid or said twice with different values. */
  readonly maxAge: number | null
  readonly sMaxage: number | null
  readonly noStore: boolean
  /** Unqualified `no-cache`. */
  readonly noCache: boolean
  /** Unqualified `private`. */
  readonly isPrivate: boolean
  /** Names, lower case, that `no-cache="…"` or `private="…"` keep out of what is stored. */
  readonly withheld: readonly string[]
  readonly isPublic: boolean
  readonly mustRevalidate: boolean
  readonly proxyRevalidate: boolean
  readonly mustUnderstand: boolean
  readonly noTransform: boolean
  readonly immutable: boolean
  readonly staleWhileRevalidate: number | null
  readonly staleIfError: number | null
  /** Of requests; `Infinity` for `max-stale` without a value. */
  readonly maxStale: number | null
  readonly minFresh: number | null
  readonly onlyIfCached: boolean
}

/** The same, while it is read. */
export type DirectiveDraft = { -readonly [Name in keyof Directives]: Directives[Name] }

/** The largest lifetime that anybody means: 68 years (RFC 9111, 1.2.2). */
export const MAX_SECONDS = 2_147_483_648

const MEMBER = /[ \t]*(?:,|([!#$%&'*+\-.^_`|~\w]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?)/y

/** Nothing said. */
export function noDirectives(): DirectiveDraft {
  return {
    maxAge: null,
    sMaxage: null,
    noStore: false,
    noCache: false,
    isPrivate: false,
    withheld: [],
    isPublic: false,
    mustRevalidate: false,
    proxyRevalidate: false,
    mustUnderstand: false,
    noTransform: false,
    immutable: false,
    staleWhileRevalidate: null,
    staleIfError: null,
    maxStale: null,
    minFresh: null,
    onlyIfCached: false,
  }
}

/** What common fields say: many responses share one object. Bounded. */
const remembered = new Map<string, Directives>()
const REMEMBERED = 512
const LONGEST = 128

/** Reads all lines of a `Cache-Control` field. */
export function parseCacheControl(lines: readonly string[]): Directives {
  const text = lines.join('\n')
  const known = remembered.get(text)
  if (known !== undefined) return known
  const draft = noDirectives()
  for (const line of lines) readLine(line, draft)
  Object.freeze(draft)
  if (remembered.size < REMEMBERED && text.length <= LONGEST) remembered.set(text, draft)
  return draft
}

function readLine(line: string, draft: DirectiveDraft): void {
  let at = 0
  while (at < line.length) {
    MEMBER.lastIndex = at
    const match = MEMBER.exec(line)
    if (match === null) {
      // No name here: an empty end, or something that is no directive.
      at = nextMember(line, at, draft)
      continue
    }
    at = MEMBER.lastIndex
    const name = match[1]
    if (name === undefined) continue
    const value = match[2] === undefined ? match[3] : unquote(match[2])
    const end = nextMember(line, at, draft)
    const clean = /^[ \t]*,?$/.test(line.slice(at, end))
    applyDirective(draft, name.toLowerCase(), clean ? value : '', value !== undefined || !clean)
    at = end
  }
}

/** Place behind the next comma outside of quotes. */
function nextMember(line: string, from: number, draft: DirectiveDraft): number {
  let quoted = false
  for (let i = from; i < line.length; i++) {
    const char = line[i]
    if (char === '"') quoted = !quoted
    else if (char === '\\' && quoted) i++
    else if (char === ',' && !quoted) return i + 1
  }
  // A quote that never ends may hide anything.
  if (quoted) draft.noStore = true
  return line.length
}

function unquote(text: string): string {
  return text.replace(/\\(.)/g, '$1')
}

/** Takes one directive in. `valued`: something stood behind the name; `value` is `''` where it makes no sense. */
export function applyDirective(
  draft: DirectiveDraft,
  name: string,
  value: string | undefined,
  valued: boolean = value !== undefined,
): void {
  switch (name) {
    case 'max-age':
      draft.maxAge = lifetime(draft.maxAge, value)
      break
    case 's-maxage':
      draft.sMaxage = lifetime(draft.sMaxage, value)
      break
    case 'no-store':
      draft.noStore = true
      break
    case 'no-cache':
      if (!valued || !withhold(draft, value)) draft.noCache = true
      break
    case 'private':
      if (!valued || !withhold(draft, value)) draft.isPrivate = true
      break
    case 'public':
      draft.isPublic = true
      break
    case 'must-revalidate':
      draft.mustRevalidate = true
      break
    case 'proxy-revalidate':
      draft.proxyRevalidate = true
      break
    case 'must-understand':
      draft.mustUnderstand = true
      break
    case 'no-transform':
      draft.noTransform = true
      break
    case 'immutable':
      draft.immutable = true
      break
    case 'stale-while-revalidate':
      draft.staleWhileRevalidate = seconds(value)
      break
    case 'stale-if-error':
      draft.staleIfError = seconds(value)
      break
    case 'max-stale':
      draft.maxStale = valued ? seconds(value) : Infinity
      break
    case 'min-fresh':
      draft.minFresh = seconds(value)
      break
    case 'only-if-cached':
      draft.onlyIfCached = true
  }
}

/** Non-negative whole seconds, or `null`. */
export function seconds(value: string | undefined): number | null {
  return value !== undefined && /^\d+$/.test(value) ? Math.min(Number(value), MAX_SECONDS) : null
}

/** Two that differ, or one that is none, count as stale (RFC 9111, 4.2.1). */
function lifetime(before: number | null, value: string | undefined): number {
  const now = seconds(value) ?? 0
  return before === null || before === now ? now : 0
}

/** False when the list of names is none: then the directive counts for the whole response. */
function withhold(draft: DirectiveDraft, value: string | undefined): boolean {
  const names = (value ?? '')
    .split(',')
    .map(name => name.trim().toLowerCase())
    .filter(name => name !== '')
  if (names.length === 0 || names.some(name => !/^[!#$%&'*+\-.^_`|~\w]+$/.test(name))) return false
  draft.withheld = [...draft.withheld, ...names]
  return true
}
