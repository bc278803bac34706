/** What a balancer needs to know of a target, and what it does. */
import type { Context } from '../../pipeline/contract.ts'
import type { PeakEwma } from './peak-ewma.ts'

/** A target as a balancer sees it. */
export interface Candidate {
  /** Stable name: the same in each process, whatever the order of the list. */
  readonly id: string
  /** Hash of the id, {@link seedOf}. */
  readonly seed: number
  /** Requests that are under way. */
  readonly inFlight: number
  /** Its share of the load right now: the weight, less while it warms up. Above 0. */
  share(): number
  /** How long it takes to answer. */
  readonly latency: PeakEwma
  /** Kept here by the weighted balancer. */
  credit: number
}

/** Chooses a target. `ready` is never empty, and its order means nothing. */
export interface Balancer {
  pick<T extends Candidate>(ready: readonly T[], cx: Context | null): T
}
