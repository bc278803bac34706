/** A push source as a Node stream, for the libraries that want one. */
import { Readable } from 'node:stream'
import { ProxyError } from '../errors.ts'
import type { Flow, Sink, Source } from '../pipeline/contract.ts'
import type { Own } from './guard.ts'

/** A `Readable` that gives the source's bytes. Destroying it cancels the source. */
export function toReadable(source: Source): Readable {
  return new SourceReadable(source)
}

class SourceReadable extends Readable implements Sink, Own {
  readonly keepsTheRules = true
  readonly #source: Source
  #flow: Flow | null = null
  #started = false
  #over = false

  constructor(source: Source) {
    super()
    this.#source = source
    // Whoever has to know of a failure hears it elsewhere; unheard, it would end the process.
    this.on('error', () => {})
  }

  override _read(): void {
    if (this.#started) this.#flow?.resume()
    else {
      this.#started = true
      this.#flow = this.#source.start(this)
    }
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (!this.#over) {
      this.#over = true
      const gone = new ProxyError({
        source: 'upstream',
        phase: 'request-body',
        code: 'upstream-reset',
        cause: error,
      })
      this.#flow?.cancel(error instanceof ProxyError ? error : gone)
    }
    callback(error)
  }

  write(bytes: Uint8Array): boolean {
    return this.#over ? false : this.push(bytes)
  }

  end(): void {
    this.#over = true
    this.push(null)
  }

  fail(error: ProxyError): void {
    if (this.#over) return
    this.#over = true
    this.destroy(error)
  }
}
