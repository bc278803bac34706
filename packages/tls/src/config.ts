/** Checks of options. Each adds a fault instead of throwing, so that all are told at once. */
import type { ConfigFault } from '@postern/core'

/** What a timer of Node can hold, in ms. */
const LONGEST = 2_147_483_647

/** Refuses names that no option has: a misspelt one would silently mean the default. */
export function assertKnown(
  place: string,
  options: unknown,
  known: readonly string[],
  faults: ConfigFault[],
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    faults.push({ place, problem: 'it is no object', fix: `Write { ${known[0]}: … }.` })
    return
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    const fix = `The options are ${known.join(', ')}.`
    faults.push({ place: `${place}.${name.slice(0, 80)}`, problem: 'there is no such option', fix })
  }
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
    const problem = `${String(value)} is no whole number from ${least} to ${most}`
    faults.push({ place, problem, fix: 'Choose one in that range.' })
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
  return assertWhole(place, value, least, LONGEST, faults)
}

/** One of the choices. */
export function assertChoice<T>(place: string, value: T, choices: readonly T[], faults: ConfigFault[]): T {
  if (!choices.includes(value)) {
    const fix = `Choose of ${choices.map(choice => JSON.stringify(choice)).join(', ')}.`
    faults.push({ place, problem: `${shown(value)} is no choice`, fix })
  }
  return value
}

/** A function, or nothing. */
export function assertFunction(place: string, value: unknown, faults: ConfigFault[]): void {
  if (value !== undefined && typeof value !== 'function') {
    faults.push({ place, problem: 'it is not a function', fix: 'Pass a function, or leave it out.' })
  }
}

/** A value in a message: bounded, on one line. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
