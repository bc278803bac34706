/** A stored response. */
import { HeaderList, KeptBody } from '@postern/core'
import type { Validators } from '../policy/conditional.ts'
import type { Directives } from '../policy/directives.ts'
import type { Judgement } from '../policy/judge.ts'
import { combineParts, contentRange, lengthOf, type Part } from '../policy/range.ts'
import { storedFields } from '../policy/update.ts'
import { varyKey } from '../policy/vary.ts'
import { shared } from './shared-text.ts'
import type { Slot } from './shortcut.ts'

/**
 * A response as it is stored. Never edited, but for the marks at the end. Times in milliseconds.
 *
 * There may be a million of them: it is one flat object, and nothing in it is a string or an array that another entry has, too.
 */
export interface Entry extends Validators {
  readonly key: string
  readonly selector: string
  readonly varyNames: readonly string[]
  /** Values of those names in the request that it answers. */
  readonly varyKey: string
  readonly status: number
  /** `[name, value, …]`. */
  readonly raw: readonly string[]
  /** Shared by all who read it; `null` for a response without a body. */
  readonly body: KeptBody | null
  /** Which bytes `body` is, of a 206. */
  readonly part: Part | null
  readonly said: Directives
  readonly lifetime: number
  readonly initialAge: number
  readonly responseTime: number
  readonly shared: boolean
  readonly tags: readonly string[]
  /** What it costs in memory, bytes. */
  readonly size: number
  /** When its fetch began, on the cache's own clock of events: a slower, older one never replaces a newer. */
  readonly tick: number
  /** Time of a soft purge; stale from then on. 0 for none. */
  purgedAt: number
  /** Used since the eviction last looked. */
  used: boolean
  /** It is the only one under its key. Kept by the store, like `slot`. */
  alone: boolean
  slot: Slot | null
}

/** What an entry is made of. */
export interface EntryParts {
  readonly key: string
  readonly selector: string
  readonly request: HeaderList
  readonly status: number
  readonly headers: HeaderList
  readonly body: Uint8Array | null
  readonly part: Part | null
  readonly judgement: Judgement
  readonly tick: number
  /** Bodies up to this length are kept as text. */
  readonly mostText: number
}

/** Most tags that are read from one response. */
export const MOST_TAGS = 64

const TAG_FIELDS = ['surrogate-key', 'cache-tag']

/** Makes an entry. */
export function makeEntry(parts: EntryParts): Entry {
  const { headers, judgement, body, part } = parts
  const raw = storedFields(headers, judgement.said.withheld)
  if (!headers.has('date')) raw.push('Date', new Date(judgement.responseTime).toUTCString())
  if (body !== null && part === null && !headers.has('content-length'))
    raw.push('Content-Length', String(body.length))
  const values = varyKey(judgement.varyNames, parts.request)
  return entryOf(parts, raw, keptOf(body, parts.mostText), part, judgement, parts.tick, values)
}

/** The same body under a newer head. `request` is the one that was answered. */
export function renewedEntry(
  old: Entry,
  raw: readonly string[],
  judgement: Judgement,
  request: HeaderList,
  tick: number,
): Entry {
  const values = varyKey(judgement.varyNames, request)
  return entryOf(old, raw, old.body, old.part, judgement, tick, values)
}

/** Two parts of one representation as one entry, whole if nothing is missing; `null` when they do not fit. */
export function joinedEntry(older: Entry, newer: Entry): Entry | null {
  const [a, b] = [older, newer].map(entry => ({
    part: entry.part!,
    body: entry.body!.bytes,
    etag: entry.etag,
  }))
  const both = combineParts(a!, b!)
  if (both === null) return null
  const { part, body } = both
  const headers = new HeaderList(newer.raw.slice())
  const whole = lengthOf(part) === part.total
  if (whole) headers.delete('content-range')
  else headers.set('Content-Range', contentRange(part))
  headers.set('Content-Length', String(body.length))
  const size = newer.size - newer.body!.length + body.length
  return {
    ...newer,
    status: whole ? 200 : 206,
    raw: headers.raw,
    body: new KeptBody(body),
    part: whole ? null : part,
    size,
    alone: false,
    slot: null,
  }
}

/** Puts an entry together. */
export function entryOf(
  of: { readonly key: string; readonly selector: string; readonly status: number },
  fields: readonly string[],
  body: KeptBody | null,
  part: Part | null,
  judgement: Omit<Judgement, 'notStored' | 'fresh'>,
  tick: number,
  values: string,
): Entry {
  const raw = fields.map(shared)
  const tags = tagsOf(new HeaderList(raw))
  const { etag, lastModified, date } = judgement.validators
  return {
    // What a hit looks at stands together: each line of the processor's cache that it does not touch is time saved.
    purgedAt: 0,
    said: judgement.said,
    lifetime: judgement.lifetime,
    initialAge: judgement.initialAge,
    responseTime: judgement.responseTime,
    part,
    status: of.status,
    raw,
    body,
    slot: null,
    used: false,
    alone: false,
    shared: judgement.shared,
    selector: of.selector,
    varyNames: judgement.varyNames,
    varyKey: values,
    key: of.key,
    etag,
    lastModified,
    date,
    tags,
    size: sizeOf(of.key.length + of.selector.length + values.length, raw, body, tags),
    tick,
  }
}

/** Tags of `Surrogate-Key` (separated by spaces) and `Cache-Tag` (by commas). */
export function tagsOf(headers: HeaderList): string[] {
  const tags = new Set<string>()
  for (const name of TAG_FIELDS) {
    for (const line of headers.all(name)) {
      for (const tag of line.split(/[\s,]+/)) if (tag !== '' && tags.size < MOST_TAGS) tags.add(tag)
    }
  }
  return tags.size === 0 ? NO_TAGS : [...tags]
}

const NO_TAGS: string[] = []

/** A body as it is kept: small ones as text, which is lighter than a buffer. */
export function keptOf(body: Uint8Array | null, mostText: number): KeptBody | null {
  if (body === null) return null
  return new KeptBody(body.length <= mostText ? Buffer.from(body).toString('latin1') : body)
}

// Measured on Node 20: entry, directives, arrays, slots of maps, and the objects around a buffer.
const ENTRY_BYTES = 850
const BUFFER_BYTES = 400
const STRING_BYTES = 24
/** Longer bodies than this may be buffers. */
const TEXT_ALWAYS = 1024

function sizeOf(
  names: number,
  raw: readonly string[],
  body: KeptBody | null,
  tags: readonly string[],
): number {
  let size = ENTRY_BYTES + names
  if (body !== null) size += body.length + (body.length > TEXT_ALWAYS ? BUFFER_BYTES : 0)
  // Names are shared between entries, values often are not.
  for (let i = 1; i < raw.length; i += 2) size += STRING_BYTES + raw[i]!.length
  for (const tag of tags) size += 160 + tag.length
  return size
}

/** Age in milliseconds. */
export function ageOf(entry: Entry, now: number): number {
  return entry.initialAge + Math.max(0, now - entry.responseTime)
}

/** Milliseconds for which it has been stale; 0 or less while it is fresh. */
export function stalenessOf(entry: Entry, now: number): number {
  const expired = ageOf(entry, now) - entry.lifetime
  // A lifetime that is just over is over: fresh means lifetime > age.
  const stale = expired === 0 ? 1 : expired
  return entry.purgedAt === 0 ? stale : Math.max(stale, now - entry.purgedAt, 1)
}

/** True when it may be used without asking. */
export function isFresh(entry: Entry, now: number): boolean {
  return entry.purgedAt === 0 && !entry.said.noCache && entry.lifetime > ageOf(entry, now)
}

/** True when it answers a request with this selector and these fields. */
export function fits(entry: Entry, selector: string, request: HeaderList): boolean {
  return (
    entry.selector === selector &&
    (entry.varyNames.length === 0 || varyKey(entry.varyNames, request) === entry.varyKey)
  )
}
