/** The members of a variable, and which slots look at each. */
import { apart } from '../engine/apart.ts'
import type { Entry } from '../engine/form.ts'
import type { Target } from '../parse/targets.ts'
import type { Slot } from './model.ts'
import type { Scope } from './scope.ts'

const MAX_KNOWN = 500
const MAX_KEY = 100

/** Slots for one member, as bits. */
export interface Mask {
  /** Those that look at its value; `null` for none. */
  readonly value: Uint32Array | null
  /** Those that are met because it is there, and those that are not met for the same reason. */
  readonly presence: Uint32Array | null
  readonly absence: Uint32Array | null
}

/** Slots that look at all members with a key that fits. */
interface Interest {
  readonly slot: Slot
  readonly target: Target
  /** Targets of the same variable that the condition leaves out. */
  readonly without: readonly Target[]
}

export class List {
  /** What is read to get the members. */
  readonly source: Target
  readonly #interests: Interest[] = []
  readonly #from: number
  readonly #to: number
  #byKey = false
  #all: Mask | null = null
  #known = new Map<string, Mask>()

  /** Slots of all phases that look at the variable's values. */
  readonly scope: Scope

  /** Bits are those of words `from` to `to`. */
  constructor(source: Target, scope: Scope, from: number, to: number) {
    this.source = source
    this.scope = scope
    this.#from = from
    this.#to = to
  }

  add(slot: Slot, target: Target): void {
    const without =
      slot.kind === 'value'
        ? slot.condition.exclusions.filter(({ variable }) => variable === target.variable)
        : []
    this.#interests.push({ slot, target, without })
    // A variable that picks its members itself is read for each way to pick them.
    if (target.source.select === undefined && target.selector !== null) this.#byKey = true
    if (without.length > 0) this.#byKey = true
  }

  /** The slots for a member. */
  maskOf(entry: Entry): Mask {
    if (!this.#byKey) {
      this.#all ??= this.#maskOf(entry)
      return this.#all
    }
    const { key } = entry
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const made = this.#maskOf(entry)
    if (key.length <= MAX_KEY) {
      if (this.#known.size >= MAX_KNOWN) this.#known = new Map()
      this.#known.set(apart(key), made)
    }
    return made
  }

  #maskOf(entry: Entry): Mask {
    const masks: Record<Slot['kind'], Uint32Array | null> = { value: null, presence: null, absence: null }
    for (const { slot, target, without } of this.#interests) {
      const picks = target.source.select !== undefined || fits(target, entry)
      if (!picks || without.some(other => fits(other, entry))) continue
      masks[slot.kind] ??= new Uint32Array(this.#to - this.#from)
      masks[slot.kind]![(slot.number >> 5) - this.#from]! |= 1 << (slot.number & 31)
    }
    return masks
  }
}

function fits({ selector }: Target, entry: Entry): boolean {
  if (selector === null) return true
  return selector.kind === 'key' ? selector.key === entry.lower : selector.matches(entry.key)
}
