/** Turns a series of check results into a state that does not flap. */

/** What the checks say of a target. */
export type CheckState = 'unknown' | 'up' | 'down'

/** Counts results in a row. The first pass decides alone; a failure never does unless `fall` is 1. */
export class Thresholds {
  state: CheckState = 'unknown'
  readonly #rise: number
  readonly #fall: number
  #row = 0

  constructor(rise: number, fall: number) {
    this.#rise = rise
    this.#fall = fall
  }

  /** True when the state changed. */
  record(ok: boolean): boolean {
    if (ok === (this.state === 'up') && this.state !== 'unknown') {
      this.#row = 0
      return false
    }
    if (ok && this.state === 'unknown') return this.#go('up')
    this.#row++
    if (this.#row < (ok ? this.#rise : this.#fall)) return false
    return this.#go(ok ? 'up' : 'down')
  }

  #go(state: CheckState): true {
    this.state = state
    this.#row = 0
    return true
  }
}
