/** A least number of bytes a second for many senders, looked at together: one timer, none a sender. */

/** Somebody who sends. */
export interface Sender {
  /** Bytes so far. */
  readonly received: number
  /** Bytes are due from it now. Not while it waits for us: then it is not to blame, and begins anew. */
  readonly due: boolean
  readonly pace: Pace
  /** It is behind its rate by more than the grace. Called once, after it was removed. */
  tooSlow(): void
}

/** Where a sender stands. Written by {@link MinimumRate} alone. */
export class Pace {
  /** Bytes when it was last looked at, and when that was. */
  seen = 0
  at = 0
  /** Time that it may still be behind, in ms. */
  credit = 0
}

/**
 * Each sender starts with `grace` ms. Time takes from it, bytes give back what they are worth at `rate`, never above `grace`: who
 * keeps the rate is never cut, who stops is cut after `grace`, and a burst buys no longer silence than that.
 */
export class MinimumRate {
  readonly #rate: number
  readonly #grace: number
  readonly #now: () => number
  /** Between two looks, in ms. */
  readonly interval: number
  readonly #senders = new Set<Sender>()
  #timer: NodeJS.Timeout | null = null

  /** `rate` in bytes a second, `grace` in ms. */
  constructor(rate: number, grace: number, now: () => number = () => performance.now()) {
    this.#rate = rate / 1000
    this.#grace = grace
    this.#now = now
    this.interval = Math.min(2000, Math.max(10, Math.ceil(grace / 8)))
  }

  get size(): number {
    return this.#senders.size
  }

  add(sender: Sender): void {
    const { pace } = sender
    pace.seen = sender.received
    pace.at = this.#now()
    pace.credit = this.#grace
    this.#senders.add(sender)
    this.#timer ??= setInterval(() => this.look(), this.interval).unref()
  }

  remove(sender: Sender): void {
    // The timer stays for the next look: senders that come and go one by one make no timer each.
    this.#senders.delete(sender)
  }

  /** Looks at all of them; called by the timer. */
  look(): void {
    if (this.#senders.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer)
      this.#timer = null
    }
    const now = this.#now()
    const most = 2 * this.interval
    for (const sender of this.#senders) {
      const { pace } = sender
      const { received } = sender
      // What came while this process stood still is unread yet: such time is not the senders'.
      const passed = Math.min(now - pace.at, most)
      const earned = (received - pace.seen) / this.#rate
      pace.at = now
      pace.seen = received
      if (!sender.due) pace.credit = this.#grace
      else {
        pace.credit = Math.min(this.#grace, pace.credit + earned) - passed
        if (pace.credit >= 0) continue
        this.remove(sender)
        sender.tooSlow()
      }
    }
  }
}
