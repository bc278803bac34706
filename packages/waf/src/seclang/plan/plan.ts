/** Numbers what the walk has found, and puts the plan together. */
import type { RuleProgram } from '../engine/program.ts'
import type { Target } from '../parse/targets.ts'
import { looksBack } from './constant.ts'
import { List } from './list.ts'
import type { Head, PhasePlan, Slot } from './model.ts'
import { Scope } from './scope.ts'
import { Screen } from './screen.ts'
import { pipelinesOf } from './slot.ts'
import { type Decision, type Walked, type WalkedPhase, walk } from './walk.ts'

export interface Plan {
  readonly phases: readonly PhasePlan[]
  readonly screen: Screen
  /** Variables of `TX` on whose values it rests. */
  readonly watched: ReadonlySet<string>
}

/** Makes the plan of a program; `null` when rules look at what other rules have matched, so that none may be left out. */
export function planOf(program: RuleProgram): Plan | null {
  if (program.set.rules.some(looksBack)) return null
  const slots: (Slot | undefined)[] = []
  const phases = walk(program).map(walked => numbered(walked, slots))
  const scopes = scopesOf(slots)
  return {
    phases: phases.map(phase => ({ ...phase, lists: listsOf(slots, phase, scopes) })),
    screen: new Screen(slots),
    watched: new Set(phases.flatMap(({ heads }) => heads.flatMap(({ assumptions }) => assumptions.keys))),
  }
}

/** Gives a phase words of its own in the bit sets. */
function numbered({ heads, planned }: WalkedPhase, slots: (Slot | undefined)[]): Omit<PhasePlan, 'lists'> {
  const first = Math.ceil(slots.length / 32) * 32
  const base: number[] = []
  // Heads come first, in the order of steps.
  slots.length = first + heads.length
  const finished = heads.map((head, index): Head => {
    if (head.kind === 'block') {
      base.push(first + index)
      return head
    }
    const { step, certain, assumptions, decisions } = head
    const leads = isLed(head)
    if (!leads) base.push(first + index)
    const numbers: number[] = []
    for (const [place, decision] of decisions.entries()) {
      const number = leads && place === 0 ? first + index : slots.length
      slots[number] = slotOf(decision, number)
      if (decision.kind === 'absence') base.push(number)
      if (number !== first + index) numbers.push(number)
    }
    return { kind: 'gate', step, certain, assumptions, slots: numbers }
  })
  const from = first >> 5
  const to = (slots.length + 31) >> 5
  const words = new Uint32Array(to - from)
  for (const bit of base) words[(bit >> 5) - from]! |= 1 << (bit & 31)
  return {
    from,
    to,
    base: words,
    heads: finished,
    headFrom: firstHeads(finished, planned.length),
    planned,
  }
}

/** Whether the first decision alone says whether the rule is looked at. What rests on assumptions is looked at always. */
function isLed({ assumptions, decisions }: Walked): boolean {
  return assumptions.none && decisions.length > 0
}

function slotOf({ condition, operator, kind }: Decision, number: number): Slot {
  // An argument that was filled in holds under an assumption only.
  if (operator === condition.operator && kind === 'value' && condition.steps === null) condition.slot = number
  return { number, condition, operator, kind, pipelines: pipelinesOf(condition) }
}

function firstHeads(heads: readonly Head[], steps: number): Int32Array {
  const found = new Int32Array(steps + 1)
  let head = 0
  for (let step = 0; step <= steps; step++) {
    while (head < heads.length && heads[head]!.step < step) head += 1
    found[step] = head
  }
  return found
}

/** For each variable the slots of all phases that look at its values. */
function scopesOf(slots: readonly (Slot | undefined)[]): Map<string, Scope> {
  const found = new Map<string, Set<Slot>>()
  for (const slot of slots) {
    for (const target of slot?.condition.targets ?? []) {
      const own = found.get(sourceKey(target)) ?? new Set()
      if (slot!.kind === 'value') own.add(slot!)
      found.set(sourceKey(target), own)
    }
  }
  return new Map([...found].map(([key, own]) => [key, new Scope([...own])]))
}

function listsOf(
  slots: readonly (Slot | undefined)[],
  { from, to }: Pick<PhasePlan, 'from' | 'to'>,
  scopes: ReadonlyMap<string, Scope>,
): List[] {
  const lists = new Map<string, List>()
  for (const slot of slots.slice(from * 32, to * 32)) {
    for (const target of slot?.condition.targets ?? []) {
      const key = sourceKey(target)
      let list = lists.get(key)
      if (list === undefined) {
        const { variable, source } = target
        const all: Target =
          source.select === undefined ? { variable, selector: null, count: false, source } : target
        list = new List(all, scopes.get(key)!, from, to)
        lists.set(key, list)
      }
      list.add(slot!, target)
    }
  }
  return [...lists.values()]
}

/** Equal for targets that are read together: those of one variable, unless it picks its members itself. */
function sourceKey({ variable, selector, source }: Target): string {
  if (source.select === undefined || selector === null) return variable
  return selector.kind === 'key' ? `${variable} =${selector.key}` : `${variable} /${selector.source}`
}
