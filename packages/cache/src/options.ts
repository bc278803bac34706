/** Options of a cache: what they mean, their defaults, and the check of them. */
import { getHeapStatistics } from 'node:v8'
import { ConfigError, type ConfigFault, type Context, isFieldName } from '@postern/core'
import type { EngineRules } from './exchange/engine.ts'
import type { CacheDecision } from './policy/cache-status.ts'
import type { QueryRules } from './policy/key.ts'
import type { CacheStore } from './store/cache-store.ts'

/** What makes two requests ask for the same. What is not in the key is not sent to the origin either, where it can be. */
export interface CacheKeyOptions {
  /**
   * Default: each host has its own responses. With a name, all hosts share them, and the origin sees this name
   * as the host of every request that may be stored.
   */
  host?: string
  /** Default: `http` and `https` are kept apart. With a scheme, both share, and the origin is told this one. */
  scheme?: 'http' | 'https'
  /** Parameters of the query that count; all others are dropped, before the key and before the origin. Default: all. */
  query?: { allow?: readonly string[]; deny?: readonly string[]; sort?: boolean }
  /** Request fields that count for every response, beside its `Vary`. Default none. */
  headers?: readonly string[]
  /** Cookies that count. Default none. Other cookies still reach the origin: it must say `Vary` or `private` itself. */
  cookies?: readonly string[]
}

/** Options of {@link cache}. */
export interface CacheOptions {
  /** Bytes of memory for stored responses and for those being read; default 67 108 864 (64 MiB). */
  maxBytes?: number
  /** Stored responses; default 100 000. */
  maxEntries?: number
  /** Bytes of one body; default an eighth of `maxBytes`, at most 8 MiB. A larger one passes unstored. */
  maxEntryBytes?: number
  /** Stored responses for one URL; default 64. The least used goes. */
  maxVariants?: number
  /** What makes two requests ask for the same. */
  key?: CacheKeyOptions
  /**
   * Answers to requests with `Authorization`. `'when-shared'` (default): stored when the origin says `public`, `s-maxage`
   * or `must-revalidate` (RFC 9111, 3.5). `'never'`: not stored even then.
   */
  authorization?: 'when-shared' | 'never'
  /**
   * Answers with `Set-Cookie`. `'when-shared'` (default): stored, cookie included, when the origin says `public` or
   * `s-maxage`. `'store'`: like any other answer, as RFC 9111, 7.3 has it; an origin that forgets `private` then gives
   * one user's session to all. `'never'`: never stored.
   */
  setCookie?: 'when-shared' | 'store' | 'never'
  /** Obey `Cache-Control` of requests (`no-cache`, `max-age`, `only-if-cached`, …); default true. False: it is not read. */
  requestDirectives?: boolean
  /** Targeted fields (RFC 9213), first match wins; default `['CDN-Cache-Control']`. */
  targets?: readonly string[]
  /** Freshness of answers that have a `Last-Modified` but state no lifetime (RFC 9111, 4.2.2). `false` turns it off. */
  heuristic?: false | { fraction?: number; maxSeconds?: number }
  /** Seconds of freshness by status for answers that state none, for example `{ 404: 10 }`. Default none. */
  negative?: Readonly<Record<number, number>>
  /** Use of stale answers, in seconds, where the origin says nothing and forbids nothing. */
  stale?: {
    /** When the origin answers 500, 502, 503 or 504; default 0. */
    ifError?: number
    /** When the origin cannot be reached or breaks off; default 86 400. */
    ifUnreachable?: number
    /** While a fetch in the background renews it; default 0. */
    whileRevalidate?: number
  }
  /** Seconds for which requests do not wait for one another where the last answer could not be shared; default 10. */
  hitForMiss?: number
  /** Write `Cache-Status` (RFC 9211) under this name; default none. It tells clients what is stored. */
  cacheStatus?: string
  /** Where whole responses are kept beside memory: {@link fileStore}, {@link memoryStore}, or one of your own. Default none. */
  store?: CacheStore
  /** Milliseconds after which a look-up in `store` is given up and the origin is asked; default 1000. */
  storeTimeout?: number
  /**
   * Canonical paths whose content never changes, because its fingerprint is in the name: a regular expression that begins with
   * `^/`, for example `/^\\/assets\\/.+\\.[0-9a-f]{8,}\\.\\w+$/`. Such a path is asked for without `Cookie` and `Authorization`, and
   * a 200 that is no HTML, sets no cookie and is not `private`, `no-store` or `no-cache` is kept for a year and says `immutable`.
   * Requests cannot demand to see the origin. Default none.
   */
  fingerprinted?: RegExp
  /** Hears of every decision, with its reason: for metrics. Must not throw. */
  onDecision?: (decision: CacheDecision, cx: Context) => void
  /** Milliseconds since 1970; default `Date.now`. */
  now?: () => number
}

const NAMES = [
  'maxBytes',
  'maxEntries',
  'maxEntryBytes',
  'maxVariants',
  'key',
  'authorization',
  'setCookie',
  'requestDirectives',
  'targets',
  'heuristic',
  'negative',
  'stale',
  'hitForMiss',
  'cacheStatus',
  'store',
  'storeTimeout',
  'fingerprinted',
  'onDecision',
  'now',
]
const WEEK = 604_800
const YEAR = 31_536_000

/** Checks options and fills in the defaults. @throws ConfigError with every fault. */
export function readOptions(options: CacheOptions): EngineRules {
  const check = new Check('cache')
  check.names('', options, NAMES)
  const maxBytes = check.whole('maxBytes', options.maxBytes ?? 67_108_864, 65_536, 2 ** 40)
  const { key = {}, stale = {}, heuristic = {}, negative = {} } = options
  check.names('key.', key, ['host', 'scheme', 'query', 'headers', 'cookies'])
  check.names('stale.', stale, ['ifError', 'ifUnreachable', 'whileRevalidate'])
  if (heuristic) check.names('heuristic.', heuristic, ['fraction', 'maxSeconds'])
  const fraction = heuristic === false ? 0 : (heuristic.fraction ?? 0.1)
  if (!(fraction >= 0 && fraction <= 1))
    check.fault('heuristic.fraction', `${fraction} is no share`, 'Choose one from 0 to 1.')
  const rules: EngineRules = {
    maxBytes,
    maxEntries: check.whole('maxEntries', options.maxEntries ?? 100_000, 1, 16_000_000),
    maxEntryBytes: check.whole(
      'maxEntryBytes',
      options.maxEntryBytes ?? Math.min(Math.floor(maxBytes / 8), 8_388_608),
      1,
      maxBytes,
    ),
    mostText: mostText(maxBytes),
    maxVariants: check.whole('maxVariants', options.maxVariants ?? 64, 1, 10_000),
    judge: {
      authorization: check.one('authorization', options.authorization ?? 'when-shared', [
        'when-shared',
        'never',
      ]),
      setCookie: check.one('setCookie', options.setCookie ?? 'when-shared', [
        'when-shared',
        'store',
        'never',
      ]),
      targets: check.fields('targets', options.targets ?? ['CDN-Cache-Control']),
      heuristic: {
        fraction,
        max: check.whole(
          'heuristic.maxSeconds',
          heuristic === false ? 0 : (heuristic.maxSeconds ?? 86_400),
          0,
          YEAR,
        ),
      },
      negative: new Map(
        Object.entries(negative).map(([status, seconds]) => [
          check.whole('negative (status)', Number(status), 200, 599),
          check.whole(`negative.${status}`, seconds, 0, WEEK),
        ]),
      ),
    },
    stale: {
      ifError: check.whole('stale.ifError', stale.ifError ?? 0, 0, YEAR),
      ifUnreachable: check.whole('stale.ifUnreachable', stale.ifUnreachable ?? 86_400, 0, YEAR),
      whileRevalidate: check.whole('stale.whileRevalidate', stale.whileRevalidate ?? 0, 0, YEAR),
    },
    key: {
      host: key.host === undefined ? null : check.host('key.host', key.host),
      scheme: key.scheme === undefined ? null : check.one('key.scheme', key.scheme, ['http', 'https']),
      query: readQuery(key.query ?? {}, check),
      headers: check.fields('key.headers', key.headers ?? []),
      cookies: check.strings('key.cookies', key.cookies ?? []),
      fingerprinted: options.fingerprinted ?? null,
    },
    honourRequests: check.flag('requestDirectives', options.requestDirectives ?? true),
    hitForMiss: 1000 * check.whole('hitForMiss', options.hitForMiss ?? 10, 0, WEEK),
    statusName: options.cacheStatus ?? null,
    store: options.store ?? null,
    storeTimeout: check.whole('storeTimeout', options.storeTimeout ?? 1000, 1, 60_000),
    onDecision: check.callback('onDecision', options.onDecision ?? null),
    now: check.callback('now', options.now ?? Date.now)!,
  }
  const { statusName } = rules
  if (statusName !== null && !/^[A-Za-z*][\w:/!#$%&'*+\-.^`|~]*$/.test(statusName))
    check.fault('cacheStatus', 'it is no token', "Write a name like 'edge'.")
  checkStore(options.store, check)
  checkFingerprinted(options.fingerprinted, check)
  check.done()
  return rules
}

/** Text lies in V8's heap, which has a limit of its own; where entries alone may fill it, bodies of some size stay out. */
function mostText(maxBytes: number): number {
  return maxBytes <= getHeapStatistics().heap_size_limit / 4 ? 4096 : 1024
}

function checkStore(store: CacheStore | undefined, check: Check): void {
  const methods = ['read', 'write', 'purge', 'close'] as const
  if (store !== undefined && methods.some(name => typeof store?.[name] !== 'function'))
    check.fault(
      'store',
      'it is no store',
      'Pass what fileStore(), memoryStore() or your own CacheStore gives.',
    )
}

function checkFingerprinted(pattern: RegExp | undefined, check: Check): void {
  if (pattern === undefined) return
  if (!(pattern instanceof RegExp) || !/^\^\\?\//.test(pattern.source) || pattern.global || pattern.sticky)
    check.fault(
      'fingerprinted',
      'it is no regular expression for whole paths',
      'Begin it with ^/, without g and y.',
    )
}

function readQuery(query: NonNullable<CacheKeyOptions['query']>, check: Check): QueryRules {
  check.names('key.query.', query, ['allow', 'deny', 'sort'])
  const { allow, deny, sort = false } = query
  if (allow && deny) check.fault('key.query', 'allow and deny are both given', 'Give one of them.')
  return {
    allow: allow ? new Set(check.strings('key.query.allow', allow)) : null,
    deny: deny ? new Set(check.strings('key.query.deny', deny)) : null,
    sort: check.flag('key.query.sort', sort),
  }
}

/** Collects faults. */
export class Check {
  readonly #name: string
  readonly #faults: ConfigFault[] = []

  constructor(name: string) {
    this.#name = name
  }

  fault(place: string, problem: string, fix: string): void {
    this.#faults.push({ place: `${this.#name}.${place}`, problem, fix })
  }

  names(prefix: string, given: object, known: readonly string[]): void {
    for (const name of Object.keys(given))
      if (!known.includes(name))
        this.fault(prefix + name, 'there is no such option', `Known: ${known.join(', ')}.`)
  }

  whole(place: string, value: number, least: number, most: number): number {
    if (!Number.isSafeInteger(value) || value < least || value > most)
      this.fault(
        place,
        `${String(value)} is no whole number from ${least} to ${most}`,
        'Choose one in that range.',
      )
    return value
  }

  flag(place: string, value: boolean): boolean {
    if (typeof value !== 'boolean')
      this.fault(place, `${String(value)} is neither true nor false`, 'Write one.')
    return value
  }

  one<const T extends string>(place: string, value: T, known: readonly T[]): T {
    if (!known.includes(value))
      this.fault(place, `'${String(value)}' is unknown`, `Write one of ${known.join(', ')}.`)
    return value
  }

  strings(place: string, values: readonly string[]): readonly string[] {
    if (!Array.isArray(values) || values.some(value => typeof value !== 'string' || value === ''))
      this.fault(place, 'it is no list of names', 'Write an array of strings.')
    return values
  }

  fields(place: string, values: readonly string[]): readonly string[] {
    if (!Array.isArray(values) || values.some(value => typeof value !== 'string' || !isFieldName(value))) {
      this.fault(place, 'it is no list of field names', "Write names like 'Accept-Language'.")
      return []
    }
    return values.map(value => value.toLowerCase())
  }

  host(place: string, value: string): string {
    if (typeof value !== 'string' || !/^[a-z\d.-]+(?::\d{1,5})?$|^\[[\da-f:.]+\](?::\d{1,5})?$/.test(value))
      this.fault(
        place,
        `'${String(value)}' is no host[:port] in lower case`,
        "Write one like 'www.example.com'.",
      )
    return value
  }

  callback<T>(place: string, value: T): T {
    if (value !== null && typeof value !== 'function')
      this.fault(place, 'it is no function', 'Pass one, or leave it out.')
    return value
  }

  done(): void {
    if (this.#faults.length > 0) throw new ConfigError(this.#faults)
  }
}
