/** Many deadlines of one duration: a queue and a single timer, instead of a timer a request. */

/** Something that may run out of time. */
export interface Deadline {
  /** Called once when the time is up. */
  onDeadline(): void
  /** Links of the queue; `at` is 0 outside of it. */
  deadline: { at: number; before: Deadline | null; after: Deadline | null }
}

/** Fresh links. */
export function noDeadline(): Deadline['deadline'] {
  return { at: 0, before: null, after: null }
}

/** Deadlines `duration` ms from when they are added; the first in is the first out. Fires up to an eighth late. */
export class Deadlines {
  readonly #duration: number
  readonly #now: () => number
  #first: Deadline | null = null
  #last: Deadline | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(duration: number, now: () => number = () => performance.now()) {
    this.#duration = duration
    this.#now = now
  }

  add(item: Deadline): void {
    const links = item.deadline
    links.at = this.#now() + this.#duration
    links.before = this.#last
    links.after = null
    if (this.#last) this.#last.deadline.after = item
    else this.#first = item
    this.#last = item
    this.#timer ??= this.#wait(this.#duration)
  }

  remove(item: Deadline): void {
    const { at, before, after } = item.deadline
    if (at === 0) return
    item.deadline.at = 0
    if (before) before.deadline.after = after
    else this.#first = after
    if (after) after.deadline.before = before
    else this.#last = before
    item.deadline.before = item.deadline.after = null
  }

  #wait(time: number): NodeJS.Timeout {
    // Not sooner than an eighth: under load one wake-up serves many.
    return setTimeout(
      () => this.#expire(),
      Math.max(1, Math.ceil(Math.max(time, this.#duration / 8))),
    ).unref()
  }

  #expire(): void {
    this.#timer = null
    const now = this.#now()
    while (this.#first && this.#first.deadline.at <= now) {
      const item = this.#first
      this.remove(item)
      item.onDeadline()
    }
    if (this.#first && this.#timer === null) this.#timer = this.#wait(this.#first.deadline.at - now)
  }
}
