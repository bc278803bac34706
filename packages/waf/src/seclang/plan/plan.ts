/** Numbers what the walk has found, and puts the plan together. */
import type { RuleProgram } from '../engine/program.ts'
import type { Target } from '../parse/targets.ts'
import { looksBack } from './constant.ts'
import { List } from './list.ts'
import type { Head, PhasePlan, Slot } from './model.ts'
import { Screen } from './screen.ts'
import { pipelinesOf } from './slot.ts'
import { type Decision, type Walked, type WalkedPhase, walk } from './walk.ts'

export interface Plan {
  readonly phases: readonly PhasePlan[]
  readonly screen: Screen
}

/** Makes the plan of a program; `null` when rules look at what other rules have matched, so that none may be left out. */
export function planOf(program: RuleProgram): Plan | null {
  if (program.set.rules.some(looksBack)) return null
  const slots: (Slot | undefined)[] = []
  const phases = walk(program).map(walked => numbered(walked, slots))
  return { phases, screen: new Screen(slots) }
}

/** Gives a phase words of its own in the bit sets. */
function numbered({ heads, planned }: WalkedPhase, slots: (Slot | undefined)[]): PhasePlan {
  const first = Math.ceil(slots.length / 32) * 32
  const base: number[] = []
  // Heads come first, in the order of steps.
  slots.length = first + heads.length
  const finished = heads.map((head, index): Head => {
    if (head.kind === 'block') {
      base.push(first + index)
      return head
    }
    const { step, assumptions, decisions } = head
    const leads = isLed(head)
    if (!leads) base.push(first + index)
    const numbers: number[] = []
    for (const [place, decision] of decisions.entries()) {
      const number = leads && place === 0 ? first + index : slots.length
      slots[number] = slotOf(decision, number)
      if (decision.kind === 'absence') base.push(number)
      if (number !== first + index) numbers.push(number)
    }
    return { kind: 'gate', step, assumptions, slots: numbers }
  })
  const from = first >> 5
  const to = (slots.length + 31) >> 5
  const words = new Uint32Array(to - from)
  for (const bit of base) words[(bit >> 5) - from]! |= 1 << (bit & 31)
  const own = slots.slice(first).filter(slot => slot !== undefined)
  return {
    from,
    to,
    base: words,
    heads: finished,
    headFrom: firstHeads(finished, planned.length),
    planned,
    lists: listsOf(own, from, to),
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

function listsOf(slots: readonly Slot[], from: number, to: number): List[] {
  const lists = new Map<string, List>()
  for (const slot of slots) {
    for (const target of slot.condition.targets) {
      const { variable, selector, source } = target
      const key = source.select === undefined ? variable : `${variable} ${sourceKey(selector)}`
      let list = lists.get(key)
      if (list === undefined) {
        const all: Target =
          source.select === undefined ? { variable, selector: null, count: false, source } : target
        list = new List(all, from, to)
        lists.set(key, list)
      }
      list.add(slot, target)
    }
  }
  return [...lists.values()]
}

function sourceKey(selector: Target['selector']): string {
  return selector === null ? '' : selector.kind === 'key' ? `=${selector.key}` : `/${selector.source}`
}
