/** Time in coarse steps: one timer for all connections of a pool, and a number to compare instead of a timer a request. */

/** Shortest and longest step, in ms. */
const SHORTEST = 4
const LONGEST = 1000

/** Counts steps while it runs. A time that is counted in them is over up to an eighth late. */
export class Ticks {
  /** Steps so far. */
  now = 0
  readonly #step: number
  readonly #onTick: () => void
  #timer: NodeJS.Timeout | null = null

  /** `shortest`: of the times that will be counted, in ms. */
  constructor(shortest: number, onTick: () => void) {
    this.#step = Math.max(SHORTEST, Math.min(LONGEST, Math.floor(shortest / 8)))
    this.#onTick = onTick
  }

  /** So many ms as steps: never less, at most a step more. */
  of(milliseconds: number): number {
    return Math.ceil(milliseconds / this.#step) + 1
  }

  start(): void {
    // Steps are counted, not looked up on a clock: what arrived while the process was busy is read before time is up.
    this.#timer ??= setInterval(() => {
      this.now++
      this.#onTick()
    }, this.#step).unref()
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }
}
