/** Successes and failures of the last seconds, in a fixed number of cells. */

const CELLS = 10

/** Counts over a sliding window; precise to a tenth of it. */
export class SlidingWindow {
  readonly #cell: number
  readonly #successes = new Uint32Array(CELLS)
  readonly #failures = new Uint32Array(CELLS)
  #current = 0

  /** `length` in ms. */
  constructor(length: number) {
    this.#cell = length / CELLS
  }

  record(ok: boolean, now: number): void {
    this.#advance(now)
    const counts = ok ? this.#successes : this.#failures
    counts[this.#current % CELLS]!++
  }

  /** Everything in the window, and how much of it failed. */
  read(now: number): { total: number; failures: number } {
    this.#advance(now)
    let total = 0
    let failures = 0
    for (let i = 0; i < CELLS; i++) {
      failures += this.#failures[i]!
      total += this.#successes[i]! + this.#failures[i]!
    }
    return { total, failures }
  }

  clear(): void {
    this.#successes.fill(0)
    this.#failures.fill(0)
  }

  #advance(now: number): void {
    const cell = Math.floor(now / this.#cell)
    if (cell <= this.#current) return
    for (let i = Math.max(this.#current + 1, cell - CELLS + 1); i <= cell; i++) {
      this.#successes[i % CELLS] = 0
      this.#failures[i % CELLS] = 0
    }
    this.#current = cell
  }
}
