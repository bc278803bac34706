/** Which conditions can be decided value by value before a phase runs. */
import { Form } from '../engine/form.ts'
import type { Pipeline } from '../engine/pipeline.ts'
import type { Operator, OperatorContext } from '../operators/operator.ts'
import type { Condition } from '../rules/model.ts'
import type { Slot } from './model.ts'

/** For operators that need nothing but the value. */
export const NO_CONTEXT: OperatorContext = {
  expand: () => '',
  capture: () => {},
}

/** How a condition can be decided; `null` when it can't. `operator` is the condition's, with its argument filled in. */
export function kindOf(condition: Condition, operator: Operator): Slot['kind'] | null {
  const { targets } = condition
  if (targets.some(({ source }) => source.volatile || source.unsettled)) return null
  if (!targets.some(({ count }) => count)) return 'value'
  return targets.length === 1 ? countKind(condition, operator) : null
}

/** Counting: what the condition says of no members, and of any number of them. */
function countKind(condition: Condition, operator: Operator): 'presence' | 'absence' | null {
  const { negated, pipeline, targets } = condition
  if (pipeline.parent !== null || condition.steps !== null || targets[0]!.source.select !== undefined)
    return null
  const says = (count: number | bigint): boolean =>
    operator.match(new Form(String(count)), NO_CONTEXT, false) !== negated
  if (!says(0)) return 'presence'
  // Met by nothing: of use only if it is then met by nothing else.
  const { bound } = operator
  if (bound === undefined) return null
  const places = [1, Number(bound) - 1, Number(bound), Number(bound) + 1, Number.MAX_SAFE_INTEGER]
  return places.some(count => count >= 1 && Number.isSafeInteger(count) && says(count)) ? null : 'absence'
}

/** Whether a value matches. */
export function meets({ condition, operator, pipelines }: Slot, form: Form): boolean {
  let before: Form | null = null
  for (let i = 0; i < pipelines.length; i++) {
    const step = form.after(pipelines[i]!)
    if (step !== before && operator.match(step, NO_CONTEXT, false) !== condition.negated) return true
    before = step
  }
  return false
}

/** The pipelines after which a condition looks at a value. */
export function pipelinesOf({ steps, pipeline }: Condition): readonly Pipeline[] {
  return steps ?? [pipeline]
}
