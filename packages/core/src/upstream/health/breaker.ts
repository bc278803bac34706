/**
 * The circuit breaker of one target.
 *
 *   closed ──trip──▶ open ──back-off──▶ half-open ──enough probes answered──▶ closed
 *                      ▲                    │
 *                      └────a probe failed──┘   (the back-off doubles)
 */
import { backoff } from './backoff.ts'

/** Where a breaker stands. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** Settings of a {@link Breaker}. Milliseconds. */
export interface BreakerSettings {
  /** First time out. */
  readonly backoff: number
  /** Longest time out. */
  readonly maxBackoff: number
  /** Requests that may run at once while it is half open. */
  readonly probes: number
  /** Probes that have to be answered in a row before it closes. */
  readonly successes: number
}

/** What a breaker takes from outside: the time, a timer that does not keep the process, chance. */
export interface Clock {
  now(): number
  /** Calls back once; gives a function that takes it back. */
  after(milliseconds: number, run: () => void): () => void
  random(): number
}

/** The system's. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.max(1, Math.ceil(milliseconds))).unref()
    return () => clearTimeout(timer)
  },
  random: Math.random,
}

/** One breaker. Tells through `changed` whenever `allows` or `state` may be another. */
export class Breaker {
  state: BreakerState = 'closed'
  readonly #settings: BreakerSettings
  readonly #clock: Clock
  readonly #changed: (from: BreakerState, to: BreakerState) => void
  /** Counts changes of state: a request that began before one has nothing to say about what is now. */
  #generation = 1
  #probing = 0
  #answered = 0
  #trips = 0
  #closedAt = 0
  #takeBack: (() => void) | null = null
  #stopped = false

  constructor(
    settings: BreakerSettings,
    clock: Clock,
    changed: (from: BreakerState, to: BreakerState) => void,
  ) {
    this.#settings = settings
    this.#clock = clock
    this.#changed = changed
  }

  /** May another request go? */
  get allows(): boolean {
    return this.state === 'closed' || (this.state === 'half-open' && this.#probing < this.#settings.probes)
  }

  /** A request goes. Give the number back with {@link finished}. */
  started(): number {
    if (this.state === 'half-open') {
      this.#probing++
      if (!this.allows) this.#changed(this.state, this.state)
    }
    return this.#generation
  }

  /** A request is over; `null` when it told nothing about the target. */
  finished(generation: number, ok: boolean | null): void {
    if (generation !== this.#generation || this.state !== 'half-open') return
    this.#probing--
    if (ok === false) this.trip()
    else if (ok && ++this.#answered >= this.#settings.successes) this.#close()
    else this.#changed(this.state, this.state)
  }

  /** Out with it, for a time that doubles with each trip. */
  trip(): void {
    if (this.state === 'open' || this.#stopped) return
    const { backoff: first, maxBackoff } = this.#settings
    const now = this.#clock.now()
    if (this.state === 'closed' && now - this.#closedAt > maxBackoff) this.#trips = 0
    const wait = backoff(this.#trips++, first, maxBackoff, () => this.#clock.random())
    this.#takeBack?.()
    this.#takeBack = this.#clock.after(wait, () => {
      this.#takeBack = null
      this.#go('half-open')
    })
    this.#go('open')
  }

  /** No timer is left, and none is set again. */
  stop(): void {
    this.#stopped = true
    this.#takeBack?.()
    this.#takeBack = null
  }

  #close(): void {
    this.#closedAt = this.#clock.now()
    this.#go('closed')
  }

  #go(to: BreakerState): void {
    const from = this.state
    this.state = to
    this.#generation++
    this.#probing = 0
    this.#answered = 0
    this.#changed(from, to)
  }
}
