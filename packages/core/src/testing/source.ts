/** Bodies for tests: a source that pushes known chunks, and a reader that takes one whole. */
import type { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import type { Flow, Sink, Source } from '../pipeline/contract.ts'

/**
 * A source that pushes these chunks, each in a turn of the event loop of its own, as a socket would. It stops at
 * `pause`, and when the sink says false, until it is resumed; `cancel` ends it for good. Its length is unknown.
 * @example bytesSource('first ', new Uint8Array([0x32]))
 */
export function bytesSource(...chunks: readonly (string | Uint8Array)[]): Source {
  const bytes = chunks.map(chunk => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk))
  let started = false
  return {
    length: null,
    start(sink) {
      if (started) throw new Error('a source can be started once')
      started = true
      return new ChunkFlow(bytes, sink)
    },
  }
}

/** Takes a source whole. Rejects with the failure when it breaks. */
export function readSource(source: Source): Promise<{ bytes: Uint8Array; trailers: HeaderList | null }> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    source.start({
      write(bytes) {
        chunks.push(bytes)
        return true
      },
      end: trailers => resolve({ bytes: Buffer.concat(chunks), trailers: trailers ?? null }),
      fail: reject,
    })
  })
}

class ChunkFlow implements Flow {
  readonly #chunks: readonly Uint8Array[]
  readonly #sink: Sink
  #next = 0
  #paused = false
  /** The sink took the last chunk with a no. */
  #full = false
  #over = false
  #scheduled = false

  constructor(chunks: readonly Uint8Array[], sink: Sink) {
    this.#chunks = chunks
    this.#sink = sink
    this.#schedule()
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    this.#full = false
    this.#schedule()
  }

  cancel(_error: ProxyError): void {
    this.#over = true
  }

  #schedule(): void {
    if (this.#scheduled || this.#over) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#step()
    })
  }

  #step(): void {
    if (this.#paused || this.#full || this.#over) return
    const chunk = this.#chunks[this.#next++]
    if (chunk === undefined) {
      this.#over = true
      this.#sink.end()
      return
    }
    // Full until the sink says otherwise: it may resume from within `write`, before it answers.
    this.#full = true
    if (this.#sink.write(chunk)) this.#full = false
    if (!this.#full) this.#schedule()
  }
}
