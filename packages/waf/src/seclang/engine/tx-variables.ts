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

const NONE: ReadonlySet<string> = new Set()

export class TxVariables {
  readonly #entries: Map<string, Entry>
  readonly #watched: ReadonlySet<string>
  /** Whether all watched variables are what the plan expects at this place. */
  asPlanned = true

  /** @param watched variables on whose values the plan rests. */
  constructor(watched: ReadonlySet<string> = NONE, entries: Map<string, Entry> = new Map()) {
    this.#watched = watched
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
    if (this.asPlanned && this.#watched.has(key)) this.asPlanned = false
    this.#put(key, new Entry(key, value.length > MAX_VALUE ? value.slice(0, MAX_VALUE) : value))
  }

  remove(key: string): void {
    if (this.#watched.has(key)) this.asPlanned = false
    this.#entries.delete(key)
  }

  /** Does what a block of the plan does. */
  replay(changes: readonly Change[]): void {
    for (let i = 0; i < changes.length; i++) {
      const { key, entry } = changes[i]!
      if (entry === null) this.#entries.delete(key)
      else this.#put(key, entry)
    }
  }

  copy(): TxVariables {
    return new TxVariables(this.#watched, new Map(this.#entries))
  }

  #put(key: string, entry: Entry): void {
    if (this.#entries.size >= MAX_VARIABLES && !this.#entries.has(key)) {
      this.asPlanned = false
      return
    }
    this.#entries.set(key, entry)
  }
}
