/** The last step of loading: defaults, phases, and what the engine looks up by number. */
import { parseMacro } from '../engine/macro.ts'
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
  numberReads(rules)
  return { settings, phases, rules }
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

/** Numbers lists of variables: what one condition has read need not be gathered again for the next. */
function numberReads(rules: readonly Rule[]): void {
  const numbers = new Map<string, number>()
  for (const condition of rules.flatMap(({ conditions }) => conditions)) {
    if (condition.operator === null || condition.targets.some(({ source }) => source.volatile)) continue
    const key = readsKey(condition)
    condition.reads = numbers.get(key) ?? numbers.size
    numbers.set(key, condition.reads)
  }
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
