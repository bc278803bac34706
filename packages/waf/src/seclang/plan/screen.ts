/** Looks at all values of a phase before it runs, and says which heads need to be looked at. */
import type { Form } from '../engine/form.ts'
import type { Transaction } from '../engine/transaction.ts'
import { Candidates } from './candidates.ts'
import type { PhasePlan, Slot } from './model.ts'
import { meets } from './slot.ts'

/** What is known of a value and a slot. */
export const UNKNOWN = -1
export const NO = 0
export const YES = 1

export class Screen {
  readonly #slots: readonly (Slot | undefined)[]
  readonly #candidates: Candidates
  /** Slots that are met; only the words of the running phase count. */
  readonly #met: Uint32Array

  /** @param slots by number; numbers may be missing. */
  constructor(slots: readonly (Slot | undefined)[]) {
    this.#slots = slots
    this.#candidates = new Candidates(slots)
    this.#met = new Uint32Array(this.#candidates.words)
  }

  /** The slots that are met, valid until the next call: the same array each time. Only words of the phase are written. */
  run(tx: Transaction, { from, to, base, lists }: PhasePlan): Uint32Array {
    const met = this.#met
    for (let word = from; word < to; word++) met[word] = base[word - from]!
    for (let i = 0; i < lists.length; i++) {
      const list = lists[i]!
      const entries = tx.select(list.source)
      for (let k = 0; k < entries.length; k++) {
        const entry = entries[k]!
        const { value, presence, absence } = list.maskOf(entry)
        if (value !== null) this.#value(entry.form, value, from)
        if (presence !== null) for (let word = from; word < to; word++) met[word]! |= presence[word - from]!
        if (absence !== null) for (let word = from; word < to; word++) met[word]! &= ~absence[word - from]!
      }
    }
    return met
  }

  #value(form: Form, mask: Uint32Array, from: number): void {
    if (form.bits === null) this.#screen(form)
    const met = this.#met
    const bits = form.bits!
    const may = form.at + from
    const does = may + this.#candidates.words
    for (let word = 0; word < mask.length; word++) {
      // What is met already need not be found again.
      const wanted = bits[may + word]! & mask[word]! & ~met[from + word]!
      if (wanted === 0) continue
      met[from + word]! |= wanted & bits[does + word]!
      for (let rest = wanted & ~bits[does + word]!; rest !== 0; rest &= rest - 1) {
        const bit = rest & -rest
        const slot = this.#slots[((from + word) << 5) + 31 - Math.clz32(bit)]!
        if (meets(slot, form)) {
          bits[does + word]! |= bit
          met[from + word]! |= bit
        } else bits[may + word]! &= ~bit
      }
    }
  }

  #screen(form: Form): void {
    const { words } = this.#candidates
    form.bits = new Uint32Array(words * 2)
    this.#candidates.find(form, form.bits, 0)
  }

  /** What was found out about a value and a slot: `YES`, `NO` or `UNKNOWN`. */
  verdict(form: Form, slot: number): number {
    const { bits, at } = form
    if (bits === null) return UNKNOWN
    const word = at + (slot >> 5)
    const bit = 1 << (slot & 31)
    if ((bits[word]! & bit) === 0) return NO
    return (bits[word + this.#candidates.words]! & bit) === 0 ? UNKNOWN : YES
  }
}
