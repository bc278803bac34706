/** What a rule set needs of a reply, so that nothing is kept that no rule looks at. */
import type { Macro } from '../operators/operator.ts'
import type { Rule, RuleSet } from './model.ts'

const BODY_VARIABLES: ReadonlySet<string> = new Set([
  'RESPONSE_BODY',
  'RESPONSE_CONTENT_LENGTH',
  'OUTBOUND_DATA_ERROR',
])

/** Whether there is anything to do once a reply has come. */
export function asksForReply({ phases }: RuleSet): boolean {
  return phases.some((steps, phase) => phase > 2 && steps.some(({ marker }) => marker === null))
}

/** Whether a rule reads the reply's body. */
export function asksForReplyBody({ rules }: RuleSet): boolean {
  return rules.some(rule => rule.phase > 2 && readsBody(rule))
}

function readsBody({ conditions, message, logData, tagMacros }: Rule): boolean {
  const macros = [
    message,
    logData,
    ...tagMacros,
    ...conditions.flatMap(({ assignments }) => assignments.flatMap(({ key, value }) => [key, value])),
  ]
  return (
    macros.some(macro => macro !== null && namesBody(macro)) ||
    conditions.some(
      ({ targets, operator }) =>
        operator !== null && targets.some(({ variable }) => BODY_VARIABLES.has(variable)),
    )
  )
}

function namesBody({ parts }: Macro): boolean {
  return parts.some(part => typeof part !== 'string' && BODY_VARIABLES.has(part.variable))
}
