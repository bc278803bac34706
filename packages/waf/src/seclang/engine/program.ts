/** A rule set made ready to run: what is computed once for all requests. */
import { Prefilter } from '../prefilter/prefilter.ts'
import { asksForReply, asksForReplyBody } from '../rules/asks.ts'
import type { RuleSet, Step } from '../rules/model.ts'
import type { Pipeline } from './form.ts'
import { FormCache } from './form-cache.ts'
import { PersistentStore } from './persistent.ts'

/** A rule set with its scanner, its markers and its persistent collections. */
export class RuleProgram {
  readonly set: RuleSet
  readonly prefilter: Prefilter
  readonly persistent: PersistentStore
  readonly forms: FormCache
  /** Whether rules of phases 3 to 5 are there; whether one of them reads the reply's body. */
  readonly looksAtReplies: boolean
  readonly readsReplyBodies: boolean
  /** For each phase, where each marker stands. */
  readonly #markers: readonly ReadonlyMap<string, readonly number[]>[]

  /** @param persistent collections of a program that this one takes the place of. */
  constructor(set: RuleSet, persistent?: PersistentStore) {
    this.set = set
    this.prefilter = new Prefilter(set.patterns)
    this.persistent = persistent ?? new PersistentStore(set.settings.collectionTimeout * 1000)
    this.forms = new FormCache(set.operators, viewPipelines(set))
    this.looksAtReplies = asksForReply(set)
    this.readsReplyBodies = asksForReplyBody(set)
    this.#markers = set.phases.map(markersOf)
  }

  /** Place of the next marker of this name behind `from`; the end of the phase without one. */
  placeOf(phase: number, marker: string, from: number): number {
    const places = this.#markers[phase]!.get(marker)
    return places?.find(place => place > from) ?? this.set.phases[phase]!.length
  }
}

/** Pipelines of the conditions that the prefilter can rule out. */
function viewPipelines({ rules }: RuleSet): Pipeline[] {
  const viewed = rules.flatMap(({ conditions }) => conditions).filter(({ view }) => view !== -1)
  return [...new Set(viewed.map(({ pipeline }) => pipeline))]
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
