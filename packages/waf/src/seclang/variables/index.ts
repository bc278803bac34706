/** The variables of the rule language by name. */
import { argumentVariables } from './arguments.ts'
import { requestVariables } from './request.ts'
import { responseVariables } from './response.ts'
import { stateVariables } from './state.ts'
import type { Variable } from './variable.ts'

/** A variable of the language. */
export interface KnownVariable extends Variable {
  /** Its number among all variables. */
  readonly number: number
}

const BY_NAME: ReadonlyMap<string, KnownVariable> = new Map(
  [...requestVariables, ...argumentVariables, ...responseVariables, ...stateVariables].map(
    ([name, variable], number) => [name, { ...variable, number }],
  ),
)
const BY_NUMBER: readonly KnownVariable[] = [...BY_NAME.values()]

export function variableOf(name: string): KnownVariable | undefined {
  return BY_NAME.get(name)
}

/** The variable with this number. */
export function variableAt(number: number): KnownVariable {
  return BY_NUMBER[number]!
}

export const variableNames: readonly string[] = [...BY_NAME.keys()]
