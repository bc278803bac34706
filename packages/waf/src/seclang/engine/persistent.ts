/** Collections that outlive a request: `ip`, `global`, `session`, `user`, `resource`. In memory, bounded. */
import { Entry } from './form.ts'

const MAX_RECORDS = 10_000
const MAX_VARIABLES = 1000
const MAX_VALUE = 65_536

interface Stored {
  entry: Entry
  /** Time in ms after which it is gone. */
  until: number
}

/** One record: variables with their times of expiry. */
export class PersistentRecord {
  readonly #variables = new Map<string, Stored>()
  readonly #timeout: number

  constructor(timeout: number) {
    this.#timeout = timeout
  }

  get(key: string, now: number): Entry | undefined {
    const found = this.#variables.get(key)
    if (found === undefined || found.until > now) return found?.entry
    this.#variables.delete(key)
    return undefined
  }

  set(key: string, value: string, now: number): void {
    if (!this.#variables.has(key) && this.#variables.size >= MAX_VARIABLES) return
    const until = now + this.#timeout
    const entry = new Entry(key, value.length > MAX_VALUE ? value.slice(0, MAX_VALUE) : value)
    this.#variables.set(key, { entry, until })
  }

  delete(key: string): void {
    this.#variables.delete(key)
  }

  expire(key: string, until: number): void {
    const found = this.#variables.get(key)
    if (found) found.until = until
  }

  entries(now: number): Entry[] {
    return [...this.#variables.keys()].flatMap(key => this.get(key, now) ?? [])
  }
}

/** All records of one engine. The record that was not used for longest goes first. */
export class PersistentStore {
  readonly #records = new Map<string, PersistentRecord>()
  readonly #timeout: number

  /** @param timeout milliseconds that a variable lives after it was set. */
  constructor(timeout: number) {
    this.#timeout = timeout
  }

  record(collection: string, key: string): PersistentRecord {
    const name = `${collection}\0${key}`
    const found = this.#records.get(name) ?? new PersistentRecord(this.#timeout)
    this.#records.delete(name)
    this.#records.set(name, found)
    if (this.#records.size > MAX_RECORDS) this.#records.delete(this.#records.keys().next().value!)
    return found
  }
}
