/** Durations by size. */

/** Upper bounds in seconds: from a cached answer to a hung one. */
export const SECONDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
]

/** Counts in buckets, and their sum. */
export class Histogram {
  readonly bounds: readonly number[]
  /** Not summed up; the last one is what is above all bounds. */
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const { bounds } = this
    let at = 0
    // Most values are small: a walk from below is as quick as a search.
    while (at < bounds.length && value > bounds[at]!) at++
    this.counts[at]!++
    this.sum += value
  }
}
