/**
 * One body for many readers, as it arrives.
 *
 * While it is kept for the store, it is read as fast as it comes: every reader goes through the same chunks at its own
 * speed, and none holds up another. A body that outgrows the store is no longer kept. From then on the quickest reader
 * sets the pace; one that lies more than `WINDOW` bytes behind it is cut off, and when nobody keeps up, the origin waits.
 */
import { type Flow, type HeaderList, ProxyError, type Sink, type Source } from '@postern/core'

/** Bytes that a reader of a body that is not kept may lie behind the quickest. */
export const WINDOW: number = 1 << 20

/** Who owns the body. Each is told at most once, and before the readers hear of it. */
export interface BodyOwner {
  /** Room for more bytes? False: the body is no longer kept. */
  room(bytes: number): boolean
  /** It is whole, in one piece. */
  whole(body: Uint8Array): void
  /** It will not be stored: too large, or broken. */
  lost(): void
  /** No reader is left. True: carry on for the store. */
  deserted(): boolean
}

export class SharedBody implements Sink {
  readonly length: number | null
  readonly #owner: BodyOwner
  readonly #suffix: Uint8Array | null
  readonly #readers = new Set<Reader>()
  #chunks: Uint8Array[] = []
  /** Number of the first chunk that is still here. */
  #first = 0
  /** Bytes that have come. */
  #bytes = 0
  #kept = true
  #flow: Flow | null = null
  #waiting = false
  #over = false
  trailers: HeaderList | undefined = undefined
  ended = false
  error: ProxyError | null = null

  /** @param prefix,suffix bytes that stand before and behind what comes. */
  constructor(
    owner: BodyOwner,
    length: number | null,
    prefix: Uint8Array | null = null,
    suffix: Uint8Array | null = null,
  ) {
    this.#owner = owner
    this.length = length
    this.#suffix = suffix
    if (prefix !== null && prefix.length > 0) this.write(prefix)
  }

  /** Starts to read. Readers may be added before and after. */
  begin(source: Source): void {
    const flow = source.start(this)
    if (this.#over) {
      if (!this.ended) flow.cancel(unwanted())
      return
    }
    this.#flow = flow
  }

  /** True while a new reader gets the body from its beginning. */
  get joinable(): boolean {
    return this.#first === 0 && this.error === null
  }

  /** One more reader. It counts from now on, started or not. */
  reader(): Source {
    const reader = new Reader(this)
    this.#readers.add(reader)
    return reader
  }

  chunk(number: number): Uint8Array | undefined {
    return this.#chunks[number - this.#first]
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over) return true
    this.#chunks.push(bytes)
    this.#bytes += bytes.length
    if (this.#kept && !this.#owner.room(bytes.length)) {
      this.#lose()
      if (this.#readers.size === 0) return this.#abandon()
    }
    for (const reader of this.#readers) reader.pump()
    return this.#kept || this.#over ? true : this.#pace()
  }

  end(trailers?: HeaderList): void {
    if (this.#over) return
    if (this.#suffix !== null && this.#suffix.length > 0) this.write(this.#suffix)
    this.trailers = trailers
    this.#over = true
    if (this.#kept) {
      const body = joined(this.#chunks, this.#bytes)
      if (this.length !== null && this.length !== this.#bytes) {
        this.#over = false
        return this.fail(broken())
      }
      this.#hand(body)
    }
    this.ended = true
    for (const reader of this.#readers) reader.pump()
  }

  fail(error: ProxyError): void {
    if (this.#over) return
    this.#over = true
    this.error = error
    if (this.#kept) this.#lose()
    for (const reader of [...this.#readers]) reader.pump()
  }

  /** Nobody shall have it any more: the readers are cut, the origin is told. */
  abort(error: ProxyError): void {
    if (this.#over) return
    this.fail(error)
    this.#flow?.cancel(error)
  }

  /** A reader took something, or may take again. */
  moved(): void {
    if (!this.#waiting || this.#over) return
    if (!this.#pace()) return
    this.#waiting = false
    this.#flow?.resume()
  }

  /** A reader has gone. */
  left(reader: Reader): void {
    this.#readers.delete(reader)
    if (this.#readers.size > 0 || this.#over) return this.moved()
    if (this.#owner.deserted() && this.#kept) return
    if (this.#kept) this.#lose()
    this.#abandon()
  }

  /** Nobody wants the rest. */
  #abandon(): true {
    this.#over = true
    this.#flow?.cancel(unwanted())
    return true
  }

  /** A fault of the store must not leave the readers waiting. */
  #hand(body: Uint8Array): void {
    try {
      this.#owner.whole(body)
    } catch (cause) {
      process.emitWarning(cause instanceof Error ? cause : String(cause), 'PosternCacheWarning')
      this.#owner.lost()
    }
  }

  #lose(): void {
    this.#kept = false
    this.#owner.lost()
  }

  /** Cuts who is too far behind; false when everybody is busy. */
  #pace(): boolean {
    let quickest = 0
    for (const reader of this.#readers) quickest = Math.max(quickest, reader.taken)
    let slowest = Number.MAX_SAFE_INTEGER
    for (const reader of [...this.#readers]) {
      if (quickest - reader.taken > WINDOW) reader.cut(tooSlow())
      else slowest = Math.min(slowest, reader.next)
    }
    const passed = Math.min(slowest - this.#first, this.#chunks.length)
    if (passed > 0) {
      this.#chunks.splice(0, passed)
      this.#first += passed
    }
    this.#waiting = quickest < this.#bytes
    return !this.#waiting
  }
}

/** One reader of a {@link SharedBody}. */
class Reader implements Source, Flow {
  readonly #body: SharedBody
  #sink: Sink | null = null
  /** The sink may edit what it gets; others read the same bytes, and they are stored. */
  #copies = false
  #paused = false
  #pumping = false
  #over = false
  /** Number of the chunk that is next. */
  next = 0
  /** Bytes that were taken. */
  taken = 0

  constructor(body: SharedBody) {
    this.#body = body
  }

  get length(): number | null {
    return this.#body.length
  }

  start(sink: Sink): Flow {
    this.#sink = sink
    this.#copies = sink.readsOnly !== true
    this.pump()
    this.#body.moved()
    return this
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    this.pump()
    this.#body.moved()
  }

  cancel(): void {
    if (this.#over) return
    this.#over = true
    this.#body.left(this)
  }

  cut(error: ProxyError): void {
    if (this.#over) return
    this.#over = true
    this.#body.left(this)
    // Before it is started there is nobody to tell; `start` does it.
    if (this.#sink) this.#sink.fail(error)
    else this.#lateError = error
  }

  #lateError: ProxyError | null = null

  pump(): void {
    const sink = this.#sink
    if (sink === null || this.#pumping) return
    if (this.#lateError) {
      const error = this.#lateError
      this.#lateError = null
      return sink.fail(error)
    }
    if (this.#over) return
    const body = this.#body
    this.#pumping = true
    while (!this.#paused && !this.#over) {
      const chunk = body.chunk(this.next)
      if (chunk === undefined) break
      this.next++
      this.taken += chunk.length
      if (!sink.write(this.#copies ? Buffer.from(chunk) : chunk)) this.#paused = true
    }
    this.#pumping = false
    if (this.#over) return
    if (body.error) {
      this.#over = true
      body.left(this)
      sink.fail(body.error)
    } else if (body.ended && body.chunk(this.next) === undefined && !this.#paused) {
      this.#over = true
      body.left(this)
      sink.end(body.trailers)
    }
  }
}

/** All chunks in one buffer that holds nothing else. */
function joined(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const [only] = chunks
  // A little more memory is cheaper than a copy.
  if (chunks.length === 1 && only!.buffer.byteLength <= bytes + 512) return only!
  const body = Buffer.allocUnsafeSlow(bytes)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}

function unwanted(): ProxyError {
  return new ProxyError({ source: 'client', phase: 'reply-body', code: 'client-closed' })
}

function tooSlow(): ProxyError {
  return new ProxyError({ source: 'client', phase: 'reply-body', code: 'idle-timeout' })
}

function broken(): ProxyError {
  return new ProxyError({ source: 'upstream', phase: 'reply-body', code: 'bad-reply' })
}
