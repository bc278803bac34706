/** A map that is bounded by bytes and by number. The oldest goes, unless it was used since it was last looked at. */

/** What lies on a shelf. */
export interface Item {
  readonly bytes: number
  used: boolean
}

export class Shelf<T extends Item> {
  readonly #items = new Map<string, T>()
  readonly #maxBytes: number
  readonly #maxItems: number
  readonly #evicted: (id: string, item: T) => void
  #cursor: Iterator<[string, T]> | null = null
  #bytes = 0

  constructor(maxBytes: number, maxItems: number, evicted: (id: string, item: T) => void) {
    this.#maxBytes = maxBytes
    this.#maxItems = maxItems
    this.#evicted = evicted
  }

  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#items.size
  }

  /** Looks without counting it as a use. */
  peek(id: string): T | undefined {
    return this.#items.get(id)
  }

  /** False when it is larger than all there is. */
  set(id: string, item: T): boolean {
    this.delete(id)
    if (item.bytes > this.#maxBytes) return false
    this.#items.set(id, item)
    this.#bytes += item.bytes
    while (this.#bytes > this.#maxBytes || this.#items.size > this.#maxItems) this.#evict(item)
    return true
  }

  delete(id: string): T | undefined {
    const item = this.#items.get(id)
    if (item === undefined) return undefined
    this.#items.delete(id)
    this.#bytes -= item.bytes
    return item
  }

  entries(): IterableIterator<[string, T]> {
    return this.#items.entries()
  }

  #evict(newest: T): void {
    // An iterator that goes on passes each hole once.
    this.#cursor ??= this.#items.entries()
    const { value, done } = this.#cursor.next()
    if (done) {
      this.#cursor = null
      return
    }
    const [id, item] = value
    this.delete(id)
    if (item.used || item === newest) {
      item.used = false
      this.#items.set(id, item)
      this.#bytes += item.bytes
    } else this.#evicted(id, item)
  }
}
