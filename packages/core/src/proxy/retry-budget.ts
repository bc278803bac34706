/** Retries must not turn a bad minute into a flood: they are paid from what requests earn. */

/** Tokens that can be saved. */
const MOST_SAVED = 100

/** Each request earns a part of a retry; beside that a few a second are free, for times of little traffic. */
export class RetryBudget {
  readonly #share: number
  readonly #perSecond: number
  readonly #now: () => number
  #earned = 0
  #reserve: number
  #at: number

  /** `percent`: retries that 100 requests earn. `perSecond`: retries a second that cost nothing. */
  constructor(percent: number, perSecond: number, now: () => number = () => performance.now()) {
    this.#share = percent / 100
    this.#perSecond = perSecond
    this.#reserve = perSecond
    this.#now = now
    this.#at = now()
  }

  /** A request came. */
  earn(): void {
    this.#earned = Math.min(MOST_SAVED, this.#earned + this.#share)
  }

  /** May a request be sent again? Takes the price. */
  spend(): boolean {
    const now = this.#now()
    this.#reserve = Math.min(this.#perSecond, this.#reserve + ((now - this.#at) / 1000) * this.#perSecond)
    this.#at = now
    if (this.#earned >= 1) this.#earned--
    else if (this.#reserve >= 1) this.#reserve--
    else return false
    return true
  }
}
