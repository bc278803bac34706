/** Latency as an exponentially weighted moving average that rises at once and falls slowly. */

/** Milliseconds after which an old observation counts for 1/e. */
const DECAY = 10_000

/**
 * A peak is believed at once, an improvement over the next ten seconds: who has just been slow gets little. Without
 * requests the value falls too, so that a target is tried again.
 */
export class PeakEwma {
  #value = 0
  #at = 0

  observe(milliseconds: number, now: number): void {
    const before = this.read(now)
    const weight = Math.exp(-Math.max(0, now - this.#at) / DECAY)
    this.#value = milliseconds > before ? milliseconds : before * weight + milliseconds * (1 - weight)
    this.#at = now
  }

  /** Milliseconds; 0 when nothing is known. */
  read(now: number): number {
    return this.#value === 0 ? 0 : this.#value * Math.exp(-Math.max(0, now - this.#at) / DECAY)
  }

  /** Milliseconds as they were observed, without decay. */
  get last(): number {
    return this.#value
  }
}
