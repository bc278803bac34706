/**
 * A plan says which rules of a phase need to be looked at for a request, and what the others would have done.
 *
 * Rules that read nothing but constants are worked out once: a block stands for what a row of them does. Of the others, those
 * are looked at whose condition may match one of the request's values; all values are screened before the phase starts. What
 * a plan leaves out would have had no effect, so a phase gives the same with and without it.
 */
import type { Pipeline } from '../engine/pipeline.ts'
import type { Change } from '../engine/tx-variables.ts'
import type { Operator } from '../operators/operator.ts'
import type { Condition, Rule } from '../rules/model.ts'
import type { Assumptions } from './assumptions.ts'
import type { List } from './list.ts'

/** A row of steps whose outcome is known as long as the assumptions hold. */
export interface Block {
  readonly kind: 'block'
  /** The first step, and the one to go on with. */
  readonly step: number
  readonly next: number
  readonly assumptions: Assumptions
  readonly changes: readonly Change[]
  readonly rules: readonly Rule[]
}

/** A rule that may have to be run. */
export interface Gate {
  readonly kind: 'gate'
  readonly step: number
  /** The plan goes on as if the rule had set what it sets always. */
  readonly certain: boolean
  /** Under these the rule can only match when all slots are met. */
  readonly assumptions: Assumptions
  /** Numbers of slots, beside the one that led here. */
  readonly slots: readonly number[]
}

export type Head = Block | Gate

/** A condition of which it is known, for each value, whether it matches. */
export interface Slot {
  readonly number: number
  readonly condition: Condition
  /** The condition's operator, with its argument filled in. */
  readonly operator: Operator
  /** Any of the forms that these give may match. */
  readonly pipelines: readonly Pipeline[]
  /** `value`: met by a value that matches. `presence`: by any member of a collection. `absence`: when there is none. */
  readonly kind: 'value' | 'presence' | 'absence'
}

export interface PhasePlan {
  /** Words of the phase's slots in bit sets: the first, and the one behind the last. */
  readonly from: number
  readonly to: number
  /** Slots that are met, and heads that are looked at, whatever the request holds; from word `from` on. */
  readonly base: Uint32Array
  /** Heads in the order of steps; the number of a head is that of its first slot, from the first bit of word `from` on. */
  readonly heads: readonly Head[]
  /** For each step the first head at it or behind it. */
  readonly headFrom: Int32Array
  /** Steps that the plan knows about: 1. A step that it does not know is run as it stands. */
  readonly planned: Uint8Array
  readonly lists: readonly List[]
}
