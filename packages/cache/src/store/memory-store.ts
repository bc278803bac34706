/** A second level in memory: shared by caches of one process, and the plainest example of a store. */
import { Check } from '../options.ts'
import {
  type CacheRecord,
  type CacheStore,
  isCovered,
  type PurgeScope,
  recordId,
  type StoreAnswer,
} from './cache-store.ts'
import { Generations } from './generations.ts'
import { type Item, Shelf } from './shelf.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Bytes, bodies and fields together; default 268 435 456 (256 MiB). */
  maxBytes?: number
  /** Records; default 100 000. */
  maxEntries?: number
}

interface Kept extends Item {
  readonly record: CacheRecord
}

/**
 * A store in this process's memory.
 * @throws ConfigError for options that cannot work.
 */
export function memoryStore(options: MemoryStoreOptions = {}): CacheStore {
  const check = new Check('memoryStore')
  check.names('', options, ['maxBytes', 'maxEntries'])
  const maxBytes = check.whole('maxBytes', options.maxBytes ?? 268_435_456, 65_536, 2 ** 40)
  const maxEntries = check.whole('maxEntries', options.maxEntries ?? 100_000, 1, 16_000_000)
  check.done()
  const generations = new Generations()
  const keys = new Map<string, Set<string>>()
  const shelf = new Shelf<Kept>(maxBytes, maxEntries, (id, { record }) => forget(record.key, id))

  function forget(key: string, id: string): void {
    const ids = keys.get(key)
    if (ids?.delete(id) && ids.size === 0) keys.delete(key)
  }

  return {
    read(key): StoreAnswer {
      const records: CacheRecord[] = []
      for (const id of keys.get(key) ?? []) {
        const kept = shelf.peek(id)!
        kept.used = true
        records.push(kept.record)
      }
      return { records, generation: generations.current }
    },
    write(record, since) {
      const id = recordId(record)
      const old = shelf.peek(id)
      if (!generations.allows(record, since) || (old && old.record.responseTime > record.responseTime)) return
      if (!shelf.set(id, { record, bytes: bytesOf(record), used: false })) return forget(record.key, id)
      const ids = keys.get(record.key)
      if (ids) ids.add(id)
      else keys.set(record.key, new Set([id]))
    },
    purge(scope: PurgeScope) {
      generations.add(scope)
      const ids = scope.kind === 'key' ? [...(keys.get(scope.key) ?? [])] : covered(scope)
      for (const id of ids) {
        const kept = shelf.delete(id)
        if (kept) forget(kept.record.key, id)
      }
    },
    close() {},
  }

  function covered(scope: PurgeScope): string[] {
    return [...shelf.entries()].filter(([, { record }]) => isCovered(scope, record)).map(([id]) => id)
  }
}

/** What a record costs, roughly. */
export function bytesOf({ key, selector, varyKey, fields, body }: CacheRecord): number {
  let bytes = 1000 + key.length + selector.length + varyKey.length + (body?.length ?? 0)
  for (const text of fields) bytes += 24 + text.length
  return bytes
}
