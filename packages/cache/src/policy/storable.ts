/** May a response be stored, and may others have it (RFC 9111, 3)? */
import type { Directives } from './directives.ts'

/** Who may get a response that names somebody: see {@link StoreRules}. */
export type CredentialRule = 'when-shared' | 'never'

/** Rules of the operator. */
export interface StoreRules {
  /** Responses to requests with `Authorization`. */
  readonly authorization: CredentialRule
  /** Responses with `Set-Cookie`. */
  readonly setCookie: CredentialRule | 'store'
}

/** What decides. */
export interface StoreCase {
  readonly status: number
  readonly directives: Directives
  readonly requestNoStore: boolean
  readonly hasAuthorization: boolean
  readonly hasSetCookie: boolean
  /** `Vary: *`. */
  readonly variesByAll: boolean
  /** It has a lifetime, or can be validated. */
  readonly reusable: boolean
}

/** Why a response is not stored. */
export type NotStored =
  | 'interim'
  | 'request-no-store'
  | 'no-store'
  | 'not-understood'
  | 'private'
  | 'authorization'
  | 'set-cookie'
  | 'vary-star'
  | 'no-lifetime'

/** Statuses whose caching this cache understands (RFC 9110, 15). */
const UNDERSTOOD = new Set([
  200, 203, 204, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410,
  411, 412, 413, 414, 415, 416, 417, 421, 422, 426, 428, 429, 431, 451, 500, 501, 502, 503, 504, 505,
])

/** True when the origin spoke to shared caches: what RFC 9111, 3.5 asks for answers to `Authorization`. */
export function saysShared({ isPublic, sMaxage, mustRevalidate }: Directives): boolean {
  return isPublic || sMaxage !== null || mustRevalidate
}

/** `null`: it may be stored. Else the first reason against it. */
export function whyNotStored(of: StoreCase, rules: StoreRules): NotStored | null {
  const { directives, status } = of
  if (status < 200) return 'interim'
  if (of.requestNoStore) return 'request-no-store'
  // must-understand takes the place of no-store where the status is understood (RFC 9111, 5.2.2.3).
  if (directives.mustUnderstand) {
    if (!UNDERSTOOD.has(status)) return 'not-understood'
  } else if (directives.noStore) return 'no-store'
  if (directives.isPrivate) return 'private'
  if (of.hasAuthorization && (rules.authorization === 'never' || !saysShared(directives)))
    return 'authorization'
  if (of.hasSetCookie && rules.setCookie !== 'store') {
    if (rules.setCookie === 'never' || !(directives.isPublic || directives.sMaxage !== null))
      return 'set-cookie'
  }
  if (of.variesByAll) return 'vary-star'
  return of.reusable ? null : 'no-lifetime'
}
