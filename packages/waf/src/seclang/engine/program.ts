/** A rule set made ready to run: what is computed once for all requests. */
import type { Plan } from '../plan/plan.ts'
import { planOf } from '../plan/plan.ts'
import { UNKNOWN } from '../plan/screen.ts'
import { asksForReply, asksForReplyBody } from '../rules/asks.ts'
import type { RuleSet, Step } from '../rules/model.ts'
import { Entry, type Form } from './form.ts'
import { FormCache } from './form-cache.ts'
import { PersistentStore } from './persistent.ts'

/** A rule set with its plan, its markers and its persistent collections. */
export class RuleProgram {
  readonly set: RuleSet
  readonly persistent: PersistentStore
  /** Hears of each rule that was run, and how many milliseconds that took; `null` where nobody asks. */
  meter: ((step: Step, milliseconds: number) => void) | null = null
  /** Whether rules of phases 3 to 5 are there; whether one of them reads the reply's body. */
  readonly looksAtReplies: boolean
  readonly readsReplyBodies: boolean
  /** `null`: each rule is run as it stands. */
  readonly plan: Plan | null
  readonly #forms: FormCache | null
  /** For each phase, where each marker stands. */
  readonly #markers: readonly ReadonlyMap<string, readonly number[]>[]

  /**
   * @param plain run without plan and memory of values: what tests compare with.
   * @param persistent collections of a program that this one takes the place of.
   */
  constructor(
    set: RuleSet,
    { plain = false, persistent }: { readonly plain?: boolean; readonly persistent?: PersistentStore } = {},
  ) {
    this.set = set
    this.persistent = persistent ?? new PersistentStore(set.settings.collectionTimeout * 1000)
    this.looksAtReplies = asksForReply(set)
    this.readsReplyBodies = asksForReplyBody(set)
    this.#markers = set.phases.map(markersOf)
    this.plan = plain ? null : planOf(this)
    this.#forms = plain ? null : new FormCache()
  }

  /** Place of the next marker of this name behind `from`; the end of the phase without one. */
  placeOf(phase: number, marker: string, from: number): number {
    const places = this.#markers[phase]!.get(marker)
    return places?.find(place => place > from) ?? this.set.phases[phase]!.length
  }

  /** An entry that shares what is known of its value. */
  entry(key: string, value: string): Entry {
    return this.keep(new Entry(key, value))
  }

  /** Lets an entry share what is known of its value. */
  keep(entry: Entry): Entry {
    if (this.#forms !== null) entry.form = this.#forms.of(entry.value)
    return entry
  }

  /** Whether a value, as it came, matches the condition with this slot, if that is known. */
  verdict(form: Form, slot: number): number {
    return this.plan === null ? UNKNOWN : this.plan.screen.verdict(form, slot)
  }
}

function markersOf(steps: readonly Step[]): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (const [index, step] of steps.entries()) {
    if (step.marker === null) continue
    const places = found.get(step.marker)
    if (places) places.push(index)
    else found.set(step.marker, [index])
  }
  return found
}
