/**
 * The first level: entries in this process's memory, bounded by bytes and by number.
 *
 * quick-lru holds the resources and bounds their number. Bytes are bounded here: the oldest resource goes, unless it was
 * used since it was last looked at; then it is put at the young end once more.
 */
import type { HeaderList } from '@postern/core'
import QuickLRU from 'quick-lru'
import { type Entry, fits } from './entry.ts'

/** All responses under one key. */
interface Resource {
  readonly variants: Entry[]
  bytes: number
}

/** Bounds of a {@link Level1}. */
export interface Level1Bounds {
  readonly maxBytes: number
  readonly maxEntries: number
  /** Responses under one key. */
  readonly maxVariants: number
}

/** What a purge takes away. */
export type Purged = (entry: Entry) => boolean

export class Level1 {
  readonly #bounds: Level1Bounds
  readonly #resources: QuickLRU<string, Resource>
  readonly #tags = new Map<string, Set<Entry>>()
  /** Eviction goes on where it stopped: a new iterator would pass all the holes again. */
  #cursor: Iterator<[string, Resource]> | null = null
  /** Let go by quick-lru, but in use. */
  #survivors: [string, Resource][] = []
  #bytes = 0
  #entries = 0
  /** Bytes of bodies that are still being read. */
  #pending = 0

  constructor(bounds: Level1Bounds) {
    this.#bounds = bounds
    // quick-lru holds up to twice its size: a young and an old generation.
    this.#resources = new QuickLRU({
      maxSize: Math.max(1, Math.floor(bounds.maxEntries / 2)),
      onEviction: (key, resource) => this.#rotatedOut(key, resource),
    })
  }

  get bytes(): number {
    return this.#bytes + this.#pending
  }

  get entries(): number {
    return this.#entries
  }

  /** The newest entry that answers this request, whatever its age. */
  find(key: string, selector: string, request: HeaderList): Entry | undefined {
    const resource = this.#resources.get(key)
    if (this.#survivors.length > 0) this.#revive()
    if (resource === undefined) return undefined
    const { variants } = resource
    // Newest first.
    for (let i = variants.length - 1; i >= 0; i--) {
      const entry = variants[i]!
      if (fits(entry, selector, request)) {
        entry.used = true
        return entry
      }
    }
    return undefined
  }

  /** Some entry is stored under this key, though perhaps for other requests. */
  has(key: string): boolean {
    return this.#resources.has(key)
  }

  /** Stores an entry in the place of what answers the same requests; false when that is newer, or it is too large. */
  put(entry: Entry): boolean {
    if (entry.size > this.#bounds.maxBytes) return false
    const found = this.#resources.get(entry.key)
    this.#revive()
    const variants = found?.variants ?? []
    const at = variants.findIndex(other => sameRequests(other, entry))
    if (at !== -1 && variants[at]!.tick > entry.tick) return false
    const resource = found ?? { variants, bytes: 0 }
    if (at !== -1) this.#drop(resource, at)
    variants.push(entry)
    this.#count(resource, entry, 1)
    if (variants.length > this.#bounds.maxVariants) this.#drop(resource, leastUsed(variants))
    for (const variant of variants) detach(variant)
    entry.alone = variants.length === 1
    if (!found) this.#insert(entry.key, resource)
    this.#shrink(resource)
    return true
  }

  /** Puts `next` in the place of `old`, if that is still there. */
  replace(old: Entry, next: Entry): boolean {
    const resource = this.#resources.peek(old.key)
    const at = resource?.variants.indexOf(old) ?? -1
    if (!resource || at === -1) return false
    resource.variants[at] = next
    next.alone = old.alone
    detach(old)
    this.#count(resource, old, -1)
    this.#count(resource, next, 1)
    return true
  }

  remove(entry: Entry): boolean {
    const resource = this.#resources.peek(entry.key)
    const at = resource?.variants.indexOf(entry) ?? -1
    if (!resource || at === -1) return false
    this.#drop(resource, at)
    if (resource.variants.length === 0) this.#resources.delete(entry.key)
    return true
  }

  /** The newest entry under a key, whatever it answers. */
  newest(key: string): Entry | undefined {
    return this.#resources.peek(key)?.variants.at(-1)
  }

  /** All entries under a key, a copy. */
  under(key: string): Entry[] {
    return [...(this.#resources.peek(key)?.variants ?? [])]
  }

  /** All entries with a tag, a copy. */
  tagged(tag: string): Entry[] {
    return [...(this.#tags.get(tag) ?? [])]
  }

  /** All entries whose key passes the test, a copy. Looks at every key. */
  matching(test: (key: string) => boolean): Entry[] {
    const found: Entry[] = []
    for (const [key, resource] of this.#resources) if (test(key)) found.push(...resource.variants)
    return found
  }

  /** Makes room for bytes that are being read. False: there is none, do not keep them. */
  reserve(bytes: number): boolean {
    if (this.#pending + bytes > this.#bounds.maxBytes / 2) return false
    this.#pending += bytes
    this.#shrink()
    return true
  }

  release(bytes: number): void {
    this.#pending -= bytes
  }

  clear(): void {
    for (const [, resource] of this.#resources) for (const entry of resource.variants) detach(entry)
    this.#resources.clear()
    this.#tags.clear()
    this.#cursor = null
    this.#bytes = 0
    this.#entries = 0
  }

  /** Down to the bounds; `newest` stays. */
  #shrink(newest: Resource | null = null): void {
    const { maxBytes, maxEntries } = this.#bounds
    while ((this.bytes > maxBytes || this.#entries > maxEntries) && this.#entries > 0) {
      if (!this.#evictOne(newest)) return
    }
  }

  /** False when nothing is left but what is new. */
  #evictOne(newest: Resource | null): boolean {
    const [key, resource] = this.#oldest()
    this.#resources.delete(key)
    if (resource !== newest && !resource.variants.some(entry => entry.used)) {
      this.#forget(resource)
      return true
    }
    for (const entry of resource.variants) entry.used = false
    this.#insert(key, resource)
    if (resource !== newest || this.#entries > resource.variants.length) return true
    // Alone, and still too much: its variants go, the oldest first.
    if (resource.variants.length === 1) return false
    this.#drop(resource, 0)
    return true
  }

  #oldest(): [string, Resource] {
    for (;;) {
      this.#cursor ??= this.#resources.entriesAscending()
      const { value, done } = this.#cursor.next()
      if (done) {
        this.#cursor = null
        continue
      }
      // The cursor may still walk a generation that quick-lru has let go.
      if (this.#resources.peek(value[0]) === value[1]) return value
      this.#cursor = null
    }
  }

  #insert(key: string, resource: Resource): void {
    this.#resources.set(key, resource)
    this.#revive()
  }

  /** Puts back what was let go though in use. A look-up can have that effect, too. */
  #revive(): void {
    while (this.#survivors.length > 0) {
      const [key, resource] = this.#survivors.pop()!
      this.#resources.set(key, resource)
    }
  }

  /** quick-lru lets a whole generation go. What was used without asking it stays, once. */
  #rotatedOut(key: string, resource: Resource): void {
    if (!resource.variants.some(entry => entry.used)) return this.#forget(resource)
    for (const entry of resource.variants) entry.used = false
    this.#survivors.push([key, resource])
  }

  #drop(resource: Resource, at: number): void {
    const [entry] = resource.variants.splice(at, 1)
    detach(entry!)
    this.#count(resource, entry!, -1)
  }

  #forget(resource: Resource): void {
    for (const entry of resource.variants) {
      detach(entry)
      this.#count(resource, entry, -1)
    }
    resource.variants.length = 0
  }

  #count(resource: Resource, entry: Entry, sign: 1 | -1): void {
    resource.bytes += sign * entry.size
    this.#bytes += sign * entry.size
    this.#entries += sign
    for (const tag of entry.tags) {
      const tagged = this.#tags.get(tag)
      if (sign === 1) {
        if (tagged) tagged.add(entry)
        else this.#tags.set(tag, new Set([entry]))
      } else if (tagged?.delete(entry) && tagged.size === 0) this.#tags.delete(tag)
    }
  }
}

/** No shortcut leads to it any more. */
function detach(entry: Entry): void {
  entry.alone = false
  if (entry.slot) entry.slot.entry = null
  entry.slot = null
}

function sameRequests(a: Entry, b: Entry): boolean {
  return a.selector === b.selector && a.varyKey === b.varyKey && a.varyNames.join() === b.varyNames.join()
}

/** The place of the oldest that is not in use, the newest excepted. */
function leastUsed(variants: readonly Entry[]): number {
  const at = variants.slice(0, -1).findIndex(entry => !entry.used)
  for (const entry of variants) entry.used = false
  return Math.max(at, 0)
}
