/** Patterns become tables and functions, once, when an engine is made. */
import { compileAfter, compileBefore, type Matcher } from '../patterns/compile.ts'
import type { Pattern, Profile } from '../patterns/pattern.ts'
import { type Automaton, compileAutomaton } from '../scanner/automaton.ts'
import type { Category, Severity } from './types.ts'

/** A pattern as the scan needs it. */
export interface Rule {
  readonly id: string
  readonly category: Category
  readonly severity: Severity
  readonly message: string
  readonly score: number
  readonly places: readonly string[] | null
  readonly before: Matcher | null
  readonly after: Matcher | null
  /** Its number among the rules of the engine. */
  readonly index: number
}

export interface RuleSet {
  readonly automaton: Automaton
  readonly rules: readonly Rule[]
  /** Rule of each word of the automaton. */
  readonly ruleOf: readonly Rule[]
}

/** Compiles the patterns that run in a profile. */
export function compileRules(patterns: readonly Pattern[], profile: Profile): RuleSet {
  const rules: Rule[] = []
  const words: string[] = []
  const ruleOf: Rule[] = []
  for (const pattern of patterns) {
    if (pattern.profile === 'aggressive' && profile !== 'aggressive') continue
    const rule: Rule = {
      id: pattern.id,
      category: pattern.category,
      severity: pattern.severity,
      message: pattern.message,
      score: profile === 'aggressive' ? (pattern.aggressive ?? pattern.score) : pattern.score,
      places: pattern.places ?? null,
      before: pattern.before === undefined ? null : compileBefore(pattern.before),
      after: pattern.after === undefined ? null : compileAfter(pattern.after),
      index: rules.length,
    }
    rules.push(rule)
    for (const literal of pattern.literals) {
      words.push(literal)
      ruleOf.push(rule)
    }
  }
  return { automaton: compileAutomaton(words), rules, ruleOf }
}
