/** Checks of options. Each adds a fault instead of throwing, so that all are told at once. */
import type { ConfigFault } from '../errors.ts'

/** What a value has to be. */
export interface Rule {
  /** True when there is no default. */
  readonly required?: true
  readonly check: (place: string, value: unknown, faults: ConfigFault[]) => void
}

/** A rule for each option of `T`. */
export type Table<T> = { readonly [K in keyof Required<T>]: Rule }

/**
 * The options that keep their rules; what does not, an unknown name and a missing required option add faults. `undefined`
 * stands for the default.
 */
export function readOptions<T extends object>(
  place: string,
  given: unknown,
  table: Table<T>,
  faults: ConfigFault[],
): Partial<T> {
  const names = Object.keys(table)
  const list = names.length === 0 ? 'It has no options.' : `It has ${names.join(', ')}.`
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    faults.push({ place, problem: `its options are ${kindOf(given)}, not an object`, fix: list })
    return {}
  }
  const options = (given ?? {}) as Record<string, unknown>
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(table, name)) continue
    const close =
      names.find(known => known.toLowerCase() === name.toLowerCase()) ??
      names.find(known => isClose(known, name))
    const fix = close === undefined ? list : `Did you mean ${close}?`
    faults.push({ place: `${place}.${cut(name)}`, problem: 'there is no such option', fix })
  }
  const fine: Record<string, unknown> = {}
  for (const [name, rule] of Object.entries<Rule>(table)) {
    const value = options[name]
    if (value === undefined) {
      if (rule.required)
        faults.push({ place: `${place}.${name}`, problem: 'it is missing', fix: 'There is no default.' })
      continue
    }
    const before = faults.length
    rule.check(`${place}.${name}`, value, faults)
    if (faults.length === before) fine[name] = value
  }
  return fine as Partial<T>
}

/** The same rule for an option without a default. */
export function needed(rule: Rule): Rule {
  return { required: true, check: rule.check }
}

/** A whole number from `least` to `most`. */
export function whole(least: number, most: number): Rule {
  return { check: (place, value, faults) => void assertWhole(place, value as number, least, most, faults) }
}

/** Milliseconds, from `least` to what a timer can hold. */
export function milliseconds(least: number): Rule {
  return { check: (place, value, faults) => void assertMilliseconds(place, value as number, least, faults) }
}

/** What passes `test`; `what` completes "it is …, not …". */
export function something(what: string, test: (value: unknown) => boolean, fix = `Pass ${what}.`): Rule {
  return {
    check(place, value, faults) {
      if (!test(value)) faults.push({ place, problem: `it is ${kindOf(value)}, not ${what}`, fix })
    },
  }
}

export const flag: Rule = something('true or false', value => typeof value === 'boolean')
export const text: Rule = something('a string', value => typeof value === 'string')
export const callback: Rule = something('a function', value => typeof value === 'function')
export const strings: Rule = something(
  'an array of strings',
  value => Array.isArray(value) && value.every(one => typeof one === 'string'),
)
/** For options that the caller checks with a rule of its own. */
export const unchecked: Rule = { check() {} }

/** A name that stands in logs and metrics: printable ASCII, 1 to 128 characters, no name that objects have of their own. */
export const label: Rule = {
  check(place, value, faults) {
    if (typeof value === 'string' && /^[\x20-\x7e]{1,128}$/.test(value) && !(value in {})) return
    const problem =
      typeof value === 'string'
        ? `${show(value)} cannot stand as a name`
        : `it is ${kindOf(value)}, not a name`
    faults.push({ place, problem, fix: 'Write 1 to 128 printable ASCII characters.' })
  },
}

/** One of a few words. */
export function oneOf(...words: readonly string[]): Rule {
  const last = words.at(-1)
  const choices = `${words
    .slice(0, -1)
    .map(word => `'${word}'`)
    .join(', ')} or '${last}'`
  return {
    check(place, value, faults) {
      if (typeof value === 'string' && words.includes(value)) return
      faults.push({ place, problem: `${show(value)} is unknown`, fix: `Write ${choices}.` })
    },
  }
}

/** `false`, or options that a part checks itself. */
export const partOptions: Rule = something(
  'options or false',
  value => value === false || (typeof value === 'object' && value !== null && !Array.isArray(value)),
  'Write its options, or false to leave it out.',
)

/** What a value is, in words that tell nothing of what it holds. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** A value in a message: strings and numbers as they are, cut; others by their kind. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value))
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : kindOf(value)
}

/** A whole number from `least` to `most`. */
export function assertWhole(
  place: string,
  value: number,
  least: number,
  most: number,
  faults: ConfigFault[],
): number {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    const told = typeof value === 'object' ? kindOf(value) : cut(String(value))
    faults.push({
      place,
      problem: `${told} is no whole number from ${least} to ${most}`,
      fix: 'Choose one in that range.',
    })
  }
  return value
}

/** Milliseconds, from `least` to what a timer can hold. */
export function assertMilliseconds(
  place: string,
  value: number,
  least: number,
  faults: ConfigFault[],
): number {
  return assertWhole(place, value, least, 2_147_483_647, faults)
}

function cut(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text
}

/** True for names that differ in one letter, or in two neighbours that changed places. */
function isClose(known: string, name: string): boolean {
  const a = known.toLowerCase()
  const b = name.toLowerCase()
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  const rest = (one: string, skip: number): string => one.slice(i + skip)
  return (
    rest(a, 1) === rest(b, 1) ||
    rest(a, 1) === rest(b, 0) ||
    rest(a, 0) === rest(b, 1) ||
    (a[i] === b[i + 1] && a[i + 1] === b[i] && rest(a, 2) === rest(b, 2))
  )
}
