/** All that is known about one target's health, as one state. */
import type { Verdict } from '../target.ts'
import { Breaker, type BreakerSettings, type Clock } from './breaker.ts'
import { PassiveCheck, type PassiveReason, type PassiveSettings } from './passive.ts'
import { type CheckState, Thresholds } from './thresholds.ts'

/** Health of a target, from the strongest reason not to use it. */
export type HealthState = 'up' | 'unknown' | 'down' | 'open' | 'half-open'

/** Why a state changed. A bounded set: fit for a label. */
export type HealthReason =
  | PassiveReason
  | 'check-passed'
  | 'check-failed'
  | 'back-off-over'
  | 'probes-answered'
  | 'probe-failed'

/** Settings of a {@link TargetHealth}. */
export interface HealthSettings {
  readonly passive:
    | (PassiveSettings & { readonly statuses: ReadonlySet<number>; readonly breaker: BreakerSettings })
    | null
  readonly checks: { readonly rise: number; readonly fall: number; readonly initiallyUp: boolean } | null
}

/** Milliseconds between two comparisons with the peers. */
const COMPARE_EVERY = 500

/** Traffic and checks of one target. `changed` is told when its state is another, and when it may be used or not. */
export class TargetHealth {
  readonly passive: PassiveCheck | null
  readonly #settings: HealthSettings
  readonly #clock: Clock
  readonly #breaker: Breaker | null
  readonly #checks: Thresholds | null
  readonly #peers: () => readonly PassiveCheck[]
  readonly #changed: (from: HealthState, to: HealthState, reason: HealthReason) => void
  #state: HealthState
  #reason: HealthReason = 'check-passed'
  #comparedAt = 0

  constructor(
    settings: HealthSettings,
    clock: Clock,
    peers: () => readonly PassiveCheck[],
    changed: (from: HealthState, to: HealthState, reason: HealthReason) => void,
  ) {
    const { passive, checks } = settings
    this.#settings = settings
    this.#clock = clock
    this.#peers = peers
    this.#changed = changed
    this.passive = passive ? new PassiveCheck(passive) : null
    this.#breaker = passive ? new Breaker(passive.breaker, clock, (from, to) => this.#moved(from, to)) : null
    this.#checks = checks ? new Thresholds(checks.rise, checks.fall) : null
    this.#state = this.state
  }

  get state(): HealthState {
    const checked: CheckState = this.#checks?.state ?? 'up'
    if (checked === 'down') return 'down'
    if (this.#breaker && this.#breaker.state !== 'closed') return this.#breaker.state
    return checked
  }

  /** May it be given a request now? */
  get usable(): boolean {
    const checked: CheckState = this.#checks?.state ?? 'up'
    if (checked === 'down' || (checked === 'unknown' && !this.#settings.checks!.initiallyUp)) return false
    return this.#breaker === null || this.#breaker.allows
  }

  /** A check is over. */
  checked(ok: boolean): void {
    if (this.#checks?.record(ok)) this.#settle(ok ? 'check-passed' : 'check-failed')
  }

  /** A request goes; the ticket is for what is told of it later. 0 when nobody wants to know. */
  started(): number {
    return this.#breaker === null ? 0 : this.#breaker.started()
  }

  /**
   * A head came. A bad status is already the verdict; a good one is for a probe, which need not wait for a long body.
   * Gives the ticket, or 0 when nothing more is to be told.
   */
  headed(ticket: number, milliseconds: number, status: number): number {
    const { passive } = this.#settings
    if (passive === null || ticket === 0) return 0
    const ok = !passive.statuses.has(status)
    if (ok) {
      this.passive!.observe(milliseconds)
      if (passive.slow !== null) this.#compare()
    }
    if (ok && this.#breaker!.state !== 'half-open') return ticket
    this.#record(ticket, ok)
    return 0
  }

  /** It is over, and its head did not decide. */
  finished(ticket: number, verdict: Verdict): void {
    if (this.#breaker === null || ticket === 0) return
    if (verdict === 'neutral') this.#breaker.finished(ticket, null)
    else this.#record(ticket, verdict === 'ok')
  }

  stop(): void {
    this.#breaker?.stop()
  }

  #record(ticket: number, ok: boolean): void {
    const breaker = this.#breaker!
    if (breaker.state === 'half-open') {
      this.#reason = ok ? 'probes-answered' : 'probe-failed'
      breaker.finished(ticket, ok)
      return
    }
    const reason = this.passive!.record(ok, this.#clock.now())
    if (reason !== null) this.#trip(reason)
  }

  #compare(): void {
    const now = this.#clock.now()
    if (this.#breaker!.state !== 'closed' || now - this.#comparedAt < COMPARE_EVERY) return
    this.#comparedAt = now
    if (this.passive!.isSlow(this.#peers())) this.#trip('slow')
  }

  #trip(reason: PassiveReason): void {
    this.#reason = reason
    this.#breaker!.trip()
  }

  #moved(from: string, to: string): void {
    if (from !== to && to === 'half-open') this.#reason = 'back-off-over'
    if (from === 'half-open' && to === 'closed') {
      this.#reason = 'probes-answered'
      this.passive!.clear()
    }
    this.#settle(this.#reason)
  }

  #settle(reason: HealthReason): void {
    const before = this.#state
    this.#state = this.state
    this.#changed(before, this.#state, reason)
  }
}
