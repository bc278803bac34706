/** Takes a body in and stores it when it is whole. */
import type { HeaderList } from '@postern/core'
import type { Judgement } from '../policy/judge.ts'
import type { Place } from '../policy/key.ts'
import { lengthOf, type Part } from '../policy/range.ts'
import { makeEntry } from '../store/entry.ts'
import type { Engine } from './engine.ts'
import type { BodyOwner } from './shared-body.ts'

/** What is to be stored. */
export interface Cargo {
  readonly place: Place
  /** Fields of the request that is answered. */
  readonly request: HeaderList
  readonly status: number
  readonly headers: HeaderList
  readonly part: Part | null
  readonly judgement: Judgement
  readonly tick: number
  /** Generation of the second level before the origin was asked. */
  readonly since: number | null
  /** Carry on when no reader is left. */
  readonly background: boolean
  /** Something was purged that it belongs to: it must not be stored. */
  isDoomed(tags: readonly string[]): boolean
  /** It is stored, or will never be. */
  done(): void
}

export class Landing implements BodyOwner {
  readonly #engine: Engine
  readonly #cargo: Cargo
  #reserved = 0

  constructor(engine: Engine, cargo: Cargo) {
    this.#engine = engine
    this.#cargo = cargo
  }

  room(bytes: number): boolean {
    const { rules, level1 } = this.#engine
    if (this.#reserved + bytes > rules.maxEntryBytes || !level1.reserve(bytes)) return false
    this.#reserved += bytes
    return true
  }

  whole(body: Uint8Array | null): void {
    const { place, part, ...rest } = this.#cargo
    // A part with fewer or more bytes than it says is none.
    if (part === null || body?.length === lengthOf(part)) {
      const { key, selector } = place
      const { mostText } = this.#engine.rules
      const entry = makeEntry({ ...rest, key, selector, body, part, mostText })
      this.#release()
      if (!rest.isDoomed(entry.tags)) this.#engine.commit(entry, this.#cargo.since)
    }
    this.lost()
  }

  lost(): void {
    this.#release()
    this.#cargo.done()
  }

  deserted(): boolean {
    return this.#cargo.background
  }

  #release(): void {
    this.#engine.level1.release(this.#reserved)
    this.#reserved = 0
  }
}
