/**
 * How findings add up.
 *
 * A rule counts once a place. In one place, findings of one or two points add up to four at most: many weak signs in a long
 * text are a long text, not an attack. All findings of a place add up to ten at most.
 */

/** Points at which a request is blocked, unless an engine says otherwise. */
export const DEFAULT_THRESHOLD = 5
export const MOST_PER_PLACE = 10
export const MOST_WEAK_PER_PLACE = 4
const WEAK = 2

/** Adds up one request. */
export interface Tally {
  /** Forgets the last request. */
  start(): void
  /** The next finding stands in another place. */
  nextPlace(): void
  /** Adds a finding of this place. */
  add(points: number): void
  total(): number
}

export function tally(): Tally {
  let total = 0
  let place = 0
  let weak = 0
  return {
    start() {
      total = place = weak = 0
    },
    nextPlace() {
      place = weak = 0
    },
    add(points) {
      let counted = points
      if (points <= WEAK) {
        counted = Math.min(points, MOST_WEAK_PER_PLACE - weak)
        weak += counted
      }
      counted = Math.min(counted, MOST_PER_PLACE - place)
      place += counted
      total += counted
    },
    total: () => total,
  }
}
