/** What was purged while a response was on its way: it must then not be stored. Bounded. */

/** Tags that are remembered while the head has not come; more, and it is not stored at all. */
const MOST_TAGS = 256

export class Doom {
  /** Whatever it turns out to be. */
  whole = false
  readonly #tags = new Set<string>()

  tag(tag: string): void {
    if (this.#tags.size < MOST_TAGS) this.#tags.add(tag)
    else this.whole = true
  }

  /** True for a response with these tags. */
  takes(tags: readonly string[]): boolean {
    return this.whole || tags.some(tag => this.#tags.has(tag))
  }
}
