/** Bodies that are kept and given to many. */
import type { Flow, Sink, Source } from '../pipeline/contract.ts'
import type { Own } from './guard.ts'
import { latin1 } from './latin1.ts'

/**
 * A whole body that many replies share. Whoever starts it gets bytes of its own, unless its sink only reads
 * ({@link Sink.readsOnly}); transports take what is kept as it is. It can be started more than once.
 *
 * A small body is best kept as text of one character a byte: a string costs less than a buffer, is no burden for the garbage
 * collector, and is what HTTP/1.1 writes in one piece with the head.
 */
export class KeptBody implements Source, Own {
  readonly keepsTheRules = true
  readonly length: number
  readonly #kept: Uint8Array | string

  /** @param kept bytes, or latin1 text. Nobody edits the bytes any more. */
  constructor(kept: Uint8Array | string) {
    this.#kept = kept
    this.length = kept.length
  }

  /** The bytes, to be read only: others have them too. */
  get bytes(): Uint8Array {
    return typeof this.#kept === 'string' ? Buffer.from(this.#kept, 'latin1') : this.#kept
  }

  /** The bytes as text, one character a byte. */
  get text(): string {
    return typeof this.#kept === 'string' ? this.#kept : latin1(this.#kept)
  }

  start(sink: Sink): Flow {
    const flow = new Whole()
    const own = typeof this.#kept === 'string' || sink.readsOnly === true
    if (this.length > 0) sink.write(own ? this.bytes : Uint8Array.prototype.slice.call(this.#kept))
    if (!flow.cancelled) sink.end()
    return flow
  }
}

/** All is given at once: nothing is left to pause. */
class Whole implements Flow {
  cancelled = false

  pause(): void {}

  resume(): void {}

  cancel(): void {
    this.cancelled = true
  }
}
