/** Conditional requests: the client's, answered from what is stored (RFC 9111, 4.3.2), and the cache's own (4.3.1). */
import type { HeaderList } from '@postern/core'
import { parseHttpDate } from './dates.ts'
import { isStrong, listsTag } from './etag.ts'

/** What a stored response can be compared by. Milliseconds. */
export interface Validators {
  readonly etag: string | undefined
  /** As it was sent. */
  readonly lastModified: string | undefined
  /** `Date`, or the time of receipt. */
  readonly date: number
}

/** True when the client has what is stored: answer 304. `If-None-Match` takes precedence (RFC 9110, 13.2.2). */
export function isNotModified(
  ifNoneMatch: string | undefined,
  ifModifiedSince: string | undefined,
  stored: Validators,
): boolean {
  if (ifNoneMatch !== undefined) return listsTag(ifNoneMatch, stored.etag)
  if (ifModifiedSince === undefined) return false
  const since = parseHttpDate(ifModifiedSince)
  if (since === null) return false
  const modified = stored.lastModified === undefined ? null : parseHttpDate(stored.lastModified)
  // Without a Last-Modified, the response itself is what was new at its Date.
  return (modified ?? stored.date) <= since
}

/** Fields of the request that asks whether a stored response still holds; empty when it cannot be asked. */
export function validatingFields(stored: Validators): string[] {
  const fields: string[] = []
  if (stored.etag !== undefined) fields.push('If-None-Match', stored.etag)
  if (stored.lastModified !== undefined) fields.push('If-Modified-Since', stored.lastModified)
  return fields
}

/** True when a part of this response may be given for `If-Range` (RFC 9110, 13.1.5): strong comparison only. */
export function rangeHolds(ifRange: string, stored: Validators): boolean {
  if (ifRange.startsWith('"') || ifRange.startsWith('W/'))
    return isStrong(stored.etag) && ifRange === stored.etag
  if (stored.lastModified === undefined || ifRange !== stored.lastModified) return false
  const modified = parseHttpDate(stored.lastModified)
  // A date is a strong validator when it lies a second or more before Date (RFC 9110, 8.8.2.2).
  return modified !== null && stored.date - modified >= 1000
}

/** Fields that a 304 has to carry if the 200 would have had them (RFC 9110, 15.4.5), and those of this hop. */
const KEPT = new Set([
  'age',
  'cache-control',
  'cache-status',
  'cdn-cache-control',
  'content-location',
  'date',
  'etag',
  'expires',
  'last-modified',
  'vary',
])

/** The head of a 304 from the head of what is stored. */
export function notModifiedFields(raw: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) if (KEPT.has(raw[i]!.toLowerCase())) kept.push(raw[i]!, raw[i + 1]!)
  return kept
}

/** True when a 304 speaks of the stored response (RFC 9111, 4.3.4): its strong tag, if it has one, is the same. */
export function selects(answer: HeaderList, stored: Validators): boolean {
  const tag = answer.get('etag')
  if (isStrong(tag)) return tag === stored.etag
  return true
}
