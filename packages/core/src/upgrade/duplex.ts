/** One end of a tunnel: a Node duplex as source and sink. Half-closes pass as they come; a break is never an end. */
import { constants, type Http2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type FailureSource, ProxyError } from '../errors.ts'
import type { Flow, Sink, Source } from '../pipeline/contract.ts'
import type { FrameTracker } from './frames.ts'
import { endsWhole } from './stream-end.ts'

/** A socket, or a stream of HTTP/2, whose bytes are a tunnel's. */
export class DuplexEnd implements Source, Sink, Flow {
  readonly length = null
  /** Bytes read from and written to it. */
  received = 0
  sent = 0
  /** Both directions have ended, or it broke. */
  closed = false
  /** The other side's bytes have ended, or ours have. */
  halfClosed = false
  /** Why it broke; `null` while it lives, and after both directions have ended well. */
  error: ProxyError | null = null
  /** Something passed since this was last set to false. */
  active = false
  /** Who writes to it; resumed when there is room again. */
  feeder: Flow | null = null
  /** Follow the frames that are read from it, and those that are written to it. */
  reads: FrameTracker | null = null
  writes: FrameTracker | null = null
  /** Called once, when nothing can pass any more. */
  onClose: (() => void) | null = null
  readonly #duplex: Duplex
  readonly #whose: FailureSource
  readonly #whole: () => boolean
  #sink: Sink | null = null
  /** No more of its bytes are wanted, or there are none. */
  #ended = false
  /** All that it shall get has been given to it. */
  #finished = false

  /** `whose`: whom a break of this end is told of. */
  constructor(duplex: Duplex, whose: FailureSource) {
    this.#duplex = duplex
    this.#whose = whose
    this.#whole = isStream(duplex) ? endsWhole(duplex, hasEnded(duplex)) : () => true
    duplex.on('error', () => {})
    duplex.on('close', () => this.#onClose())
    duplex.on('drain', () => this.feeder?.resume())
  }

  start(sink: Sink): Flow {
    this.#sink = sink
    const duplex = this.#duplex
    if (duplex.destroyed) {
      queueMicrotask(() => this.#onClose())
      return this
    }
    duplex.on('data', (bytes: Buffer) => {
      this.received += bytes.length
      this.active = true
      this.reads?.feed(bytes)
      if (!sink.write(bytes)) duplex.pause()
    })
    duplex.on('end', () => {
      if (this.#ended || !this.#whole()) return
      this.#ended = true
      this.halfClosed = true
      sink.end()
    })
    duplex.resume()
    return this
  }

  pause(): void {
    this.#duplex.pause()
  }

  resume(): void {
    this.#duplex.resume()
  }

  /** Nobody wants its bytes any more. */
  cancel(error: ProxyError): void {
    this.fail(error)
  }

  write(bytes: Uint8Array): boolean {
    // Behind a farewell the other side may not have heard of it yet.
    if (this.#finished) return true
    this.writes?.feed(bytes)
    this.sent += bytes.length
    this.active = true
    return this.#duplex.write(bytes)
  }

  end(): void {
    if (this.#finished) return
    this.halfClosed = true
    this.#finished = true
    this.#duplex.end()
  }

  /** The other end broke: this one must not look as if it had ended well. */
  fail(error: ProxyError): void {
    if (this.closed) return
    this.error ??= error
    this.#ended = true
    this.#break()
  }

  /** A reset: RST_STREAM(CANCEL) stands for what RST is to TCP (RFC 8441, 5). */
  #break(): void {
    const duplex = this.#duplex
    if (duplex.destroyed) return
    if (isStream(duplex)) {
      duplex.close(constants.NGHTTP2_CANCEL)
      duplex.resume()
    } else if ('encrypted' in duplex || !('resetAndDestroy' in duplex)) duplex.destroy()
    else (duplex as Socket).resetAndDestroy()
  }

  #onClose(): void {
    if (this.closed) return
    this.closed = true
    if (!this.#ended || !this.#finished) {
      this.error ??= this.#broken()
      this.feeder?.cancel(this.error)
      if (!this.#ended) this.#sink?.fail(this.error)
    }
    this.onClose?.()
  }

  #broken(): ProxyError {
    const code = this.#whose === 'client' ? 'client-closed' : 'upstream-reset'
    return new ProxyError({ source: this.#whose, phase: 'tunnel', code })
  }
}

/** END_STREAM came before anybody looked. */
function hasEnded(stream: Http2Stream): boolean {
  return !stream.closed && stream.state.remoteClose === 1
}

function isStream(duplex: Duplex): duplex is Http2Stream & Duplex {
  return 'rstCode' in duplex
}
