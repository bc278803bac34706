/** Asks for a name again and again, and tells when its addresses are others. */
import { backoff, jitter } from '../health/backoff.ts'
import type { Clock } from '../health/breaker.ts'
import { type Resolver, readAnswer } from './resolver.ts'

/** Settings of a {@link NameWatch}. Milliseconds. */
export interface NameWatchSettings {
  readonly resolver: Resolver
  /** Between two questions when the answer has no TTL, and never longer than this when it has. */
  readonly interval: number
  /** Never sooner than this, whatever the TTL. */
  readonly minimum: number
  /** An answer that takes longer is a failure. */
  readonly timeout: number
}

/** What a {@link NameWatch} tells. */
export interface NameWatchEvents {
  /** Other addresses than before; never an empty list: a failure or an empty answer keeps the last good one. */
  addresses(addresses: readonly string[]): void
  failed(): void
}

/** Watches one name. */
export class NameWatch {
  failures = 0
  readonly #hostname: string
  readonly #settings: NameWatchSettings
  readonly #events: NameWatchEvents
  readonly #clock: Clock
  #known = ''
  #stopped = false
  #takeBack: (() => void) | null = null
  /** An answer that comes after its time belongs to an older question. */
  #question = 0

  constructor(hostname: string, settings: NameWatchSettings, events: NameWatchEvents, clock: Clock) {
    this.#hostname = hostname
    this.#settings = settings
    this.#events = events
    this.#clock = clock
  }

  start(): void {
    this.#ask()
  }

  stop(): void {
    this.#stopped = true
    this.#takeBack?.()
  }

  #ask(): void {
    const question = ++this.#question
    this.#wait(this.#settings.timeout, () => this.#failed())
    const mine = (): boolean => !this.#stopped && question === this.#question
    let answer: ReturnType<Resolver>
    try {
      answer = Promise.resolve(this.#settings.resolver(this.#hostname))
    } catch {
      this.#failed()
      return
    }
    answer.then(
      found => mine() && this.#answered(found),
      () => mine() && this.#failed(),
    )
  }

  #answered(found: Awaited<ReturnType<Resolver>>): void {
    const { addresses, ttl } = readAnswer(Array.isArray(found) ? found : [])
    if (addresses.length === 0) {
      this.#failed()
      return
    }
    const { interval, minimum } = this.#settings
    this.failures = 0
    const next = ttl === null ? interval : Math.min(interval, Math.max(minimum, ttl * 1000))
    this.#wait(
      jitter(next, () => this.#clock.random()),
      () => this.#ask(),
    )
    const key = addresses.join()
    if (key === this.#known) return
    this.#known = key
    this.#events.addresses(addresses)
  }

  #failed(): void {
    this.#question++
    const { interval, minimum } = this.#settings
    const wait = backoff(this.failures++, minimum, interval, () => this.#clock.random())
    this.#wait(wait, () => this.#ask())
    this.#events.failed()
  }

  #wait(milliseconds: number, run: () => void): void {
    this.#takeBack?.()
    this.#takeBack = this.#clock.after(milliseconds, run)
  }
}
