/**
 * From a request's target straight to its entry, for entries that are alone under their key and vary by nothing.
 *
 * The key of a request is put together from parts, and looking such a string up costs more than all else of a hit. The target
 * is there already. What is found here is what {@link Level1.find} finds; a property test holds the two together.
 */
import { PreparedLines, type RequestHead } from '@postern/core'
import type { Place } from '../policy/key.ts'
import type { Entry } from './entry.ts'

/** A target on one origin. The store empties it when the entry is no longer the one. */
export interface Slot {
  readonly scheme: string
  readonly authority: string
  /** The fields of the entry, ready to be sent; made when it is asked for once more, `null` before. */
  prepared: PreparedLines | undefined | null
  entry: Entry | null
}

/** Longer ones are not: what is remembered is not counted by the store. */
const LONGEST = 512

export class Shortcut {
  readonly #slots = new Map<string, Slot>()
  readonly #capacity: number

  /** @param capacity targets that are remembered; beyond, all are forgotten */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  find(request: RequestHead): Entry | undefined {
    // What a trusted peer reports is part of the key.
    if (request.peerTrusted) return undefined
    const slot = this.#slots.get(request.target)
    if (slot === undefined || slot.entry === null) return undefined
    if (slot.authority !== request.authority || slot.scheme !== request.scheme) return undefined
    if (slot.prepared === null) slot.prepared = PreparedLines.of(slot.entry.raw) ?? undefined
    slot.entry.used = true
    return slot.entry
  }

  /** Remembers what was found for a request, if it can be remembered so. */
  remember(request: RequestHead, place: Place, entry: Entry): void {
    const { scheme, authority, target } = request
    if (
      target.length > LONGEST ||
      request.peerTrusted ||
      !entry.alone ||
      entry.slot !== null ||
      entry.varyNames.length > 0
    )
      return
    // Only what the target alone says.
    if (place.selector !== target || place.authority !== authority || place.scheme !== scheme) return
    if (this.#slots.size >= this.#capacity) this.clear()
    const old = this.#slots.get(target)
    if (old) release(old)
    const slot: Slot = { scheme, authority, prepared: null, entry }
    entry.slot = slot
    this.#slots.set(target, slot)
  }

  clear(): void {
    for (const slot of this.#slots.values()) release(slot)
    this.#slots.clear()
  }
}

function release(slot: Slot): void {
  if (slot.entry) slot.entry.slot = null
  slot.entry = null
}
