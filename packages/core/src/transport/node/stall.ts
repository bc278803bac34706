/** A client that does not take its answer must not hold it, and what is behind it, for ever. */
import { ProxyError } from '../../errors.ts'
import { type Deadline, type Deadlines, noDeadline } from '../../proxy/deadlines.ts'

/** What a client has to take in each `sendTimeout`, or all that waits if that is less. About 2 KB/s at 60 s. */
const LEAST_BYTES = 131_072

/** Runs while bytes wait for one client. Made only for answers that had to wait once. */
export class Stall implements Deadline {
  readonly deadline: Deadline['deadline'] = noDeadline()
  readonly #deadlines: Deadlines
  readonly #unsent: () => number | null
  readonly #cut: (error: ProxyError) => void
  #turns = 0

  /** `unsent` gives the bytes that wait, `null` while it is not this answer's turn to be sent. */
  constructor(deadlines: Deadlines, unsent: () => number | null, cut: (error: ProxyError) => void) {
    this.#deadlines = deadlines
    this.#unsent = unsent
    this.#cut = cut
  }

  /** Bytes wait. */
  start(): void {
    if (this.deadline.at !== 0) return
    this.#turns = Math.ceil((this.#unsent() ?? 0) / LEAST_BYTES)
    this.#deadlines.add(this)
  }

  /** All has been taken, or the answer is over. */
  stop(): void {
    this.#deadlines.remove(this)
  }

  onDeadline(): void {
    const unsent = this.#unsent()
    if (unsent === 0) return
    // One write may be larger than what a slow client takes in that time: it gets a turn for each part.
    const parts = Math.ceil((unsent ?? 0) / LEAST_BYTES)
    if (unsent === null || this.#turns === 0) this.#turns = parts
    else {
      this.#turns = Math.min(this.#turns - 1, parts)
      if (this.#turns === 0) {
        this.#cut(new ProxyError({ source: 'client', phase: 'reply-body', code: 'send-timeout' }))
        return
      }
    }
    this.#deadlines.add(this)
  }
}
