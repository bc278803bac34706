/**
 * Which slots a value may meet, from the literals that it holds in all its forms.
 *
 * The value is read once, and once more for each form that a transformation really makes of it. Which transformations can
 * change it at all is known from the bytes it holds.
 */
import type { Form, Pipeline } from '../engine/form.ts'
import { Prefilter } from '../prefilter/prefilter.ts'
import { classesIn } from '../transform/triggers.ts'
import type { Slot } from './model.ts'

/** A way to read values, and the slots that do. */
interface Reading {
  readonly pipeline: Pipeline
  readonly slots: Uint32Array
}

/** What is the same for all values that hold bytes of the same classes. */
interface Variant {
  /** Slots that see the value as it is. */
  readonly plain: Uint32Array
  readonly others: readonly Reading[]
}

const MAX_VARIANTS = 4096

export class Candidates {
  /** Words of a bit set. */
  readonly words: number
  readonly #prefilter: Prefilter
  /** Slots that any value may meet. */
  readonly #any: Uint32Array
  readonly #readings: readonly Reading[]
  readonly #variants = new Map<number, Variant>()
  readonly #found: Uint32Array
  /** Texts that were read for the value at hand, and what was found in each. */
  readonly #texts: string[] = []
  readonly #sets: Uint32Array[] = []

  /** @param slots by number; numbers may be missing. */
  constructor(slots: readonly (Slot | undefined)[]) {
    this.words = (slots.length + 31) >> 5
    this.#found = new Uint32Array(this.words)
    this.#any = new Uint32Array(this.words)
    const readings = new Map<Pipeline, Uint32Array>()
    const literals = Array.from({ length: slots.length }, (_, number) => {
      const slot = slots[number]
      if (slot === undefined || slot.kind !== 'value') return []
      const needsNone = slot.condition.negated || slot.operator.literals.length === 0
      if (needsNone) add(this.#any, number)
      else {
        for (const pipeline of slot.pipelines) {
          const read = withoutFolding(pipeline)
          const mask = readings.get(read) ?? new Uint32Array(this.words)
          add(mask, number)
          readings.set(read, mask)
        }
      }
      return needsNone ? [] : slot.operator.literals
    })
    this.#prefilter = new Prefilter(literals)
    this.#readings = [...readings].map(([pipeline, mask]) => ({ pipeline, slots: mask }))
  }

  /** Writes the slots that a value may meet into `into`, from `at` on. */
  find(form: Form, into: Uint32Array, at: number): void {
    const { words } = this
    const { plain, others } = this.#variantOf(classesIn(form.text))
    const found = this.#found
    found.fill(0)
    this.#prefilter.scan(form.text, found)
    for (let word = 0; word < words; word++)
      into[at + word] = this.#any[word]! | (found[word]! & plain[word]!)
    let texts = 0
    for (let i = 0; i < others.length; i++) {
      const { pipeline, slots } = others[i]!
      const other = form.after(pipeline)
      let set = found
      if (other !== form && other.text !== form.text) {
        let known = 0
        while (known < texts && this.#texts[known] !== other.text) known += 1
        if (known === texts) {
          this.#texts[known] = other.text
          this.#sets[known] ??= new Uint32Array(words)
          this.#sets[known]!.fill(0)
          this.#prefilter.scan(other.text, this.#sets[known]!)
          texts += 1
        }
        set = this.#sets[known]!
      }
      for (let word = 0; word < words; word++) into[at + word]! |= set[word]! & slots[word]!
    }
  }

  #variantOf(classes: number): Variant {
    const known = this.#variants.get(classes)
    if (known !== undefined) return known
    const plain = new Uint32Array(this.words)
    const others: Reading[] = []
    for (const reading of this.#readings) {
      if ((reading.pipeline.triggers & classes) !== 0) others.push(reading)
      else for (let word = 0; word < this.words; word++) plain[word]! |= reading.slots[word]!
    }
    const made = { plain, others }
    if (this.#variants.size < MAX_VARIANTS) this.#variants.set(classes, made)
    return made
  }
}

/** Literals are found in any case: a step that changes nothing else need not be done for that. */
function withoutFolding(pipeline: Pipeline): Pipeline {
  let read = pipeline
  while (read.parent !== null && read.folds) read = read.parent
  return read
}

function add(set: Uint32Array, number: number): void {
  set[number >> 5]! |= 1 << (number & 31)
}
