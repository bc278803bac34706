/** Checks of what stands in `use()`, when an app is built. */

import { kindOf, label } from '../config/check.ts'
import type { ConfigFault } from '../errors.ts'
import { isThenable } from './answer.ts'
import type { AnyFilter } from './plan.ts'

const HOOKS = [
  'onRequest',
  'holdBody',
  'onRequestBody',
  'onForward',
  'onAttempt',
  'onReply',
  'replyBody',
  'onDone',
] as const
const KNOWN: ReadonlySet<string> = new Set(['name', 'state', 'parts', ...HOOKS])

/** A bundle's parts, and theirs. */
export function partsOf(filter: AnyFilter): AnyFilter[] {
  const parts: unknown = (filter as AnyFilter | null | undefined)?.parts
  return Array.isArray(parts) ? parts.flatMap(part => [part, ...partsOf(part)]) : []
}

/** False for what cannot be a part of a plan. */
export function checkFilter(filter: AnyFilter, faults: ConfigFault[]): boolean {
  const before = faults.length
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) {
    const fix = 'Call the factory of the filter: use(baseline()), not use(baseline).'
    faults.push({ place: 'use()', problem: `it is given ${kindOf(filter)}, not a filter`, fix })
    return false
  }
  const { name } = filter
  if (typeof name !== 'string' || name === '') {
    faults.push({
      place: 'use()',
      problem: 'a filter has no name',
      fix: 'Give it one; it appears in the log.',
    })
    return true
  }
  label.check('use() name', name, faults)
  const place = `filter ${name}`
  for (const hook of [...HOOKS, 'state'] as const) {
    const given: unknown = filter[hook]
    if (given === undefined || typeof given === 'function') continue
    faults.push({
      place,
      problem: `${hook} is ${kindOf(given)}, not a function`,
      fix: 'Write a function, or leave it out.',
    })
  }
  if (filter.parts !== undefined && !Array.isArray(filter.parts)) {
    faults.push({
      place,
      problem: `parts is ${kindOf(filter.parts)}, not an array`,
      fix: 'Use bundle(name, …).',
    })
  }
  // Only what looks like a hook: a filter may carry things of its own.
  for (const key of Object.keys(filter)) {
    if (KNOWN.has(key) || !/^(?:on|hold|reply)[A-Z_]|^on[a-z]+$/.test(key)) continue
    faults.push({ place, problem: `there is no hook ${key}`, fix: `The hooks are ${HOOKS.join(', ')}.` })
  }
  return faults.length === before
}

/** What a filter's state() gives when the app is built. */
export function checkState(filter: AnyFilter, faults: ConfigFault[]): void {
  if (!filter.state) return
  const place = `filter ${filter.name}`
  const fix = 'Return a new object with its state fields.'
  if (faults.some(fault => fault.place === place)) return
  try {
    const state: unknown = filter.state()
    if (isThenable(state)) {
      Promise.resolve(state).catch(() => {})
      const later = 'Make the state at once; wait in onRequest, and write what came of it into the state.'
      faults.push({ place, problem: 'state() gives a promise', fix: later })
      return
    }
    if (typeof state === 'object' && state !== null) return
    faults.push({ place, problem: `state() gives ${state === null ? 'null' : typeof state}`, fix })
  } catch (error) {
    faults.push({
      place,
      problem: `state() throws ${error instanceof Error ? error.message : 'something'}`,
      fix,
    })
  }
}
