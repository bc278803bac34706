/** Targeted cache control (RFC 9213): a Structured Field that overrides `Cache-Control` and `Expires`, both ways. */
import type { HeaderList } from '@postern/core'
import { type BareItem, isInnerList, parseDictionary, Token } from 'structured-headers'
import { applyDirective, type Directives, noDirectives, parseCacheControl } from './directives.ts'

/** What a response says to this cache. */
export interface ResponseDirectives {
  readonly directives: Directives
  /** A targeted field said it: `Expires` does not count. */
  readonly targeted: boolean
}

/** Directives of the first of `targets` that is there and valid, else those of `Cache-Control` (RFC 9213, 2.2). */
export function responseDirectives(headers: HeaderList, targets: readonly string[]): ResponseDirectives {
  for (const name of targets) {
    const value = headers.joined(name)
    if (value === undefined) continue
    const directives = parseTargeted(value)
    if (directives) return { directives, targeted: true }
  }
  return { directives: parseCacheControl(headers.all('cache-control')), targeted: false }
}

/** `null` for an empty or invalid field: it is ignored as a whole. */
export function parseTargeted(value: string): Directives | null {
  let members: ReturnType<typeof parseDictionary>
  try {
    members = parseDictionary(value)
  } catch {
    return null
  }
  if (members.size === 0) return null
  const draft = noDirectives()
  for (const [name, member] of members) {
    const item = isInnerList(member) ? member[0].map(part => part[0]) : member[0]
    // `?0` takes a directive back.
    if (item === false) continue
    if (item === true) applyDirective(draft, name, undefined, false)
    else if (typeof item === 'number' || !DELTA.has(name)) applyDirective(draft, name, textOf(item), true)
  }
  return draft
}

/** For these, any other type than a number is as good as not said. */
const DELTA = new Set(['max-age', 's-maxage', 'stale-while-revalidate', 'stale-if-error'])

/** Whole numbers as digits, names of fields as text; `''` for what no directive has. */
function textOf(item: BareItem | BareItem[]): string {
  if (typeof item === 'number') return Number.isInteger(item) && item >= 0 ? String(item) : ''
  const parts = Array.isArray(item) ? item : [item]
  return parts.every(part => typeof part === 'string' || part instanceof Token) ? parts.join(',') : ''
}
