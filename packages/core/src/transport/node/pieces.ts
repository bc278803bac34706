/** A large body of known bytes as a source, so that no single write is too large to see whether a client takes it. */
import type { Flow, Sink, Source } from '../../pipeline/contract.ts'

const PIECE = 65_536

/** Gives `bytes` in pieces of 64 KiB. */
export function piecesOf(bytes: Uint8Array): Source {
  return { length: bytes.length, start: sink => new Pieces(bytes, sink) }
}

class Pieces implements Flow {
  readonly #bytes: Uint8Array
  readonly #sink: Sink
  #next = 0
  #paused = false
  #over = false

  constructor(bytes: Uint8Array, sink: Sink) {
    this.#bytes = bytes
    this.#sink = sink
    this.#run()
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    this.#run()
  }

  cancel(): void {
    this.#over = true
  }

  #run(): void {
    while (!this.#paused && !this.#over) {
      if (this.#next >= this.#bytes.length) {
        this.#over = true
        this.#sink.end()
        return
      }
      const piece = this.#bytes.subarray(this.#next, this.#next + PIECE)
      this.#next += piece.length
      if (!this.#sink.write(piece)) this.#paused = true
    }
  }
}
