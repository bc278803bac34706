/** Which purges came when: so that no write that was begun before one brings back what it took. Bounded. */
import { type CacheRecord, isCovered, type PurgeScope } from './cache-store.ts'

/** Purges that are remembered. A write that is older than all of them is not kept. */
const REMEMBERED = 1024

export class Generations {
  #current = 0
  readonly #purges: { readonly generation: number; readonly scope: PurgeScope }[] = []

  get current(): number {
    return this.#current
  }

  add(scope: PurgeScope): void {
    this.#purges.push({ generation: ++this.#current, scope })
    if (this.#purges.length > REMEMBERED) this.#purges.shift()
  }

  /** True when a record that was begun in generation `since` may be kept now. */
  allows(record: Pick<CacheRecord, 'key' | 'tags'>, since: number): boolean {
    if (since === this.#current) return true
    if (since < this.#current - this.#purges.length) return false
    return !this.#purges.some(({ generation, scope }) => generation > since && isCovered(scope, record))
  }
}
