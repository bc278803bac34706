/** The collection `TX` of one transaction, in the order in which its variables were made. */
import { Entry } from './form.ts'

/** Variables that rules may make in one transaction, and bytes of each. */
const MAX_VARIABLES = 5000
const MAX_VALUE = 65_536

/** Something that was done to the collection. */
export interface Change {
  readonly key: string
  /** The variable as it is now; `null` when it was removed. */
  readonly entry: Entry | null
}

export class TxVariables {
  #entries: Map<string, Entry>

  constructor(entries: Map<string, Entry> = new Map()) {
    this.#entries = entries
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key)
  }

  /** All of them. */
  entries(): Iterable<Entry> {
    return this.#entries.values()
  }

  /** Sets one, cut to 64 KB. Does nothing when there would be too many. */
  set(key: string, value: string): void {
    this.#put(key, new Entry(key, value.length > MAX_VALUE ? value.slice(0, MAX_VALUE) : value))
  }

  remove(key: string): void {
    this.#entries.delete(key)
  }

  /** Does what was done elsewhere. */
  replay(changes: readonly Change[]): void {
    for (let i = 0; i < changes.length; i++) {
      const { key, entry } = changes[i]!
      if (entry === null) this.#entries.delete(key)
      else this.#put(key, entry)
    }
  }

  copy(): TxVariables {
    return new TxVariables(new Map(this.#entries))
  }

  #put(key: string, entry: Entry): void {
    if (this.#entries.size >= MAX_VARIABLES && !this.#entries.has(key)) return
    this.#entries.set(key, entry)
  }
}
