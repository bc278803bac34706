/** Keeps the beginning of a body back until it has been seen. */
import type { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import type { Flow, Sink, Source } from '../pipeline/contract.ts'
import type { Own } from './guard.ts'

/**
 * Reads until `wanted` bytes or the end have passed, then gives a source that tells it all again.
 * Holds at most `wanted` bytes and the chunk that crosses the line. Rejects when the body breaks before that.
 */
export function holdSource(source: Source, wanted: number): Promise<Source> {
  return new Promise((resolve, reject) => {
    const held = new Held(source.length, wanted, resolve, reject)
    held.begin(source)
  })
}

class Held implements Sink, Source, Flow, Own {
  readonly keepsTheRules = true
  readonly length: number | null
  readonly #wanted: number
  readonly #ready: (source: Source) => void
  readonly #broken: (error: ProxyError) => void
  readonly #chunks: Uint8Array[] = []
  #bytes = 0
  #flow: Flow | null = null
  #full = false
  #next: Sink | null = null
  #end: { trailers: HeaderList | undefined } | null = null
  #error: ProxyError | null = null
  #paused = false
  /** The reader has had its end, or wants none. */
  #over = false

  constructor(
    length: number | null,
    wanted: number,
    ready: (source: Source) => void,
    broken: (error: ProxyError) => void,
  ) {
    this.length = length
    this.#wanted = wanted
    this.#ready = ready
    this.#broken = broken
  }

  begin(source: Source): void {
    this.#flow = source.start(this)
    if (this.#full && this.#next === null) this.#flow.pause()
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over) return false
    if (this.#next && this.#chunks.length === 0) return this.#next.write(bytes)
    this.#chunks.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes < this.#wanted) return true
    if (!this.#full) {
      this.#full = true
      this.#ready(this)
    }
    return false
  }

  end(trailers?: HeaderList): void {
    if (this.#over) return
    if (this.#next && this.#chunks.length === 0) {
      this.#over = true
      return this.#next.end(trailers)
    }
    this.#end = { trailers }
    if (!this.#full) {
      this.#full = true
      this.#ready(this)
    }
  }

  fail(error: ProxyError): void {
    if (this.#over) return
    if (this.#next) {
      this.#stop()
      return this.#next.fail(error)
    }
    this.#error = error
    if (!this.#full) this.#broken(error)
  }

  start(sink: Sink): Flow {
    this.#next = sink
    this.#replay()
    return this
  }

  pause(): void {
    this.#paused = true
    this.#flow?.pause()
  }

  resume(): void {
    if (this.#over) return
    this.#paused = false
    this.#replay()
  }

  cancel(error: ProxyError): void {
    if (this.#over) return
    this.#stop()
    this.#flow?.cancel(error)
  }

  #stop(): void {
    this.#over = true
    this.#chunks.length = 0
    this.#end = null
  }

  #replay(): void {
    const sink = this.#next!
    const error = this.#error
    this.#error = null
    if (error) {
      this.#stop()
      return sink.fail(error)
    }
    while (!this.#paused && !this.#over) {
      const chunk = this.#chunks.shift()
      if (chunk === undefined) {
        const end = this.#end
        this.#end = null
        if (end) {
          this.#over = true
          sink.end(end.trailers)
        } else this.#flow?.resume()
        return
      }
      if (!sink.write(chunk)) this.#paused = true
    }
  }
}
