/** What a group tells of itself. Labels are bounded: names of the configuration and words from fixed lists. */
import type { HealthReason, HealthState } from './health/target-health.ts'

/** State of a target. `'absent'` is before it came and after it went. */
export type TargetState = HealthState | 'draining' | 'absent'

/** Why a target's state changed. */
export type ChangeReason = HealthReason | 'added' | 'removed' | 'drained' | 'restored' | 'name-resolved'

/** A change in a group. */
export type GroupEvent =
  | {
      readonly kind: 'target'
      readonly group: string
      /** Label of the target. */
      readonly target: string
      readonly from: TargetState
      readonly to: TargetState
      readonly reason: ChangeReason
    }
  /** Too few targets are usable: all are used, or no longer. */
  | { readonly kind: 'panic'; readonly group: string; readonly on: boolean }
  /** A name could not be resolved; the last good addresses stay. */
  | {
      readonly kind: 'dns-failed'
      readonly group: string
      readonly target: string
      readonly failures: number
    }

/** Numbers of a group, for metrics. */
export interface GroupStats {
  readonly name: string
  /** All targets are used because too few are usable. */
  readonly panic: boolean
  readonly targets: readonly TargetStats[]
}

/** Numbers of a target since it came. */
export interface TargetStats {
  readonly target: string
  readonly state: TargetState
  /** Gets requests now. */
  readonly used: boolean
  readonly weight: number
  /** Requests under way. */
  readonly inFlight: number
  /** Requests sent, each attempt counted. */
  readonly requests: number
  /** Of those the ones that the target failed. */
  readonly failures: number
  /** Open connections, idle ones among them, and requests that wait for one. */
  readonly connections: { readonly open: number; readonly idle: number; readonly waiting: number } | null
}
