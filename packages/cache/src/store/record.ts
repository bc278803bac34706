/** Entries as records of a second level, and back. */
import { HeaderList } from '@postern/core'
import { parseHttpDate } from '../policy/dates.ts'
import { saysShared } from '../policy/storable.ts'
import { responseDirectives } from '../policy/targeted.ts'
import type { CacheRecord } from './cache-store.ts'
import { type Entry, entryOf, keptOf } from './entry.ts'

/** The record of a whole entry. */
export function recordOf(entry: Entry): CacheRecord {
  const { key, selector, varyNames, varyKey, status, lifetime, initialAge, responseTime, tags, body } = entry
  return {
    key,
    selector,
    varyNames,
    varyKey,
    status,
    fields: entry.raw,
    lifetime,
    initialAge,
    responseTime,
    tags,
    body: body?.bytes ?? null,
  }
}

/** The entry of a record. */
export function entryOfRecord(
  record: CacheRecord,
  targets: readonly string[],
  tick: number,
  mostText: number,
): Entry {
  const headers = new HeaderList([...record.fields])
  const { directives: said } = responseDirectives(headers, targets)
  const date = parseHttpDate(headers.get('date') ?? '') ?? record.responseTime
  const validators = { etag: headers.get('etag'), lastModified: headers.get('last-modified'), date }
  const { lifetime, initialAge, responseTime, varyNames, varyKey } = record
  const facts = { said, lifetime, initialAge, responseTime, validators, varyNames, shared: saysShared(said) }
  return entryOf(record, headers.raw, keptOf(record.body, mostText), null, facts, tick, varyKey)
}
