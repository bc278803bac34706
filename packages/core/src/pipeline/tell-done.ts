/** The last hook of an exchange, where nobody is left to answer. */
import { isThenable } from './answer.ts'
import type { Outcome } from './contract.ts'
import type { AnyContext, Plan } from './plan.ts'
import { warnOf } from './warn.ts'

/** Runs every `onDone`. What throws or rejects is a warning, and the next filter still has to know. */
export function tellDone(plan: Plan, cx: AnyContext, outcome: Outcome): void {
  const { onDone } = plan
  for (let i = 0; i < onDone.length; i++) {
    try {
      const given: unknown = onDone[i]!.run(cx, outcome)
      if (given !== undefined && isThenable(given)) {
        Promise.resolve(given).catch(cause => warn(plan, i, cause))
      }
    } catch (cause) {
      warn(plan, i, cause)
    }
  }
}

function warn({ filters, onDone }: Plan, i: number, cause: unknown): void {
  warnOf(`filter '${filters[onDone[i]!.at]!.name}' (onDone)`, cause)
}
