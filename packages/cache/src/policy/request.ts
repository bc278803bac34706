/** What a request asks of a cache, read in one pass over its fields. */
import type { HeaderList } from '@postern/core'
import { type Directives, parseCacheControl } from './directives.ts'

/** The fields of a request that matter to a cache. */
export interface Question {
  /** `null` when nothing in `Cache-Control` concerns a cache. */
  directives: Directives | null
  ifNoneMatch: string | undefined
  ifModifiedSince: string | undefined
  ifRange: string | undefined
  range: string | undefined
  hasAuthorization: boolean
  hasCookie: boolean
  /** `If-Match`, `If-Unmodified-Since`: for the origin alone (RFC 9111, 4.3.2). */
  hasPrecondition: boolean
  /** First field that can make an origin answer for another URL, host or method, and that is in no key. */
  override: string | null
}

const NOTHING = 0
const CACHE_CONTROL = 1
const IF_NONE_MATCH = 2
const IF_MODIFIED_SINCE = 3
const IF_RANGE = 4
const RANGE = 5
const AUTHORIZATION = 6
const COOKIE = 7
const PRECONDITION = 8
const OVERRIDE = 9

const KINDS: Readonly<Record<string, number>> = {
  'cache-control': CACHE_CONTROL,
  'if-none-match': IF_NONE_MATCH,
  'if-modified-since': IF_MODIFIED_SINCE,
  'if-range': IF_RANGE,
  range: RANGE,
  authorization: AUTHORIZATION,
  cookie: COOKIE,
  'if-match': PRECONDITION,
  'if-unmodified-since': PRECONDITION,
  // The edge writes these itself, or drops them; from a trusted peer they are in the key.
  'x-forwarded-for': NOTHING,
  'x-forwarded-proto': NOTHING,
  'x-forwarded-host': NOTHING,
  'x-forwarded-port': NOTHING,
}

/** Names and beginnings of names that frameworks and servers take for the URL, host, scheme or method. */
const OVERRIDES =
  /^(?:x-(?:http-)?method(?:-override)?$|x-http-host-override$|x-host$|x-original-|x-rewrite-|x-forwarded-|front-end-https$|x-url-scheme$|x-arr-ssl$)/

const REMEMBERED = 2048
const CACHEABLE_NAMES = /no-|max-|min-|only-|stale-/i

/** Reads requests. One a cache: what is in its key overrides nothing. */
export class QuestionReader {
  readonly #keyed: ReadonlySet<string>
  readonly #honour: boolean
  readonly #known = new Map<string, number>()

  /** @param honour false: `Cache-Control` of requests is not read. */
  constructor(keyed: readonly string[], honour: boolean) {
    this.#keyed = new Set(keyed)
    this.#honour = honour
  }

  read(headers: HeaderList): Question {
    const question: Question = {
      directives: null,
      ifNoneMatch: undefined,
      ifModifiedSince: undefined,
      ifRange: undefined,
      range: undefined,
      hasAuthorization: false,
      hasCookie: false,
      hasPrecondition: false,
      override: null,
    }
    const { raw } = headers
    for (let i = 0; i < raw.length; i += 2) {
      const kind = this.#kindOf(raw[i]!)
      if (kind !== NOTHING) this.#take(question, kind, raw[i]!, raw[i + 1]!, headers)
    }
    return question
  }

  #take(question: Question, kind: number, name: string, value: string, headers: HeaderList): void {
    switch (kind) {
      case CACHE_CONTROL:
        if (this.#honour && question.directives === null && CACHEABLE_NAMES.test(value))
          question.directives = parseCacheControl(headers.all('cache-control'))
        break
      case IF_NONE_MATCH:
        question.ifNoneMatch =
          question.ifNoneMatch === undefined ? value : `${question.ifNoneMatch}, ${value}`
        break
      case IF_MODIFIED_SINCE:
        question.ifModifiedSince = value
        break
      case IF_RANGE:
        question.ifRange = value
        break
      case RANGE:
        // Two lines are no single range: answered with the whole.
        question.range = question.range === undefined ? value : `${question.range}, ${value}`
        break
      case AUTHORIZATION:
        question.hasAuthorization = true
        break
      case COOKIE:
        question.hasCookie = true
        break
      case PRECONDITION:
        question.hasPrecondition = true
        break
      case OVERRIDE:
        question.override ??= name.toLowerCase()
    }
  }

  #kindOf(name: string): number {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const lower = name.toLowerCase()
    // CGI and its heirs fold these spellings onto one name.
    const folded = lower.replace(/[_.]/g, '-')
    let kind = Object.hasOwn(KINDS, lower) ? KINDS[lower]! : NOTHING
    if (
      kind === NOTHING &&
      !Object.hasOwn(KINDS, folded) &&
      OVERRIDES.test(folded) &&
      !this.#keyed.has(lower)
    )
      kind = OVERRIDE
    if (this.#known.size < REMEMBERED && name.length <= 64) this.#known.set(name, kind)
    return kind
  }
}

/** Requests of different flavours may get answers that are not for the other: they do not wait for one another. */
export function flavourOf({ hasAuthorization, hasCookie, directives }: Question): number {
  return (hasAuthorization ? 1 : 0) + (hasCookie ? 2 : 0) + (directives?.noStore ? 4 : 0)
}
