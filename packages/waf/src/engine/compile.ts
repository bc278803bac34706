/** Patterns become tables and functions, once, when an engine is made. */
import type { Section } from '../body/types.ts'
import { firstAfter, firstBefore } from '../patterns/first.ts'
import { type Machine, machine } from '../patterns/machine.ts'
import type { Pattern, Profile } from '../patterns/pattern.ts'
import { Assembler } from '../patterns/program.ts'
import { isSequence, type Token } from '../patterns/tokens.ts'
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
  /** The only part of a request in which it counts, where there is one. */
  readonly section: Section | null
  /** Where its sequences start in the program of the engine; -1 without one. */
  readonly before: number
  readonly after: number
  /** Looks behind the literal before it looks in front: where the latter searches. */
  readonly afterFirst: boolean
  /** Its number among the rules of the engine. */
  readonly index: number
}

export interface RuleSet {
  readonly automaton: Automaton
  readonly rules: readonly Rule[]
  /** Tries what must stand beside a literal. */
  readonly machine: Machine
  /** Rule of each word of the automaton. */
  readonly ruleOf: readonly Rule[]
  /** Number of the rule of each word. */
  readonly indexOf: Uint16Array
  /**
   * Sets of bytes, {@link SET_SIZE} entries each: 1 for a byte, or the border, that may stand beside a literal; see first.ts.
   * Equal sets are there once.
   */
  readonly sets: Uint8Array
  /** Where in `sets` the set of a word starts: in front of it and behind it. */
  readonly precede: Uint32Array
  readonly follow: Uint32Array
}

/** Compiles the patterns that run in a profile. */
export function compileRules(patterns: readonly Pattern[], profile: Profile): RuleSet {
  const assembler = new Assembler()
  const rules: Rule[] = []
  const words: string[] = []
  const ruleOf: Rule[] = []
  const precede: number[] = []
  const follow: number[] = []
  for (const pattern of patterns) {
    if (pattern.profile === 'aggressive' && profile !== 'aggressive') continue
    const rule: Rule = {
      id: pattern.id,
      category: pattern.category,
      severity: pattern.severity,
      message: pattern.message,
      score: profile === 'aggressive' ? (pattern.aggressive ?? pattern.score) : pattern.score,
      places: pattern.places ?? null,
      section: sectionOf(pattern.places ?? []),
      before: pattern.before === undefined ? -1 : assembler.sequence(pattern.before, -1),
      after: pattern.after === undefined ? -1 : assembler.sequence(pattern.after, 1),
      afterFirst: pattern.before !== undefined && searches(pattern.before),
      index: rules.length,
    }
    rules.push(rule)
    const front = assembler.set(firstBefore(pattern.before ?? []))
    const behind = assembler.set(firstAfter(pattern.after ?? []))
    for (const literal of pattern.literals) {
      words.push(literal)
      ruleOf.push(rule)
      precede.push(front)
      follow.push(behind)
    }
  }
  const program = assembler.finish()
  return {
    automaton: compileAutomaton(words),
    rules,
    machine: machine(program),
    ruleOf,
    indexOf: Uint16Array.from(ruleOf, rule => rule.index),
    sets: program.sets,
    precede: Uint32Array.from(precede),
    follow: Uint32Array.from(follow),
  }
}

/** True when a sequence has a search in it, which costs more than the rest. */
function searches(token: Token): boolean {
  if (typeof token === 'string') return false
  if (isSequence(token)) return token.some(searches)
  if (token.op === 'within') return true
  if (token.op === 'any') return token.of.some(searches)
  return (token.op === 'maybe' || token.op === 'not') && searches(token.of)
}

/** Sections that hold no others: a place that starts with their name is theirs. A multipart body may hold JSON. */
const FIRM: readonly Section[] = ['path', 'query', 'cookie', 'header', 'form', 'json', 'xml', 'graphql']

function sectionOf(places: readonly string[]): Section | null {
  const sections = new Set(places.map(place => FIRM.find(section => place.startsWith(section)) ?? null))
  return sections.size === 1 ? [...sections][0]! : null
}
