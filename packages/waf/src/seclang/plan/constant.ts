/** Conditions that read nothing of a request, only variables of `TX`: what they do can be worked out once. */
import type { Macro } from '../operators/operator.ts'
import type { Condition, Rule } from '../rules/model.ts'

/** The variables of `TX` that a condition reads; `null` when it reads anything else, or does more than set variables. */
export function constantReads(condition: Condition): string[] | null {
  const reads: string[] = []
  const effects = effectReads(condition)
  if (effects === null || !addTest(condition, reads)) return null
  return [...reads, ...effects]
}

/** The same for its test alone, whatever it does when it matches. */
export function constantTest(condition: Condition): string[] | null {
  const reads: string[] = []
  return addTest(condition, reads) ? reads : null
}

/** Whether a match of the condition leaves traces, even if its chain fails later. */
export function hasEffects(condition: Condition): boolean {
  const { assignments, controls, initialisations, expiries, capture } = condition
  return capture || assignments.length + controls.length + initialisations.length + expiries.length > 0
}

/** The variables of `TX` that a text names; `null` when it names anything else. */
export function macroReads(macro: Macro): string[] | null {
  const reads: string[] = []
  return addMacro(macro, reads) ? reads : null
}

function addTest({ operator, targets, steps, capture }: Condition, reads: string[]): boolean {
  if (operator === null) return true
  if (targets.length !== 1 || steps !== null || capture) return false
  const { variable, selector } = targets[0]!
  if (variable !== 'TX' || selector === null || selector.kind !== 'key' || isCapture(selector.key))
    return false
  reads.push(selector.key)
  return operator.depends === undefined || addMacro(operator.depends.argument, reads)
}

function effectReads({ assignments, controls, initialisations, expiries }: Condition): string[] | null {
  if (initialisations.length + expiries.length + controls.length > 0) return null
  const reads: string[] = []
  for (const { collection, key, value, sign } of assignments) {
    // A name that is put together could be that of a capture.
    if (collection !== 'TX' || key.constant === null) return null
    if (value !== null && !addMacro(value, reads)) return null
    if (sign !== 0) reads.push(key.constant.toLowerCase())
  }
  return reads
}

function addMacro({ parts }: Macro, reads: string[]): boolean {
  for (const part of parts) {
    if (typeof part === 'string') continue
    if (part.variable !== 'TX' || part.key === null || isCapture(part.key)) return false
    reads.push(part.key)
  }
  return true
}

/** `TX:0` to `TX:9` hold what an operator captured. */
function isCapture(key: string): boolean {
  return /^\d$/.test(key)
}

/**
 * Whether some rule looks at `MATCHED_VAR` and the like before it has matched anything itself: it would see what a rule
 * before it matched, also one that failed later.
 */
export function looksBack(rule: Rule): boolean {
  for (const condition of rule.conditions) {
    if (condition.operator !== null) {
      const { targets, operator } = condition
      return targets.some(({ variable }) => isMatched(variable)) || namesMatched(operator.depends?.argument)
    }
    const { assignments, initialisations, expiries } = condition
    const texts = [
      ...assignments.flatMap(({ key, value }) => [key, value]),
      ...initialisations.map(({ key }) => key),
      ...expiries.flatMap(({ key, seconds }) => [key, seconds]),
    ]
    if (texts.some(namesMatched)) return true
  }
  const { message, logData, disruption, tagMacros } = rule
  const location = disruption.kind === 'redirect' ? disruption.location : null
  return [message, logData, location, ...tagMacros].some(namesMatched)
}

function isMatched(variable: string): boolean {
  return variable.startsWith('MATCHED_')
}

function namesMatched(macro: Macro | null | undefined): boolean {
  return macro?.parts.some(part => typeof part !== 'string' && isMatched(part.variable)) ?? false
}

/** Whether a condition matches always, and what it sets is known before. */
export function isCertain({ operator, assignments, initialisations, expiries }: Condition): boolean {
  if (operator !== null || initialisations.length + expiries.length > 0) return false
  return assignments.every(
    ({ collection, key, value }) =>
      collection === 'TX' && key.constant !== null && (value === null || value.constant !== null),
  )
}
