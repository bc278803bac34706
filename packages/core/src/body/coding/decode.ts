/** A coded body as it was before, within bounds. A body that is cut, broken or blown up breaks; it never looks whole. */
import { ProxyError } from '../../errors.ts'
import type { Source } from '../../pipeline/contract.ts'
import { type Coding, decoder } from './codings.ts'
import { ZlibSource } from './zlib-source.ts'

/** Bounds of what a body may become. */
export interface DecodeBounds {
  /** Bytes that come out. */
  readonly maxBytes: number
  /** Bytes that come out for each that went in, once there is more than a little. */
  readonly maxRatio: number
}

/** A small body may grow to this whatever its ratio. */
const ALWAYS = 1 << 20

/** The same body without its codings; the last one comes off first. `free` is called once, when the first one is over. */
export function decodeSource(
  source: Source,
  codings: readonly Coding[],
  bounds: DecodeBounds,
  free: (() => void) | null = null,
): Source {
  return codings.reduceRight(
    (body: Source, coding, at) => new DecodedSource(body, coding, bounds, at === 0 ? free : null),
    source,
  )
}

class DecodedSource extends ZlibSource {
  readonly #coding: Coding
  readonly #bounds: DecodeBounds
  /** Bytes before there are enough to tell the format. */
  #first: Uint8Array | null = null
  #taken = 0
  #given = 0

  constructor(source: Source, coding: Coding, bounds: DecodeBounds, free: (() => void) | null) {
    super(source, free)
    this.#coding = coding
    this.#bounds = bounds
  }

  write(bytes: Uint8Array): boolean {
    if (this.over) return false
    this.#taken += bytes.length
    if (this.engine) return this.engine.write(bytes)
    const first = this.#first ? Buffer.concat([this.#first, bytes]) : bytes
    if (first.length < 2) {
      this.#first = first
      return true
    }
    return this.#begin(first)
  }

  protected ending(): void {
    // Nothing at all is what some servers send for nothing.
    if (this.#taken === 0) return this.whole()
    if (!this.engine) this.#begin(this.#first!)
    this.engine!.end()
  }

  protected admits(bytes: Uint8Array): boolean {
    this.#given += bytes.length
    const { maxBytes, maxRatio } = this.#bounds
    if (this.#given <= Math.min(maxBytes, Math.max(ALWAYS, this.#taken * maxRatio))) return true
    this.break(new RangeError(`a ${this.#coding} body grows past its bounds`))
    return false
  }

  protected finished(): boolean {
    // A second stream or anything else behind the first: zlib leaves it out in silence.
    if (this.engine!.bytesWritten === this.#taken) return true
    this.break(new TypeError(`something stands behind a ${this.#coding} body`))
    return false
  }

  protected failure(cause: unknown): ProxyError {
    return new ProxyError({ source: 'upstream', phase: 'reply-body', code: 'bad-reply', cause })
  }

  #begin(first: Uint8Array): boolean {
    this.#first = null
    const engine = decoder(this.#coding, first)
    this.use(engine)
    return engine.write(first)
  }
}
