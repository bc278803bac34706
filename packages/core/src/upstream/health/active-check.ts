/** Asks one target again and again how it is. */
import { jitter } from './backoff.ts'
import type { Clock } from './breaker.ts'

/** Sends one check; calls back once with the result. Gives a function that gives it up. */
export type Probe = (done: (ok: boolean) => void) => () => void

/** One check at a time, `interval` ms from the end of one to the start of the next, a tenth more or less. */
export class ActiveCheck {
  readonly #probe: Probe
  readonly #interval: number
  readonly #timeout: number
  readonly #clock: Clock
  readonly #result: (ok: boolean) => void
  #takeBack: (() => void) | null = null
  #giveUp: (() => void) | null = null
  #round = 0

  constructor(
    probe: Probe,
    times: { readonly interval: number; readonly timeout: number },
    clock: Clock,
    result: (ok: boolean) => void,
  ) {
    this.#probe = probe
    this.#interval = times.interval
    this.#timeout = times.timeout
    this.#clock = clock
    this.#result = result
  }

  start(): void {
    const round = ++this.#round
    this.#takeBack = this.#clock.after(this.#timeout, () => this.#over(round, false))
    const giveUp = this.#probe(ok => this.#over(round, ok))
    // A probe may be over before it is known how to give it up.
    if (round === this.#round) this.#giveUp = giveUp
  }

  stop(): void {
    this.#round++
    this.#takeBack?.()
    this.#takeBack = null
    this.#giveUp?.()
    this.#giveUp = null
  }

  #over(round: number, ok: boolean): void {
    if (round !== this.#round) return
    this.stop()
    this.#takeBack = this.#clock.after(
      jitter(this.#interval, () => this.#clock.random()),
      () => this.start(),
    )
    this.#result(ok)
  }
}
