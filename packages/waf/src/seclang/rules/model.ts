/** A rule set as the engine runs it. */
import type { Pipeline } from '../engine/pipeline.ts'
import type { Macro, Operator } from '../operators/operator.ts'
import type { Place } from '../parse/fault.ts'
import type { Target } from '../parse/targets.ts'
import type { Settings } from './settings.ts'

/** What a rule does with the exchange when it matches. `block` was replaced by the phase's default. */
export type Disruption =
  | { readonly kind: 'pass' }
  | { readonly kind: 'deny'; readonly status: number }
  | { readonly kind: 'drop' }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: Macro }
  | { readonly kind: 'allow'; readonly scope: 'all' | 'phase' | 'request' }

/** `setvar`. */
export interface Assignment {
  /** `TX`, or a persistent collection. */
  readonly collection: string
  readonly key: Macro
  /** `null` removes the variable. */
  readonly value: Macro | null
  /** Sign of an addition, 0 for a plain value. */
  readonly sign: -1 | 0 | 1
}

/** `ctl`, resolved as far as it can be before a request. */
export type Control =
  | { readonly kind: 'engine'; readonly mode: 'On' | 'Off' | 'DetectionOnly' }
  | { readonly kind: 'auditEngine'; readonly mode: 'On' | 'Off' | 'RelevantOnly' }
  | { readonly kind: 'auditLogParts'; readonly parts: string }
  | { readonly kind: 'removeById'; readonly ranges: readonly (readonly [number, number])[] }
  | { readonly kind: 'removeByTag' | 'removeByMsg'; readonly text: string }
  | {
      readonly kind: 'removeTargetById'
      readonly ranges: readonly (readonly [number, number])[]
      readonly target: Target
    }
  | {
      readonly kind: 'removeTargetByTag' | 'removeTargetByMsg'
      readonly text: string
      readonly target: Target
    }
  | { readonly kind: 'processor'; readonly name: string }
  | {
      readonly kind: 'forceRequestBody' | 'forceResponseBody' | 'requestBodyAccess' | 'responseBodyAccess'
      readonly on: boolean
    }
  | { readonly kind: 'requestBodyLimit' | 'responseBodyLimit'; readonly bytes: number }
  /** Accepted, and without effect here. */
  | { readonly kind: 'none'; readonly name: string }

/** `initcol`: names the record of a persistent collection. */
export interface Initialisation {
  readonly collection: string
  readonly key: Macro
}

/** `expirevar`. */
export interface Expiry {
  readonly collection: string
  readonly key: Macro
  readonly seconds: Macro
}

/** A condition with what happens at once when it matches. */
export interface Condition {
  readonly targets: readonly Target[]
  readonly exclusions: readonly Target[]
  /** `null` for `SecAction`: always. */
  readonly operator: Operator | null
  readonly negated: boolean
  readonly pipeline: Pipeline
  /** With `multiMatch`: each pipeline on the way, the empty one first. Else `null`. */
  readonly steps: readonly Pipeline[] | null
  readonly capture: boolean
  readonly assignments: readonly Assignment[]
  readonly controls: readonly Control[]
  readonly initialisations: readonly Initialisation[]
  readonly expiries: readonly Expiry[]
  /** Number of the list of variables, shared by equal lists; -1 when what it reads changes while rules run. */
  reads: number
  /** Place of the condition in the plan of the rule set, for what the plan knows of a value; -1 when it knows nothing. */
  slot: number
}

/** A rule with its chain. */
export interface Rule {
  readonly marker: null
  readonly id: number
  readonly phase: number
  readonly place: Place
  /** The rule itself and the members of its chain. */
  readonly conditions: readonly Condition[]
  readonly disruption: Disruption
  readonly skipAfter: string | null
  readonly skip: number
  readonly log: boolean
  readonly auditLog: boolean
  readonly message: Macro | null
  readonly logData: Macro | null
  /** 0 (emergency) to 7 (debug); `null` without one. */
  readonly severity: number | null
  readonly tags: readonly string[]
  /** Tags that hold macros. */
  readonly tagMacros: readonly Macro[]
  readonly version: string
  readonly revision: string
  readonly maturity: string
  readonly accuracy: string
}

/** One step of a phase: a rule, or a place to skip to. */
export type Step = Rule | Marker

/** A place to skip to. */
export interface Marker {
  readonly marker: string
}

/** A loaded rule set. */
export interface RuleSet {
  readonly settings: Settings
  /** Rules of phases 1 to 5; index 0 is empty. */
  readonly phases: readonly (readonly Step[])[]
  readonly rules: readonly Rule[]
}
