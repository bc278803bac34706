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
  readonly #candidates: Candidates
  /** Every slot: for values that are members of more than one variable. */
  readonly #all: Scope
  /** Slots that are met; only the words of the running phase count. */
  readonly #met: Uint32Array

  /** @param slots by number; numbers may be missing. */
  constructor(slots: readonly (Slot | undefined)[]) {
    this.#slots = slots
    const words = (slots.length + 31) >> 5
    this.#candidates = new Candidates(slots, words)
    const values = slots.filter(slot => slot?.kind === 'value') as Slot[]
    this.#all = new Scope(values)
    this.#met = new Uint32Array(words)
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

  /** `mask` holds words from `from` on. */
  #value(form: Form, scope: Scope, mask: Uint32Array, from: number): void {
    if (form.scope !== scope && form.scope !== this.#all) this.#screen(form, scope)
    const met = this.#met
    const bits = form.bits!
    const { from: first, words } = form.scope!
    // The scope has slots of other phases too, and not in all words of this one.
    const end = Math.min(from + mask.length, first + words)
    for (let word = Math.max(from, first); word < end; word++) {
      const may = word - first
      // What is met already need not be found again.
      const wanted = bits[may]! & mask[word - from]! & ~met[word]!
      if (wanted === 0) continue
      const does = may + words
      met[word]! |= wanted & bits[does]!
      for (let rest = wanted & ~bits[does]!; rest !== 0; rest &= rest - 1) {
        const bit = rest & -rest
        const slot = this.#slots[(word << 5) + 31 - Math.clz32(bit)]!
        if (meets(slot, form)) {
          bits[does]! |= bit
          met[word]! |= bit
        } else bits[may]! &= ~bit
      }
    }
  }

  #screen(form: Form, scope: Scope): void {
    const wider = form.scope === null ? scope : this.#all
    form.scope = wider
    form.bits = new Uint32Array(wider.words * 2)
    this.#candidates.find(form, wider, form.bits)
  }

  /** What was found out about a value and a slot: `YES`, `NO` or `UNKNOWN`. */
  verdict({ bits, scope }: Form, slot: number): number {
    if (bits === null || !scope!.has(slot)) return UNKNOWN
    const word = (slot >> 5) - scope!.from
    const bit = 1 << (slot & 31)
    if ((bits[word]! & bit) === 0) return NO
    return (bits[word + scope!.words]! & bit) === 0 ? UNKNOWN : YES
  }
}
