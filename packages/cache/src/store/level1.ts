/**
 * The first level: entries in this process's memory, bounded by bytes and by number.
 *
 * quick-lru holds the resources and bounds their number. Bytes are bounded here: the oldest resource goes, unless it was
 * used since it was last looked at; then it is put at the young end once more.
 */
import type { HeaderList } from '@postern/core'
import QuickLRU from 'quick-lru'
import { type Entry, fits } from './entry.ts'

/** All responses under one key, the newest last. Most keys have one: it stands for itself. */
type Resource = Entry | Entry[]

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
    const found = Array.isArray(resource)
      ? resource.findLast(entry => fits(entry, selector, request))
      : fits(resource, selector, request)
        ? resource
        : undefined
    if (found !== undefined) found.used = true
    return found
  }

  /** Some entry is stored under this key, though perhaps for other requests. */
  has(key: string): boolean {
    return this.#resources.has(key)
  }

  /** Stores an entry in the place of what answers the same requests; false when that is newer, or it is too large. */
  put(entry: Entry): boolean {
    if (entry.size > this.#bounds.maxBytes) return false
    const variants = this.#taken(entry.key)
    const at = variants.findIndex(other => sameRequests(other, entry))
    if (at !== -1 && variants[at]!.tick > entry.tick) return false
    if (at !== -1) this.#drop(variants, at)
    variants.push(entry)
    this.#count(entry, 1)
    if (variants.length > this.#bounds.maxVariants) this.#drop(variants, leastUsed(variants))
    for (const variant of variants) detach(variant)
    this.#insert(entry.key, variants)
    this.#shrink(entry)
    return true
  }

  /** Puts `next` in the place of `old`, if that is still there. */
  replace(old: Entry, next: Entry): boolean {
    const variants = this.#taken(old.key)
    const at = variants.indexOf(old)
    if (at === -1) return false
    variants[at] = next
    detach(old)
    this.#count(old, -1)
    this.#count(next, 1)
    this.#insert(old.key, variants)
    return true
  }

  remove(entry: Entry): boolean {
    const variants = this.#taken(entry.key)
    const at = variants.indexOf(entry)
    if (at === -1) return false
    this.#drop(variants, at)
    if (variants.length === 0) this.#resources.delete(entry.key)
    else this.#insert(entry.key, variants)
    return true
  }

  /** The newest entry under a key, whatever it answers. */
  newest(key: string): Entry | undefined {
    return variantsOf(this.#resources.peek(key)).at(-1)
  }

  /** All entries under a key, a copy. */
  under(key: string): Entry[] {
    return variantsOf(this.#resources.peek(key))
  }

  /** All entries with a tag, a copy. */
  tagged(tag: string): Entry[] {
    return [...(this.#tags.get(tag) ?? [])]
  }

  /** All entries whose key passes the test, a copy. Looks at every key. */
  matching(test: (key: string) => boolean): Entry[] {
    const found: Entry[] = []
    for (const [key, resource] of this.#resources) if (test(key)) found.push(...variantsOf(resource))
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
    for (const [, resource] of this.#resources) for (const entry of variantsOf(resource)) detach(entry)
    this.#resources.clear()
    this.#tags.clear()
    this.#cursor = null
    this.#bytes = 0
    this.#entries = 0
  }

  /** Down to the bounds; `newest` stays. */
  #shrink(newest: Entry | null = null): void {
    const { maxBytes, maxEntries } = this.#bounds
    while ((this.bytes > maxBytes || this.#entries > maxEntries) && this.#entries > 0) {
      if (!this.#evictOne(newest)) return
    }
  }

  /** False when nothing is left but what is new. */
  #evictOne(newest: Entry | null): boolean {
    const [key, resource] = this.#oldest()
    const variants = variantsOf(resource)
    const isNewest = newest !== null && key === newest.key
    this.#resources.delete(key)
    if (!isNewest && !variants.some(entry => entry.used)) {
      this.#forget(variants)
      return true
    }
    for (const entry of variants) entry.used = false
    const rest = this.#entries > variants.length
    // Alone, and still too much: its variants go, the oldest first.
    if (isNewest && !rest && variants.length > 1) {
      this.#drop(variants, 0)
      this.#insert(key, variants)
      return true
    }
    this.#insert(key, variants)
    return !isNewest || rest
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

  /** All entries under a key, to be put back. Asked of quick-lru as a use, so that no generation keeps an older list. */
  #taken(key: string): Entry[] {
    const variants = variantsOf(this.#resources.get(key))
    this.#revive()
    return variants
  }

  #insert(key: string, variants: Entry[]): void {
    const [only] = variants
    const alone = variants.length === 1
    for (const entry of variants) entry.alone = alone
    this.#resources.set(key, alone ? only! : variants)
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
    const variants = variantsOf(resource)
    if (!variants.some(entry => entry.used)) return this.#forget(variants)
    for (const entry of variants) entry.used = false
    this.#survivors.push([key, resource])
  }

  #drop(variants: Entry[], at: number): void {
    const [entry] = variants.splice(at, 1)
    detach(entry!)
    this.#count(entry!, -1)
  }

  #forget(variants: readonly Entry[]): void {
    for (const entry of variants) {
      detach(entry)
      this.#count(entry, -1)
    }
  }

  #count(entry: Entry, sign: 1 | -1): void {
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

/** All entries of a resource, a copy. */
function variantsOf(resource: Resource | undefined): Entry[] {
  if (resource === undefined) return []
  return Array.isArray(resource) ? [...resource] : [resource]
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
