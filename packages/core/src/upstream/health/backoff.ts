/** Times between tries: doubling to a bound, spread so that many do not come back at once. */

/** Milliseconds before try `attempt` (from 0): half of it fixed, half drawn. */
export function backoff(attempt: number, first: number, most: number, random: () => number): number {
  const full = Math.min(most, first * 2 ** Math.min(attempt, 30))
  return full / 2 + (full / 2) * random()
}

/** `milliseconds` with a tenth more or less. */
export function jitter(milliseconds: number, random: () => number): number {
  return milliseconds * (0.9 + 0.2 * random())
}
