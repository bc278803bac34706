/** Walks through the phases of a rule set as a request would in which no rule matches, and finds out what can be known before. */
import { holds, meets } from '../engine/evaluate.ts'
import type { Entry } from '../engine/form.ts'
import type { RuleProgram } from '../engine/program.ts'
import type { Operator } from '../operators/operator.ts'
import type { Condition, Rule, Step } from '../rules/model.ts'
import { Assumptions } from './assumptions.ts'
import { constantReads, constantTest, hasEffects, isCertain, macroReads } from './constant.ts'
import type { Block, Slot } from './model.ts'
import { Recorder } from './recorder.ts'
import { kindOf } from './slot.ts'

/** A condition that values decide, before it has a number. */
export interface Decision {
  readonly condition: Condition
  readonly operator: Operator
  readonly kind: Slot['kind']
}

/** A rule that has to be looked at when all decisions are met; always without any. */
export interface Walked {
  readonly kind: 'rule'
  readonly step: number
  readonly certain: boolean
  readonly assumptions: Assumptions
  readonly decisions: readonly Decision[]
}

export interface WalkedPhase {
  readonly heads: readonly (Block | Walked)[]
  /** See {@link PhasePlan.planned}. */
  readonly planned: Uint8Array
}

type Expected = Map<string, Entry | undefined>

/** Walks through all phases; variables of `TX` go from one to the next. */
export function walk(program: RuleProgram): WalkedPhase[] {
  const recorder = new Recorder(program)
  return program.set.phases.map((_, phase) => new Walk(program, recorder, phase).phase())
}

class Walk {
  readonly #program: RuleProgram
  readonly #recorder: Recorder
  readonly #phase: number
  readonly #steps: readonly Step[]
  readonly #heads: (Block | Walked)[] = []
  readonly #planned: Uint8Array
  /** The block that grows. */
  #open: { readonly step: number; next: number; readonly expected: Expected; readonly rules: Rule[] } | null =
    null

  constructor(program: RuleProgram, recorder: Recorder, phase: number) {
    this.#program = program
    this.#recorder = recorder
    this.#phase = phase
    this.#steps = program.set.phases[phase]!
    this.#planned = new Uint8Array(this.#steps.length)
  }

  phase(): WalkedPhase {
    const landings = this.#landings()
    for (let at = 0; at < this.#steps.length; ) {
      // Where a rule may skip to, there must be a head.
      if (landings.has(at)) this.#close()
      if (this.#open === null) this.#planned[at] = 1
      const found = this.#steps[at]!
      if (found.marker === null) at = this.#rule(found, at)
      else {
        at += 1
        if (this.#open !== null) this.#open.next = at
      }
    }
    this.#close()
    return { heads: this.#heads, planned: this.#planned }
  }

  /** Steps that rules skip to which depend on the request. */
  #landings(): Set<number> {
    const found = new Set<number>()
    for (const [at, rule] of this.#steps.entries()) {
      if (rule.marker !== null || rule.conditions.every(one => constantReads(one) !== null)) continue
      if (rule.skipAfter !== null || rule.skip > 0) found.add(this.#behind(rule, at))
    }
    return found
  }

  /** The step behind a rule that has matched. */
  #behind({ skipAfter, skip }: Rule, at: number): number {
    return skipAfter === null ? at + 1 + skip : this.#program.placeOf(this.#phase, skipAfter, at) + 1
  }

  /** Takes a rule; gives the step to go on with. */
  #rule(rule: Rule, at: number): number {
    if (rule.conditions.every(isCertain) && !rule.conditions.every(one => constantReads(one) !== null)) {
      return this.#certain(rule, at)
    }
    const recorder = this.#recorder
    const mark = recorder.mark()
    const expected: Expected = new Map()
    for (const condition of rule.conditions) {
      const names = constantReads(condition)
      if (names === null) {
        recorder.goBack(mark)
        return this.#dependent(rule, at)
      }
      this.#expect(expected, names)
      if (!meets(recorder, rule, condition)) return this.#constant(rule, at, at + 1, expected)
    }
    const silent = !rule.log && rule.severity === null && rule.disruption.kind === 'pass'
    if (silent) return this.#constant(rule, at, this.#behind(rule, at), expected)
    recorder.goBack(mark)
    return this.#head(at, new Map(), [])
  }

  /** Notes what variables are now, unless the open block has set them itself. */
  #expect(expected: Expected, names: readonly string[]): void {
    for (const name of names) {
      if (!expected.has(name) && !this.#recorder.hasChanged(name))
        expected.set(name, this.#recorder.value(name))
    }
  }

  /** The rule's outcome is known: it goes into the open block. */
  #constant(rule: Rule, at: number, next: number, expected: Expected): number {
    this.#open ??= { step: at, next, expected: new Map(), rules: [] }
    const { expected: known, rules } = this.#open
    for (const [name, entry] of expected) if (!known.has(name)) known.set(name, entry)
    rules.push(rule)
    this.#open.next = next
    return next
  }

  /** The rule always matches, but does more than set variables: it is run as it stands, and what it sets is known. */
  #certain(rule: Rule, at: number): number {
    this.#head(at, new Map(), [], true)
    for (const condition of rule.conditions) meets(this.#recorder, rule, condition)
    this.#recorder.forget()
    return this.#behind(rule, at)
  }

  /** The rule depends on the request. */
  #dependent(rule: Rule, at: number): number {
    const recorder = this.#recorder
    const names: string[] = []
    const decisions: Decision[] = []
    for (const condition of rule.conditions) {
      const constant = constantTest(condition)
      if (constant !== null) {
        names.push(...constant)
        if (!holds(recorder, condition)) {
          const expected: Expected = new Map()
          this.#expect(expected, names)
          return this.#constant(rule, at, at + 1, expected)
        }
      } else {
        const decision = this.#decision(condition, names)
        if (decision === null) break
        decisions.push(decision)
      }
      // What comes behind it can't keep its effects from happening.
      if (hasEffects(condition)) break
    }
    if (decisions.length === 0) return this.#head(at, new Map(), [])
    return this.#head(at, new Map(names.map(name => [name, recorder.value(name)])), decisions)
  }

  /** How values decide a condition; `null` when they don't alone. Adds the variables that its argument names. */
  #decision(condition: Condition, names: string[]): Decision | null {
    let operator = condition.operator!
    if (operator.depends !== undefined) {
      const { argument, fixed } = operator.depends
      const reads = macroReads(argument)
      if (reads === null) return null
      names.push(...reads)
      operator = fixed(this.#recorder.expand(argument))
    }
    const kind = kindOf(condition, operator)
    return kind === null ? null : { condition, operator, kind }
  }

  #head(step: number, expected: Expected, decisions: readonly Decision[], certain = false): number {
    this.#close()
    this.#planned[step] = 1
    const assumptions = new Assumptions(expected)
    this.#heads.push({ kind: 'rule', step, certain, assumptions, decisions })
    return step + 1
  }

  #close(): void {
    const open = this.#open
    this.#open = null
    if (open === null) return
    const { step, next, expected, rules } = open
    const changes = this.#recorder.forget()
    this.#heads.push({ kind: 'block', step, next, assumptions: new Assumptions(expected), changes, rules })
  }
}
