/** A rule set made ready to run: what is computed once for all requests. */
import { Prefilter } from '../prefilter/prefilter.ts'
import type { RuleSet, Step } from '../rules/model.ts'
import { FormCache } from './form-cache.ts'
import { PersistentStore } from './persistent.ts'

/** A rule set with its scanner, its markers and its persistent collections. */
export class RuleProgram {
  readonly set: RuleSet
  readonly prefilter: Prefilter
  readonly persistent: PersistentStore
  readonly forms: FormCache
  /** For each phase, where each marker stands. */
  readonly #markers: readonly ReadonlyMap<string, readonly number[]>[]

  constructor(set: RuleSet) {
    this.set = set
    this.prefilter = new Prefilter(set.patterns)
    this.persistent = new PersistentStore(set.settings.collectionTimeout * 1000)
    this.forms = new FormCache(set.operators)
    this.#markers = set.phases.map(markersOf)
  }

  /** Place of the next marker of this name behind `from`; the end of the phase without one. */
  placeOf(phase: number, marker: string, from: number): number {
    const places = this.#markers[phase]!.get(marker)
    return places?.find(place => place > from) ?? this.set.phases[phase]!.length
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
