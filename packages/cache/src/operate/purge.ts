/** Takes stored responses away, or marks them as stale, and sees to it that nothing on its way brings them back. */
import { readTarget } from '@postern/core'
import type { Flights } from '../exchange/flights.ts'
import { type KeyRules, keyOf } from '../policy/key.ts'
import type { PurgeScope } from '../store/cache-store.ts'
import type { Entry } from '../store/entry.ts'
import type { Level1 } from '../store/level1.ts'
import type { Level2 } from '../store/level2.ts'

/** How to purge. */
export interface PurgeOptions {
  /**
   * Mark as stale instead of removing: the next request asks the origin, with the validators that are stored, and
   * `stale-if-error` and `stale-while-revalidate` still count. Default false.
   */
  soft?: boolean
}

/**
 * Purges of one cache. Each takes effect before it returns, in this process and for all that is on its way; the promise gives
 * the number of stored responses that it reached here, once the second level has purged too, and rejects if that could not.
 */
export interface Purge {
  /**
   * Everything stored for a URL, all variants and spellings. `http://host/path?query`, absolute.
   * Rejects with a TypeError for what is no http(s) URL.
   */
  url(url: string, options?: PurgeOptions): Promise<number>
  /** Everything whose URL begins with this. It looks at every key: not for hot paths. */
  prefix(url: string, options?: PurgeOptions): Promise<number>
  /** Everything with this tag in `Surrogate-Key` or `Cache-Tag`. */
  tag(tag: string, options?: PurgeOptions): Promise<number>
  /** Everything. */
  all(options?: PurgeOptions): Promise<number>
}

export class Purger implements Purge {
  /** Purges and invalidations so far. */
  count = 0
  readonly #level1: Level1
  readonly #level2: Level2 | null
  readonly #flights: Flights
  readonly #rules: KeyRules
  readonly #now: () => number

  constructor(level1: Level1, level2: Level2 | null, flights: Flights, rules: KeyRules, now: () => number) {
    this.#level1 = level1
    this.#level2 = level2
    this.#flights = flights
    this.#rules = rules
    this.#now = now
  }

  async url(url: string, options: PurgeOptions = {}): Promise<number> {
    const key = this.#keyOfUrl(url)
    return this.#both(this.#key(key, options), { kind: 'key', key })
  }

  async prefix(url: string, options: PurgeOptions = {}): Promise<number> {
    const parsed = parseUrl(url)
    // As it is written, but for the spelling of scheme and host.
    const prefix = keyOf(parsed.protocol.slice(0, -1), parsed.host, afterOrigin(url), null, this.#rules)
    this.count++
    for (const fetch of this.#flights.all()) if (fetch.place.key.startsWith(prefix)) fetch.doom()
    const entries = this.#level1.matching(key => key.startsWith(prefix))
    return this.#both(this.#take(entries, options), { kind: 'prefix', prefix })
  }

  async tag(tag: string, options: PurgeOptions = {}): Promise<number> {
    this.count++
    for (const fetch of this.#flights.all()) fetch.doomTag(tag)
    return this.#both(this.#take(this.#level1.tagged(tag), options), { kind: 'tag', tag })
  }

  async all(options: PurgeOptions = {}): Promise<number> {
    this.count++
    for (const fetch of this.#flights.all()) fetch.doom()
    let { entries } = this.#level1
    if (options.soft) entries = this.#take(this.#level1.matching(all), options)
    else this.#level1.clear()
    return this.#both(entries, { kind: 'all' })
  }

  /** A target on an origin, as invalidation finds it. */
  target(scheme: string, authority: string, target: string): void {
    const read = readTarget('GET', target)
    if (typeof read === 'string') return
    const query = target.includes('?') ? read.query : null
    const key = keyOf(scheme, authority, read.path, query, this.#rules)
    this.#key(key, {})
    this.#level2?.forget({ kind: 'key', key })
  }

  async #both(reached: number, scope: PurgeScope): Promise<number> {
    await this.#level2?.purge(scope)
    return reached
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

const all = (): boolean => true
