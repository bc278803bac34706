/** One look at the head of a response: may it be stored, for how long, and what it can be compared by. */
import type { HeaderList } from '@postern/core'
import { ageValue, initialAge } from './age.ts'
import type { Validators } from './conditional.ts'
import { parseHttpDate } from './dates.ts'
import type { Directives } from './directives.ts'
import { type FreshnessRules, freshnessOf } from './freshness.ts'
import { type NotStored, type StoreRules, saysShared, whyNotStored } from './storable.ts'
import { responseDirectives } from './targeted.ts'
import { varyNames } from './vary.ts'

/** Rules for the heads of responses. */
export interface JudgeRules extends StoreRules, FreshnessRules {
  /** Names of targeted fields, in order of precedence (RFC 9213, 2.2). */
  readonly targets: readonly string[]
}

/** What the request was, as far as it matters here. */
export interface Asked {
  readonly noStore: boolean
  readonly hasAuthorization: boolean
  readonly hasCookie: boolean
  /** Milliseconds since 1970: when it was sent, and when the head of the answer came. */
  readonly requestTime: number
  readonly responseTime: number
  /** Seconds of `Age`, where another head than the one judged tells it. */
  readonly age?: number
}

/** What was found. Times in milliseconds. */
export interface Judgement {
  readonly notStored: NotStored | null
  readonly said: Directives
  readonly lifetime: number
  readonly initialAge: number
  readonly responseTime: number
  readonly validators: Validators
  readonly varyNames: readonly string[]
  /** It may be used for requests with `Authorization` (RFC 9111, 3.5). */
  readonly shared: boolean
  /** It may be used without asking now. */
  readonly fresh: boolean
}

/** Judges a head. */
export function judge(status: number, headers: HeaderList, asked: Asked, rules: JudgeRules): Judgement {
  const { requestTime, responseTime } = asked
  const answer = responseDirectives(headers, rules.targets)
  const said = answer.directives
  const told = parseHttpDate(headers.get('date') ?? '')
  const date = told ?? responseTime
  const hasSetCookie = headers.has('set-cookie')
  // Nobody guesses about answers that may be meant for one user.
  const guess = !asked.hasAuthorization && !asked.hasCookie && !hasSetCookie
  const lifetime = freshnessOf(status, headers, answer, date, rules, guess).seconds * 1000
  const age = initialAge(asked.age ?? ageValue(headers), told, requestTime, responseTime)
  const etag = headers.get('etag')
  const lastModified = headers.get('last-modified')
  const names = varyNames(headers)
  const fresh = lifetime > age && !said.noCache
  const kept = said.staleIfError !== null || said.staleWhileRevalidate !== null
  const notStored = whyNotStored(
    {
      status,
      directives: said,
      requestNoStore: asked.noStore,
      hasAuthorization: asked.hasAuthorization,
      hasSetCookie,
      variesByAll: names === null,
      reusable: fresh || etag !== undefined || lastModified !== undefined || (lifetime > 0 && kept),
    },
    rules,
  )
  return {
    notStored,
    said,
    lifetime,
    initialAge: age,
    responseTime,
    validators: { etag, lastModified, date },
    varyNames: names ?? [],
    shared: saysShared(said),
    fresh: notStored === null && fresh,
  }
}
