/** A body with a coding put on. What has come is flushed before anybody waits for more. */
import { ProxyError } from '../../errors.ts'
import type { Source } from '../../pipeline/contract.ts'
import { type Coding, type Engine, encoder, flushOf } from './codings.ts'
import { ZlibSource } from './zlib-source.ts'

/** A body that is coded when it is started. */
export class EncodedSource extends ZlibSource {
  readonly #plain: Source
  readonly #coding: Coding
  readonly #level: number
  /** Bytes are in the stream that no flush follows. */
  #dirty = false
  /** Bytes have come since the last look. */
  #fresh = false
  #waiting = false

  /** `free` is called once, when the stream is not needed any more. */
  constructor(plain: Source, coding: Coding, level: number, free: (() => void) | null = null) {
    super(plain, free)
    this.#plain = plain
    this.#coding = coding
    this.#level = level
  }

  /** The body without the coding, instead of this one, which was not started. */
  peel(): Source {
    this.release()
    return this.#plain
  }

  write(bytes: Uint8Array): boolean {
    if (this.over) return false
    this.#dirty = true
    this.#watch()
    return this.#stream().write(bytes)
  }

  protected ending(): void {
    this.#dirty = false
    this.#stream().end()
  }

  protected admits(): boolean {
    return true
  }

  protected finished(): boolean {
    return true
  }

  protected failure(cause: unknown): ProxyError {
    return new ProxyError({ source: 'proxy', phase: 'reply-body', code: 'internal', cause })
  }

  #stream(): Engine {
    if (!this.engine) this.use(encoder(this.#coding, this.#level))
    return this.engine!
  }

  protected override drained(): void {
    if (this.#dirty) this.#watch()
  }

  #watch(): void {
    this.#fresh = true
    if (this.#waiting) return
    this.#waiting = true
    setImmediate(() => this.#flushWhenIdle())
  }

  /** While bytes come in each turn of the loop nobody waits for them, and a flush would only cost. */
  #flushWhenIdle(): void {
    if (this.#fresh && this.#dirty && !this.over) {
      this.#fresh = false
      setImmediate(() => this.#flushWhenIdle())
      return
    }
    this.#waiting = false
    // What the stream has not taken yet is looked at again when it has.
    if (!this.#dirty || this.over || this.engine!.writableNeedDrain) return
    this.#dirty = false
    this.engine!.flush(flushOf(this.#coding))
  }
}
