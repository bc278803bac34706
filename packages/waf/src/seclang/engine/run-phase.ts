/** Runs a phase: by the plan where there is one, else rule by rule. */

import type { Block, PhasePlan } from '../plan/model.ts'
import { runStep } from './evaluate.ts'
import type { Transaction } from './transaction.ts'

/** Runs a phase. What rules ask for stands in the transaction afterwards. */
export function runPhase(tx: Transaction, phase: number): void {
  if (tx.mode === 'Off') return
  if (phase < 5 && (tx.interruption !== null || phase <= tx.allowedUpTo)) return
  const { plan, set } = tx.program
  if (plan !== null)
    return runPlanned(tx, phase, plan.phases[phase]!, plan.screen.run(tx, plan.phases[phase]!))
  const end = set.phases[phase]!.length
  for (let at = 0; at !== -1 && at < end; ) at = runStep(tx, phase, at)
}

function runPlanned(tx: Transaction, phase: number, plan: PhasePlan, met: Uint32Array): void {
  const { heads, headFrom, planned, from } = plan
  const { variables } = tx
  const end = planned.length
  // A phase that was left out, or left early, has not set what the plan expects.
  if (phase !== tx.plannedPhases + 1) variables.asPlanned = false
  for (let at = 0; at !== -1; ) {
    let number = -1
    if (at < end && planned[at] === 1) number = nextMet(met, from, headFrom[at]!, heads.length)
    if (at >= end || (planned[at] === 1 && number === -1)) {
      tx.plannedPhases = phase
      return
    }
    let step = at
    if (number !== -1) {
      const head = heads[number]!
      if (head.kind === 'block') {
        if (stands(tx, head)) {
          variables.replay(head.changes)
          at = head.next
          continue
        }
      } else if (!allMet(met, head.slots) && head.assumptions.hold(variables)) {
        at = head.step + 1
        continue
      }
      step = head.step
      at = runStep(tx, phase, step)
      // The plan goes on behind a rule as if it had not matched, or had matched as always.
      if (head.kind === 'block' || head.certain || at !== step + 1) variables.asPlanned = false
    } else at = runStep(tx, phase, step)
  }
}

function stands(tx: Transaction, { assumptions, rules }: Block): boolean {
  const { variables, removed } = tx
  return assumptions.hold(variables) && !(removed.any && rules.some(rule => removed.hasRule(rule)))
}

function allMet(met: Uint32Array, slots: readonly number[]): boolean {
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i]!
    if ((met[slot >> 5]! & (1 << (slot & 31))) === 0) return false
  }
  return true
}

/** The first number from `at` on, below `end`, whose bit is set, counted from the first bit of word `from`; -1 without one. */
function nextMet(met: Uint32Array, from: number, at: number, end: number): number {
  let word = at >> 5
  let bits = word << 5 < end ? met[from + word]! & (-1 << (at & 31)) : 0
  while (bits === 0) {
    word += 1
    if (word << 5 >= end) return -1
    bits = met[from + word]!
  }
  const found = (word << 5) + 31 - Math.clz32(bits & -bits)
  return found < end ? found : -1
}
