import type { Category, Severity } from '../engine/types.ts'
import type { Token } from './tokens.ts'

/** How careful an engine is: `balanced` is meant to stay on, `aggressive` finds more and errs more. */
export type Profile = 'balanced' | 'aggressive'

/** A pattern: what is looked for, what must stand around it, and texts that prove both. */
export interface Pattern {
  /** Its category, a dash, and a name: `sqli-union-select`. Unique in an engine. */
  readonly id: string
  readonly category: Category
  readonly severity: Severity
  /** What a hit means, in a sentence for the person who reads the log. */
  readonly message: string
  /** What a hit adds to the request's score, 1 to 5. Five alone reaches the default threshold. */
  readonly score: number
  /** The same in the profile `aggressive`; without it `score` counts there too. */
  readonly aggressive?: number
  /** `aggressive`: the pattern does not run in `balanced`. Default `balanced`: it runs in both. */
  readonly profile?: Profile
  /** What the automaton looks for, ASCII letters in any case. Each is a way in; the longer, the cheaper. */
  readonly literals: readonly string[]
  /** What must stand in front of the literal, read from left to right. */
  readonly before?: readonly Token[]
  /** What must stand behind the literal. */
  readonly after?: readonly Token[]
  /** Places in which it counts: starts of them (`header:user-agent`), or start and end with a star between (`xml*@id`). */
  readonly places?: readonly string[]
  /** Values that it must find. */
  readonly match: readonly string[]
  /** Values that it must not. */
  readonly pass: readonly string[]
}
