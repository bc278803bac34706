/** Looks at all values of a phase before it runs, and says which heads need to be looked at. */
import type { Form } from '../engine/form.ts'
import type { Transaction } from '../engine/transaction.ts'
import { Candidates } from './candidates.ts'
import type { PhasePlan, Slot } from './model.ts'
import { Scope } from './scope.ts'
import { meets } from './slot.ts'

/** What is known of a value and a slot. */
export const UNKNOWN = -1
export const NO = 0
export const YES = 1

export class Screen {
  readonly #slots: readonly (Slot | undefined)[]
  readonly #words: number
  readonly #candidates: Candidates
  /** Every slot: for values that are members of more than one variable. */
  readonly #all: Scope
  /** Slots that are met; only the words of the running phase count. */
  readonly #met: Uint32Array

  /** @param slots by number; numbers may be missing. */
  constructor(slots: readonly (Slot | undefined)[]) {
    this.#slots = slots
    this.#words = (slots.length + 31) >> 5
    this.#candidates = new Candidates(slots, this.#words)
    const values = slots.filter(slot => slot?.kind === 'value') as Slot[]
    this.#all = new Scope(values, this.#words)
    this.#met = new Uint32Array(this.#words)
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
        if (value !== null) this.#value(entry.form, list.scope, value, from)
        if (presence !== null) for (let word = from; word < to; word++) met[word]! |= presence[word - from]!
        if (absence !== null) for (let word = from; word < to; word++) met[word]! &= ~absence[word - from]!
      }
    }
    return met
  }

  #value(form: Form, scope: Scope, mask: Uint32Array, from: number): void {
    if (form.scope !== scope && form.scope !== this.#all) this.#screen(form, scope)
    const met = this.#met
    const bits = form.bits!
    const does = from + this.#words
    for (let word = 0; word < mask.length; word++) {
      // What is met already need not be found again.
      const wanted = bits[from + word]! & mask[word]! & ~met[from + word]!
      if (wanted === 0) continue
      met[from + word]! |= wanted & bits[does + word]!
      for (let rest = wanted & ~bits[does + word]!; rest !== 0; rest &= rest - 1) {
        const bit = rest & -rest
        const slot = this.#slots[((from + word) << 5) + 31 - Math.clz32(bit)]!
        if (meets(slot, form)) {
          bits[does + word]! |= bit
          met[from + word]! |= bit
        } else bits[from + word]! &= ~bit
      }
    }
  }

  #screen(form: Form, scope: Scope): void {
    form.scope = form.scope === null ? scope : this.#all
    form.bits = new Uint32Array(this.#words * 2)
    this.#candidates.find(form, form.scope, form.bits)
  }

  /** What was found out about a value and a slot: `YES`, `NO` or `UNKNOWN`. */
  verdict({ bits, scope }: Form, slot: number): number {
    if (bits === null || !scope!.has(slot)) return UNKNOWN
    const word = slot >> 5
    const bit = 1 << (slot & 31)
    if ((bits[word]! & bit) === 0) return NO
    return (bits[word + this.#words]! & bit) === 0 ? UNKNOWN : YES
  }
}
