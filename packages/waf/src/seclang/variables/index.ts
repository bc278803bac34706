/** The variables of the rule language by name. */
import { argumentVariables } from './arguments.ts'
import { requestVariables } from './request.ts'
import { responseVariables } from './response.ts'
import { stateVariables } from './state.ts'
import type { Variable } from './variable.ts'

const BY_NAME: ReadonlyMap<string, Variable> = new Map([
  ...requestVariables,
  ...argumentVariables,
  ...responseVariables,
  ...stateVariables,
])

export function variableOf(name: string): Variable | undefined {
  return BY_NAME.get(name)
}

export const variableNames: readonly string[] = [...BY_NAME.keys()]
