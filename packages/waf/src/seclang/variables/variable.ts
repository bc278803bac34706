/** What a variable of the rule language is to the engine. */
import type { Entry } from '../engine/form.ts'
import type { Transaction } from '../engine/transaction.ts'
import type { Target } from '../parse/targets.ts'

export interface Variable {
  /** The values now. A variable that is no collection has one, with an empty key. */
  values(tx: Transaction): readonly Entry[]
  /** Changes when a body or a reply arrives. */
  readonly late?: boolean
  /** Depends on the body processor, which a rule may change: nothing may be worked out before the rule that reads it. */
  readonly unsettled?: boolean
  /** Changes while rules run: nothing about it may be kept. */
  readonly volatile?: boolean
  /** Picks members by a selector, where that is not by key. */
  select?(tx: Transaction, target: Target): readonly Entry[]
}
