/** A bound for streams of zlib that are open at the same time: each holds up to some hundred KB outside the heap. */
export class Slots {
  readonly #most: number
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  /** A function that gives the slot back, to be called once; `null` when there is none. */
  take(): (() => void) | null {
    if (this.#taken >= this.#most) return null
    this.#taken++
    return () => void this.#taken--
  }

  get taken(): number {
    return this.#taken
  }
}
