/** The second level: where stored responses live beyond one process's memory. */
import type { Awaitable } from '@postern/core'

/** A stored response as plain data. Times in milliseconds since 1970, durations in milliseconds. */
export interface CacheRecord {
  /** Canonical URL. */
  readonly key: string
  /** What sets requests for this URL apart: spelling of the target, keyed fields and cookies. */
  readonly selector: string
  /** Names that the response varies by, lower case, and the request's values of them. */
  readonly varyNames: readonly string[]
  readonly varyKey: string
  readonly status: number
  /** `[name, value, …]`; one character a byte. */
  readonly fields: readonly string[]
  readonly lifetime: number
  readonly initialAge: number
  readonly responseTime: number
  readonly tags: readonly string[]
  readonly body: Uint8Array | null
}

/** What a purge takes away. */
export type PurgeScope =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'prefix'; readonly prefix: string }
  | { readonly kind: 'tag'; readonly tag: string }
  | { readonly kind: 'all' }

/** What {@link CacheStore.read} found. */
export interface StoreAnswer {
  /** All records under the key, in any order. Nobody edits them. */
  readonly records: readonly CacheRecord[]
  /** The store's generation when it looked: for {@link CacheStore.write}. */
  readonly generation: number
}

/**
 * A store. Any implementation has to pass the cases of `@postern/cache/testing`.
 *
 * It may forget whatever it likes. It must never give what was purged, nor anything else than was written: a record that is
 * damaged is one that is not there.
 */
export interface CacheStore {
  /** Looks a key up. */
  read(key: string): Awaitable<StoreAnswer>
  /**
   * Keeps a record in the place of the one with the same key, selector, names and values, unless that has a later
   * `responseTime`. `since` is the generation that was read before the origin was asked: a record that a purge after
   * it covers is not kept. Settles when the record can be read.
   */
  write(record: CacheRecord, since: number): Awaitable<void>
  /** Takes records away for good, and begins a new generation. From the call on, none of them is given. */
  purge(scope: PurgeScope): Awaitable<void>
  /** Ends. What is being written may be lost. */
  close(): Awaitable<void>
}

/** The same for two records of which one replaces the other. */
export function recordId({ key, selector, varyNames, varyKey }: CacheRecord): string {
  return JSON.stringify([key, selector, varyNames, varyKey])
}

/** True when a purge reaches a record. */
export function isCovered(scope: PurgeScope, { key, tags }: Pick<CacheRecord, 'key' | 'tags'>): boolean {
  switch (scope.kind) {
    case 'key':
      return key === scope.key
    case 'prefix':
      return key.startsWith(scope.prefix)
    case 'tag':
      return tags.includes(scope.tag)
    case 'all':
      return true
  }
}
