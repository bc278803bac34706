/** The second level as the engine uses it: bounded in time, and never a reason to fail. */
import type { HeaderList } from '@postern/core'
import type { Place } from '../policy/key.ts'
import type { CacheStore, PurgeScope } from './cache-store.ts'
import { type Entry, fits } from './entry.ts'
import { entryOfRecord, recordOf } from './record.ts'

const LONGEST_KEY = 2048
/** Milliseconds between two warnings. */
const WARN_EVERY = 60_000

/** What was found. */
export interface Found {
  /** The newest that answers the request, fresh or not. */
  readonly entry: Entry | null
  /** For {@link Level2.write}; `null` when the store did not answer. */
  readonly generation: number | null
}

const NOTHING: Found = { entry: null, generation: null }

export class Level2 {
  readonly #store: CacheStore
  readonly #timeout: number
  readonly #targets: readonly string[]
  readonly #mostText: number
  #purging = 0
  #warned = -Infinity

  /** @param timeout milliseconds after which a look-up is given up; @param mostText bodies up to here are kept as text */
  constructor(store: CacheStore, timeout: number, targets: readonly string[], mostText: number) {
    this.#store = store
    this.#timeout = timeout
    this.#targets = targets
    this.#mostText = mostText
  }

  /** Looks a request up. While a purge is on its way, nothing is found. */
  async find(place: Place, request: HeaderList, tick: number): Promise<Found> {
    if (this.#purging > 0) return NOTHING
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>(resolve => {
      timer = setTimeout(resolve, this.#timeout, null)
    })
    try {
      const answer = await Promise.race([this.#store.read(place.key), late])
      if (answer === null || this.#purging > 0) return NOTHING
      let newest: Entry | null = null
      for (const record of answer.records) {
        if (newest !== null && record.responseTime <= newest.responseTime) continue
        const entry = entryOfRecord(record, this.#targets, tick, this.#mostText)
        if (fits(entry, place.selector, request)) newest = entry
      }
      return { entry: newest, generation: answer.generation }
    } catch (error) {
      this.#warn('read', error)
      return NOTHING
    } finally {
      clearTimeout(timer)
    }
  }

  /** Keeps a whole entry. Nobody waits for it. */
  write(entry: Entry, since: number | null): void {
    // Stores keep keys in memory; what is that long is no page that many ask for.
    if (since === null || entry.part !== null || entry.key.length > LONGEST_KEY) return
    this.#attempt('write', async () => this.#store.write(recordOf(entry), since))
  }

  /** Settles when the store has purged; rejects when it could not. */
  async purge(scope: PurgeScope): Promise<void> {
    this.#purging++
    try {
      await this.#store.purge(scope)
    } finally {
      this.#purging--
    }
  }

  /** The same where nobody waits. */
  forget(scope: PurgeScope): void {
    this.#attempt('purge', () => this.purge(scope))
  }

  #attempt(what: string, run: () => Promise<void>): void {
    run().catch(error => this.#warn(what, error))
  }

  #warn(what: string, error: unknown): void {
    const now = performance.now()
    if (now - this.#warned < WARN_EVERY) return
    this.#warned = now
    const text = error instanceof Error ? error.message : String(error)
    process.emitWarning(`the cache's second level failed to ${what}: ${text}`, 'PosternCacheWarning')
  }
}
