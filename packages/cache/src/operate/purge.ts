/** Takes stored responses away, or marks them as stale, and sees to it that nothing on its way brings them back. */
import { readTarget } from '@postern/core'
import type { Flights } from '../exchange/flights.ts'
import { type KeyRules, keyOf } from '../policy/key.ts'
import type { Entry } from '../store/entry.ts'
import type { Level1 } from '../store/level1.ts'

/** How to purge. */
export interface PurgeOptions {
  /**
   * Mark as stale instead of removing: the next request asks the origin, with the validators that are stored, and
   * `stale-if-error` and `stale-while-revalidate` still count. Default false.
   */
  soft?: boolean
}

/** Purges of one cache. Each returns how many stored responses it reached in this process. */
export interface Purge {
  /**
   * Everything stored for a URL, all variants and spellings. `http://host/path?query`, absolute.
   * @throws TypeError for what is no http(s) URL.
   */
  url(url: string, options?: PurgeOptions): number
  /** Everything whose URL begins with this. It looks at every key: not for hot paths. */
  prefix(url: string, options?: PurgeOptions): number
  /** Everything with this tag in `Surrogate-Key` or `Cache-Tag`. */
  tag(tag: string, options?: PurgeOptions): number
  /** Everything. */
  all(options?: PurgeOptions): number
}

export class Purger implements Purge {
  /** Purges and invalidations so far. */
  count = 0
  readonly #level1: Level1
  readonly #flights: Flights
  readonly #rules: KeyRules
  readonly #now: () => number

  constructor(level1: Level1, flights: Flights, rules: KeyRules, now: () => number) {
    this.#level1 = level1
    this.#flights = flights
    this.#rules = rules
    this.#now = now
  }

  url(url: string, options: PurgeOptions = {}): number {
    return this.#key(this.#keyOfUrl(url), options)
  }

  prefix(url: string, options: PurgeOptions = {}): number {
    const parsed = parseUrl(url)
    // As it is written, but for the spelling of scheme and host.
    const prefix = keyOf(parsed.protocol.slice(0, -1), parsed.host, afterOrigin(url), null, this.#rules)
    this.count++
    for (const fetch of this.#flights.all()) if (fetch.place.key.startsWith(prefix)) fetch.doom()
    return this.#take(
      this.#level1.matching(key => key.startsWith(prefix)),
      options,
    )
  }

  tag(tag: string, options: PurgeOptions = {}): number {
    this.count++
    for (const fetch of this.#flights.all()) fetch.doomTag(tag)
    return this.#take(this.#level1.tagged(tag), options)
  }

  all(options: PurgeOptions = {}): number {
    this.count++
    for (const fetch of this.#flights.all()) fetch.doom()
    if (options.soft)
      return this.#take(
        this.#level1.matching(() => true),
        options,
      )
    const { entries } = this.#level1
    this.#level1.clear()
    return entries
  }

  /** A target on an origin, as invalidation finds it. */
  target(scheme: string, authority: string, target: string): void {
    const read = readTarget('GET', target)
    if (typeof read === 'string') return
    const query = target.includes('?') ? read.query : null
    this.#key(keyOf(scheme, authority, read.path, query, this.#rules), {})
  }

  #keyOfUrl(url: string): string {
    const parsed = parseUrl(url)
    const written = afterOrigin(url)
    const read = readTarget('GET', written === '' ? '/' : written)
    if (typeof read === 'string') throw new TypeError(`no URL that is served: ${read}`)
    const query = written.includes('?') ? read.query : null
    return keyOf(parsed.protocol.slice(0, -1), parsed.host, read.path, query, this.#rules)
  }

  #key(key: string, options: PurgeOptions): number {
    this.count++
    for (const fetch of this.#flights.under(key)) fetch.doom()
    return this.#take(this.#level1.under(key), options)
  }

  #take(entries: readonly Entry[], { soft = false }: PurgeOptions): number {
    const now = this.#now()
    for (const entry of entries) {
      if (!soft) this.#level1.remove(entry)
      else if (entry.purgedAt === 0) entry.purgedAt = now
    }
    return entries.length
  }
}

function parseUrl(url: string): URL {
  if (typeof url !== 'string' || !/^https?:\/\/[^/?#]/i.test(url) || !URL.canParse(url) || url.includes('#'))
    throw new TypeError('a purge names an absolute http or https URL, without a fragment')
  return new URL(url)
}

/** Path and query as they are written. */
function afterOrigin(url: string): string {
  return url.replace(/^https?:\/\/[^/?]*/i, '')
}
