/**
 * Which slots a value may meet, from the literals that it holds in all its forms.
 *
 * The value is read once, and once more for each form that a transformation really makes of it. Which transformations can
 * change it at all is known from the bytes it holds.
 */
import type { Form } from '../engine/form.ts'
import { Prefilter } from '../prefilter/prefilter.ts'
import type { Slot } from './model.ts'
import { needsNothing, type Scope } from './scope.ts'

export class Candidates {
  readonly #words: number
  readonly #prefilter: Prefilter
  /** The forms that were scanned last, by their place among the forms of their value, and what was found in each. */
  readonly #scanned: Form[] = []
  readonly #sets: Uint32Array[] = []

  /** @param slots by number; numbers may be missing. */
  constructor(slots: readonly (Slot | undefined)[], words: number) {
    this.#words = words
    this.#prefilter = new Prefilter(
      Array.from({ length: slots.length }, (_, number) => {
        const slot = slots[number]
        return slot === undefined || slot.kind !== 'value' || needsNothing(slot) ? [] : slot.operator.literals
      }),
    )
  }

  /** Writes the slots of a scope that a value may meet into `into`. */
  find(form: Form, scope: Scope, into: Uint32Array): void {
    const { from, words, any } = scope
    const { plain, others } = scope.variant(form.classes)
    const found = this.#scan(form)
    for (let i = 0; i < words; i++) into[i] = any[i]! | (found[from + i]! & plain[i]!)
    for (let k = 0; k < others.length; k++) {
      const { pipeline, slots } = others[k]!
      const set = this.#scan(form.after(pipeline))
      for (let i = 0; i < words; i++) into[i]! |= set[from + i]! & slots[i]!
    }
  }

  #scan(form: Form): Uint32Array {
    const { index } = form
    if (this.#scanned[index] === form) return this.#sets[index]!
    this.#sets[index] ??= new Uint32Array(this.#words)
    const set = this.#sets[index]!
    set.fill(0)
    this.#prefilter.scan(form.bytes, set)
    this.#scanned[index] = form
    return set
  }
}
