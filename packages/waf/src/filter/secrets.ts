/** Excerpts of findings without what somebody could use. */
import { secretNames } from '@postern/core'
import type { Finding } from '../engine/types.ts'

/** Besides those that no log tells. */
const NAMES = [
  ...['pass', 'pin', 'x-api-key', 'x-auth-token', 'x-access-token', 'x-csrf-token', 'x-xsrf-token'],
  ...['proxy-authorization', 'card', 'cardnumber', 'card_number', 'cvc', 'cvv', 'iban', 'ssn'],
]

/** Variables of rules that hold cookies, or more than one value. */
const WHOLE =
  /^(?:request_cookies|request_headers:(?:set-)?cookie2?|response_headers:set-cookie|re(?:quest|sponse)_body|query_string|request_uri|request_uri_raw|request_line|matched_vars?|tx:\d)\b/

/** What stands in place of an excerpt that could hold a secret. */
export const REDACTED = '[redacted]'

/** Tells by its place whether a value may be a secret: a cookie, or one whose last name is on the list. */
export function secretPlaces(more: readonly string[]): (place: string) => boolean {
  const names = secretNames([...NAMES, ...more])
  return place => {
    const lower = place.toLowerCase()
    // Cookies, and whole bodies, queries and captures: they may hold anything.
    if (lower.startsWith('cookie') || lower === 'body' || WHOLE.test(lower)) return true
    return lower.split(/[.:[\]@"]/).some(name => names.has(name))
  }
}

/** The findings, with excerpts from secret places replaced. The same list when there is none. */
export function redacted(
  findings: readonly Finding[],
  isSecret: (place: string) => boolean,
): readonly Finding[] {
  if (!findings.some(({ place }) => isSecret(place))) return findings
  return findings.map(finding => (isSecret(finding.place) ? { ...finding, excerpt: REDACTED } : finding))
}
