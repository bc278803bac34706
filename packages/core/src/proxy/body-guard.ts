/** Knows whether a body has been begun: after that it can't be sent again. */
import type { Flow, Sink, Source } from '../pipeline/contract.ts'

/** The same source, and whether it was started. */
export class BodyGuard implements Source {
  readonly #source: Source
  begun = false

  constructor(source: Source) {
    this.#source = source
  }

  get length(): number | null {
    return this.#source.length
  }

  start(sink: Sink): Flow {
    this.begun = true
    return this.#source.start(sink)
  }
}
