/** Keys whose answers could not be shared: for a while nobody waits for another's (hit-for-miss). Bounded. */
import { createHash } from 'node:crypto'
import QuickLRU from 'quick-lru'
import { flavourOf, type Question } from '../policy/request.ts'

/** Keys that are remembered. */
const REMEMBERED = 10_000

export class Unshared {
  readonly #until = new QuickLRU<string, number>({ maxSize: REMEMBERED / 2 })
  readonly #duration: number
  readonly #now: () => number

  /** @param duration milliseconds for which a key is remembered */
  constructor(duration: number, now: () => number) {
    this.#duration = duration
    this.#now = now
  }

  has(key: string, question: Question): boolean {
    const until = this.#until.get(named(key, question))
    return until !== undefined && until > this.#now()
  }

  remember(key: string, question: Question): void {
    if (this.#duration > 0) this.#until.set(named(key, question), this.#now() + this.#duration)
  }

  forget(key: string, question: Question): void {
    this.#until.delete(named(key, question))
  }
}

function named(key: string, question: Question): string {
  // Long keys must not make the memory of it large.
  const short = key.length > 256 ? createHash('sha256').update(key).digest('base64') : key
  return `${flavourOf(question)}${short}`
}
