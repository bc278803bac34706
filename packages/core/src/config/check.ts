/** Checks of options. Each adds a fault instead of throwing, so that all are told at once. */
import type { ConfigFault } from '../errors.ts'

/** A whole number from `least` to `most`. */
export function assertWhole(
  place: string,
  value: number,
  least: number,
  most: number,
  faults: ConfigFault[],
): number {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    faults.push({
      place,
      problem: `${String(value)} is no whole number from ${least} to ${most}`,
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
