/** Excerpts of findings without what somebody could use. */
import type { Finding } from '../engine/types.ts'

const NAMES = [
  ...[
    'password',
    'passwd',
    'pwd',
    'pass',
    'secret',
    'client_secret',
    'token',
    'access_token',
    'refresh_token',
    'id_token',
  ],
  ...[
    'api_key',
    'apikey',
    'api-key',
    'key',
    'code',
    'otp',
    'pin',
    'jwt',
    'session',
    'sid',
    'sig',
    'signature',
    'auth',
  ],
  ...[
    'authorization',
    'x-api-key',
    'x-auth-token',
    'x-access-token',
    'x-csrf-token',
    'x-xsrf-token',
    'proxy-authorization',
  ],
  ...['card', 'cardnumber', 'card_number', 'cvc', 'cvv', 'iban', 'ssn'],
]

/** What stands in place of an excerpt that could hold a secret. */
export const REDACTED = '[redacted]'

/** Tells by its place whether a value may be a secret: a cookie, or one whose last name is on the list. */
export function secretPlaces(more: readonly string[]): (place: string) => boolean {
  const names = new Set([...NAMES, ...more.map(name => name.toLowerCase())])
  return place => {
    // The whole body may hold anything.
    if (place.startsWith('cookie') || place === 'body') return true
    return place
      .toLowerCase()
      .split(/[.:[\]@"]/)
      .some(name => names.has(name))
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
