/** The slots that look at the members of one variable, and how values are read for them. */
import type { Pipeline } from '../engine/pipeline.ts'
import type { Slot } from './model.ts'

/** A way to read values, and the slots that do. */
export interface ValueReading {
  readonly pipeline: Pipeline
  readonly slots: Uint32Array
}

/** What is the same for all values that hold bytes of the same classes. */
export interface Variant {
  /** Slots that see the value as it is. */
  readonly plain: Uint32Array
  readonly others: readonly ValueReading[]
}

const MAX_VARIANTS = 256

/** Bit sets of a scope hold only the words in which it has slots. */
export class Scope {
  /** The first word in which there are slots. */
  readonly from: number
  /** Words from there on. */
  readonly words: number
  readonly #slots: Uint32Array
  /** Slots that any value may meet. */
  readonly any: Uint32Array
  readonly #readings: readonly ValueReading[]
  /** Classes of bytes that make a difference here. */
  readonly #triggers: number
  readonly #variants = new Map<number, Variant>()

  constructor(slots: readonly Slot[]) {
    const inWords = slots.map(({ number }) => number >> 5)
    this.from = slots.length === 0 ? 0 : Math.min(...inWords)
    this.words = slots.length === 0 ? 0 : Math.max(...inWords) + 1 - this.from
    this.#slots = new Uint32Array(this.words)
    this.any = new Uint32Array(this.words)
    const readings = new Map<Pipeline, Uint32Array>()
    for (const slot of slots) {
      this.#add(this.#slots, slot)
      if (needsNothing(slot)) {
        this.#add(this.any, slot)
        continue
      }
      for (const pipeline of slot.pipelines) {
        const read = withoutFolding(pipeline)
        const set = readings.get(read) ?? new Uint32Array(this.words)
        this.#add(set, slot)
        readings.set(read, set)
      }
    }
    this.#readings = [...readings].map(([pipeline, set]) => ({ pipeline, slots: set }))
    this.#triggers = this.#readings.reduce((all, { pipeline }) => all | pipeline.triggers, 0)
  }

  #add(set: Uint32Array, { number }: Slot): void {
    set[(number >> 5) - this.from]! |= 1 << (number & 31)
  }

  has(slot: number): boolean {
    const word = (slot >> 5) - this.from
    return word >= 0 && word < this.words && (this.#slots[word]! & (1 << (slot & 31))) !== 0
  }

  /** How to read values that hold bytes of these classes. */
  variant(found: number): Variant {
    const classes = found & this.#triggers
    const known = this.#variants.get(classes)
    if (known !== undefined) return known
    const plain = new Uint32Array(this.words)
    const others: ValueReading[] = []
    for (const reading of this.#readings) {
      if ((reading.pipeline.triggers & classes) !== 0) others.push(reading)
      else for (let word = 0; word < plain.length; word++) plain[word]! |= reading.slots[word]!
    }
    const made = { plain, others }
    if (this.#variants.size >= MAX_VARIANTS) this.#variants.clear()
    this.#variants.set(classes, made)
    return made
  }
}

/** Whether a value may meet the slot whatever it holds. */
export function needsNothing({ condition, operator }: Slot): boolean {
  return condition.negated || operator.literals.length === 0
}

/** Literals are found in any case: a last step that changes nothing else need not be done for that. */
function withoutFolding(pipeline: Pipeline): Pipeline {
  let read = pipeline
  while (read.step?.folds === true) read = read.parent!
  return read
}
