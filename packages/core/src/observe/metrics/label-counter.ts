/** Counts by labels, and never by more of them than a bound. */
import { printable } from '../redact.ts'

/** Longest value of a label. */
const LONGEST = 128
/** Stands for all that came after the bound was reached. */
export const OTHER = '(other)'

/** A counter with labels. */
export class LabelCounter {
  readonly #most: number
  readonly #width: number
  readonly #series = new Map<string, { values: readonly string[]; count: number }>()

  /** `width` labels; `most` combinations of them. */
  constructor(width: number, most: number) {
    this.#width = width
    this.#most = most
  }

  add(values: readonly string[], by = 1): void {
    const key = values.join('\0')
    let series = this.#series.get(key)
    if (series === undefined) {
      if (this.#series.size >= this.#most) return this.#addOther(by)
      series = { values: values.map(value => printable(value, LONGEST)), count: 0 }
      this.#series.set(key, series)
    }
    series.count += by
  }

  *[Symbol.iterator](): Generator<{ readonly values: readonly string[]; readonly count: number }> {
    yield* this.#series.values()
  }

  #addOther(by: number): void {
    // One more than the bound, once.
    let other = this.#series.get(OTHER)
    if (other === undefined) {
      other = { values: new Array<string>(this.#width).fill(OTHER), count: 0 }
      this.#series.set(OTHER, other)
    }
    other.count += by
  }
}
