/** The fetches that are under way, by key: who can join one, and which must not be stored any more. */
import type { HeaderList } from '@postern/core'
import type { Place } from '../policy/key.ts'
import type { Question } from '../policy/request.ts'
import { varyKey } from '../policy/vary.ts'
import type { Fetch } from './fetch.ts'

export class Flights {
  readonly #byKey = new Map<string, Set<Fetch>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(fetch: Fetch): void {
    const { key } = fetch.place
    const set = this.#byKey.get(key)
    if (set) set.add(fetch)
    else this.#byKey.set(key, new Set([fetch]))
    this.#size++
  }

  remove(fetch: Fetch): void {
    const set = this.#byKey.get(fetch.place.key)
    if (!set?.delete(fetch)) return
    this.#size--
    if (set.size === 0) this.#byKey.delete(fetch.place.key)
  }

  /** A fetch whose answer this request can have. `known`: names that the resource is known to vary by. */
  find(place: Place, question: Question, request: HeaderList, known: readonly string[]): Fetch | undefined {
    const set = this.#byKey.get(place.key)
    if (set === undefined) return undefined
    let names = known
    for (const fetch of set) if (fetch.varyNames !== null) names = fetch.varyNames
    const values = varyKey(names, request)
    for (const fetch of set) {
      if (fetch.takes(place, question) && varyKey(names, fetch.request) === values) return fetch
    }
    return undefined
  }

  under(key: string): readonly Fetch[] {
    return [...(this.#byKey.get(key) ?? [])]
  }

  *all(): Generator<Fetch> {
    for (const set of this.#byKey.values()) yield* set
  }
}
