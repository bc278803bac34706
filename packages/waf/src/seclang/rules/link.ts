/** The last step of loading: defaults, phases, and what the engine looks up by number. */
import { parseMacro } from '../engine/macro.ts'
import type { LiteralSet } from '../regex/literals.ts'
import { type DraftRule, disruptionOf } from './load.ts'
import type { Condition, Rule, RuleSet, Step } from './model.ts'
import type { Draft } from './read-rule.ts'
import type { Settings } from './settings.ts'

/** Makes the rule set of what was read. */
export function link(
  settings: Settings,
  written: readonly (DraftRule | { readonly marker: string })[],
  defaults: ReadonlyMap<number, Draft>,
): RuleSet {
  const phases: Step[][] = [[], [], [], [], [], []]
  const rules: Rule[] = []
  for (const step of written) {
    if ('marker' in step) {
      // A marker has no phase: it can be met in each.
      for (let phase = 1; phase <= 5; phase++) phases[phase]!.push(step)
      continue
    }
    const rule = finished(step, defaults)
    rules.push(rule)
    phases[rule.phase]!.push(rule)
  }
  return { settings, phases, rules, ...numbered(rules) }
}

function finished({ draft, place, conditions }: DraftRule, defaults: ReadonlyMap<number, Draft>): Rule {
  const phase = draft.phase ?? 2
  const fallback = defaults.get(phase)
  let log = true
  let auditLog = true
  for (const flag of [...(fallback?.logging ?? []), ...draft.logging]) {
    if (flag === 'log') log = auditLog = true
    else if (flag === 'nolog') log = auditLog = false
    else auditLog = flag === 'auditlog'
  }
  return {
    marker: null,
    id: draft.id!,
    phase,
    place,
    conditions,
    disruption: disruptionOf(draft, fallback),
    skipAfter: draft.skipAfter,
    skip: draft.skip,
    log,
    auditLog,
    message: draft.message === null ? null : parseMacro(draft.message),
    logData: draft.logData === null ? null : parseMacro(draft.logData),
    severity: draft.severity,
    tags: draft.tags,
    tagMacros: draft.tags.map(parseMacro).filter(macro => macro.constant === null),
    version: draft.version,
    revision: draft.revision,
    maturity: draft.maturity,
    accuracy: draft.accuracy,
  }
}

/** Numbers what conditions have in common: what one of them found out holds for the others. */
function numbered(rules: readonly Rule[]): Pick<RuleSet, 'patterns' | 'reads' | 'views' | 'operators'> {
  const reads = new Map<string, number>()
  const views = new Map<string, number>()
  const patterns = new Map<string, number>()
  const operators = new Map<string, number>()
  const sets: (readonly LiteralSet[])[] = []
  for (const condition of rules.flatMap(({ conditions }) => conditions)) {
    const { operator, negated, pipeline, steps } = condition
    if (operator === null) continue
    if (!condition.targets.some(({ source }) => source.volatile)) {
      condition.reads = numberOf(reads, readsKey(condition))
    }
    if (condition.identity !== '') condition.verdict = numberOf(operators, condition.identity)
    if (negated || operator.literals.length === 0) continue
    condition.pattern = numberOf(
      patterns,
      condition.identity === '' ? JSON.stringify(operator.literals) : condition.identity,
    )
    sets[condition.pattern] = operator.literals
    if (condition.reads !== -1 && steps === null && !condition.targets.some(({ count }) => count)) {
      condition.view = numberOf(views, `${condition.reads} ${pipeline.id}`)
    }
  }
  return { patterns: sets, reads: reads.size, views: views.size, operators: operators.size }
}

function readsKey({ targets, exclusions }: Condition): string {
  const list = [targets, exclusions].map(part =>
    part.map(({ variable, selector, count }) => {
      const name = count ? `&${variable}` : variable
      if (selector === null) return name
      return `${name}:${selector.kind === 'key' ? selector.key : `/${selector.source}/`}`
    }),
  )
  return JSON.stringify(list)
}

function numberOf(map: Map<string, number>, key: string): number {
  const known = map.get(key)
  if (known !== undefined) return known
  map.set(key, map.size)
  return map.size - 1
}
