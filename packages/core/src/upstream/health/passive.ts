/** What traffic tells about a target: failures in a row, the share of failures, latency against its peers. */
import { SlidingWindow } from './window.ts'

/** Why traffic says that a target is bad. A bounded set: fit for a label. */
export type PassiveReason = 'consecutive-failures' | 'error-rate' | 'slow'

/** Settings of {@link PassiveCheck}; a part that is `null` is not looked at. */
export interface PassiveSettings {
  readonly consecutive: number | null
  readonly errorRate: { readonly share: number; readonly window: number; readonly atLeast: number } | null
  readonly slow: { readonly factor: number; readonly atLeast: number; readonly requests: number } | null
}

/** Weight of one observation in the average latency: about the last twenty count. */
const WEIGHT = 0.1

/** The passive view of one target. */
export class PassiveCheck {
  /** Average milliseconds to a reply's head. */
  latency = 0
  /** Observations in it. */
  observed = 0
  readonly #settings: PassiveSettings
  readonly #window: SlidingWindow | null
  #row = 0

  constructor(settings: PassiveSettings) {
    this.#settings = settings
    this.#window = settings.errorRate ? new SlidingWindow(settings.errorRate.window) : null
  }

  /** A request is over. Gives the reason when that was one failure too many. */
  record(ok: boolean, now: number): PassiveReason | null {
    const { consecutive, errorRate } = this.#settings
    this.#row = ok ? 0 : this.#row + 1
    if (this.#window) this.#window.record(ok, now)
    if (ok) return null
    if (consecutive !== null && this.#row >= consecutive) return 'consecutive-failures'
    if (this.#window && errorRate) {
      const { total, failures } = this.#window.read(now)
      if (total >= errorRate.atLeast && failures / total >= errorRate.share) return 'error-rate'
    }
    return null
  }

  /** A reply's head came after so many milliseconds. */
  observe(milliseconds: number): void {
    this.observed++
    const weight = Math.max(WEIGHT, 1 / this.observed)
    this.latency += (milliseconds - this.latency) * weight
  }

  /**
   * Slow against its peers: above `factor` times their median and by more than `atLeast` ms. Peers that have not answered
   * enough are left out; with fewer than two left nobody can say.
   */
  isSlow(peers: readonly PassiveCheck[]): boolean {
    const { slow } = this.#settings
    if (slow === null || this.observed < slow.requests) return false
    const others = peers
      .filter(peer => peer !== this && peer.observed >= slow.requests)
      .map(peer => peer.latency)
      .sort((a, b) => a - b)
    if (others.length < 2) return false
    const half = others.length >> 1
    const median = others.length % 2 === 1 ? others[half]! : (others[half - 1]! + others[half]!) / 2
    return this.latency > median * slow.factor && this.latency - median > slow.atLeast
  }

  /** Back from a time out: what was before says nothing any more. */
  clear(): void {
    this.#row = 0
    this.#window?.clear()
    this.latency = 0
    this.observed = 0
  }
}
