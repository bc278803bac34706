/** The last hook of an exchange, where nobody is left to answer. */
import { isThenable } from './answer.ts'
import type { Outcome } from './contract.ts'
import type { AnyContext, Plan } from './plan.ts'
import { warnOf } from './warn.ts'

/** Runs every `onDone`. What throws or rejects is a warning, and the next filter still has to know. */
export function tellDone({ onDone, filters }: Plan, cx: AnyContext, outcome: Outcome): void {
  for (let i = 0; i < onDone.length; i++) {
    const { run, at } = onDone[i]!
    const warn = (cause: unknown): void => warnOf(`filter '${filters[at]!.name}' (onDone)`, cause)
    try {
      const given: unknown = run(cx, outcome)
      if (given !== undefined && isThenable(given)) Promise.resolve(given).catch(warn)
    } catch (cause) {
      warn(cause)
    }
  }
}
