/** Runs the rules of a phase. */

import type { Target } from '../parse/targets.ts'
import { NO, UNKNOWN, YES } from '../plan/screen.ts'
import type { Condition, Rule } from '../rules/model.ts'
import { applyEffects } from './effects.ts'
import { Entry, type Form } from './form.ts'
import type { Reading, Segment, Transaction } from './transaction.ts'

/** Values that a chain keeps for `MATCHED_VARS`, and matches that a transaction keeps for its log. */
const MAX_MATCHED = 1000
const MAX_MATCHES = 1000

/**
 * Runs one step of a phase.
 * @returns the step to go on with; -1 when the phase is over.
 */
export function runStep(tx: Transaction, phase: number, at: number): number {
  const { meter } = tx.program
  if (meter === null) return takeStep(tx, phase, at)
  const start = performance.now()
  const next = takeStep(tx, phase, at)
  meter(tx.program.set.phases[phase]![at]!, performance.now() - start)
  return next
}

function takeStep(tx: Transaction, phase: number, at: number): number {
  const step = tx.program.set.phases[phase]![at]!
  if (step.marker !== null || (tx.removed.any && tx.removed.hasRule(step))) return at + 1
  tx.running = step
  tx.matched = NONE
  for (const condition of step.conditions) if (!meets(tx, step, condition)) return at + 1
  finish(tx, step)
  if (tx.interruption !== null && phase < 5) return -1
  if (phase < 5 && phase <= tx.allowedUpTo) return -1
  if ((tx.mode as string) === 'Off') return -1
  return step.skipAfter === null ? at + 1 + step.skip : tx.program.placeOf(phase, step.skipAfter, at) + 1
}

/** Whether a condition matches. What it does at once is done, even if a later one of the chain fails. */
export function meets(tx: Transaction, rule: Rule, condition: Condition): boolean {
  const { operator, steps, pipeline } = condition
  if (operator === null) {
    applyEffects(condition, tx)
    return true
  }
  const only = singleVariable(tx, condition)
  if (only !== undefined) {
    if (only === null || !tests(tx, condition, only.form)) return false
    note(tx, condition, variableName(condition.targets[0]!), only, only.form.after(pipeline))
    return true
  }
  let met = false
  for (const { name, entries } of read(tx, condition)) {
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i]!
      if (isExempt(tx, rule, name, entry)) continue
      if (steps !== null) {
        if (meetsStep(tx, condition, name, entry)) met = true
      } else if (tests(tx, condition, entry.form)) {
        note(tx, condition, name, entry, entry.form.after(pipeline))
        met = true
      }
    }
  }
  return met
}

/** Whether the test of a condition holds that reads one variable of `TX`. */
export function holds(tx: Transaction, condition: Condition): boolean {
  if (condition.operator === null) return true
  const only = singleVariable(tx, condition)
  return only !== undefined && only !== null && tests(tx, condition, only.form)
}

/** `multiMatch`: the value after each transformation that changed it. */
function meetsStep(tx: Transaction, condition: Condition, name: string, entry: Entry): boolean {
  const { operator, negated, capture } = condition
  let met = false
  let before: Form | null = null
  for (const step of condition.steps!) {
    const form = entry.form.after(step)
    if (form !== before && operator!.match(form, tx, capture && !negated) !== negated) {
      note(tx, condition, name, entry, form)
      met = true
    }
    before = form
  }
  return met
}

/** Whether this rule must not look at this value: a `ctl` said so, or whoever asked. */
function isExempt(tx: Transaction, rule: Rule, name: string, entry: Entry): boolean {
  if (tx.removed.anyTarget && tx.removed.targetsOf(rule).some(target => covers(tx, target, name, entry)))
    return true
  return tx.exempt?.(rule.id, rule.tags, nameOf(name, entry)) ?? false
}

/**
 * The one variable that most conditions on `TX` read; `null` when it is not set, `undefined` when the condition is none of
 * these. It spares the lists that a collection needs.
 */
function singleVariable(tx: Transaction, { targets, steps }: Condition): Entry | null | undefined {
  if (targets.length !== 1 || steps !== null) return undefined
  const { variable, selector, count } = targets[0]!
  if (variable !== 'TX' || selector === null || selector.kind !== 'key') return undefined
  const found = tx.variable('TX', selector.key)
  if (count) return found === undefined ? ABSENT : PRESENT
  return found ?? null
}

/** Nothing has matched yet: an array for each rule that runs would be many. */
const NONE: Entry[] = []

const ABSENT = new Entry('', '0')
const PRESENT = new Entry('', '1')

/** Whether the operator says so of a value, given as it came. */
function tests(tx: Transaction, condition: Condition, raw: Form): boolean {
  const { operator, negated, pipeline, capture, slot } = condition
  const known = slot === -1 ? UNKNOWN : tx.program.verdict(raw, slot)
  // A match that captures has to be found anew; that there is none is known.
  if (known === NO || (known === YES && (negated || !capture))) return known === YES
  return operator!.match(raw.after(pipeline), tx, capture && !negated) !== negated
}

function note(tx: Transaction, condition: Condition, name: string, entry: Entry, form: Form): void {
  tx.matchedValue = form.text
  tx.matchedName = nameOf(name, entry)
  tx.matchedBy = condition
  if (tx.matched === NONE) tx.matched = []
  if (tx.matched.length < MAX_MATCHED) tx.matched.push(new Entry(tx.matchedName, form.text))
  applyEffects(condition, tx)
}

function variableName({ variable, count }: Target): string {
  return count ? `&${variable}` : variable
}

function nameOf(name: string, entry: Entry): string {
  return entry.key === '' ? name : `${name}:${entry.key}`
}

/** The values of a condition's variables, without those that it leaves out. */
function read(tx: Transaction, condition: Condition): Reading {
  return (
    tx.reading(condition.reads) ??
    tx.keepReading(
      condition.reads,
      condition.targets.map(target => segmentOf(tx, condition, target)),
    )
  )
}

function segmentOf(tx: Transaction, { exclusions }: Condition, target: Target): Segment {
  const name = variableName(target)
  const entries = tx.select(target)
  if (target.count) return { name, entries: [countOf(entries.length)] }
  const leavesOut = exclusions.filter(({ variable }) => variable === target.variable)
  if (leavesOut.length === 0 || entries.length === 0) return { name, entries }
  return {
    name,
    entries: entries.filter(entry => !leavesOut.some(exclusion => covers(tx, exclusion, name, entry))),
  }
}

function countOf(members: number): Entry {
  return members === 0 ? ABSENT : members === 1 ? PRESENT : new Entry('', String(members))
}

function covers(tx: Transaction, { variable, selector }: Target, name: string, entry: Entry): boolean {
  if (variable !== name) return false
  if (selector === null) return true
  return selector.kind === 'key' ? selector.key === entry.lower : tx.selects(selector, entry.key)
}

/** The whole chain has matched: log it, and do what it says. */
function finish(tx: Transaction, rule: Rule): void {
  if (rule.severity !== null) tx.highestSeverity = Math.min(tx.highestSeverity, rule.severity)
  const matches = rule.log ? tx.matches : tx.quietMatches
  if ((rule.log || rule.auditLog) && matches.length < MAX_MATCHES) {
    matches.push({
      rule,
      message: rule.message === null ? '' : tx.expand(rule.message),
      data: rule.logData === null ? '' : tx.expand(rule.logData),
      // A rule without a test of its own has matched no variable, whatever one before it did.
      variable: tx.matched === NONE ? '' : tx.matchedName,
      value: tx.matched === NONE ? '' : tx.matchedValue,
      condition: tx.matched === NONE || rule.conditions.at(-1)!.operator === null ? null : tx.matchedBy,
    })
  }
  if (tx.mode !== 'On') return
  const { disruption } = rule
  switch (disruption.kind) {
    case 'deny':
      tx.interruption = { kind: 'deny', status: disruption.status, rule: rule.id }
      return
    case 'drop':
      tx.interruption = { kind: 'drop', status: 403, rule: rule.id }
      return
    case 'redirect':
      tx.interruption = {
        kind: 'redirect',
        status: disruption.status,
        location: tx.expand(disruption.location),
        rule: rule.id,
      }
      return
    case 'allow':
      tx.allowedUpTo =
        disruption.scope === 'all' ? 4 : disruption.scope === 'request' ? Math.max(2, rule.phase) : rule.phase
  }
}
