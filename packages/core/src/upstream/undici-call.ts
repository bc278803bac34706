/** One request on its way through undici. */
import { latin1 } from '../body/latin1.ts'
import type { ProxyError } from '../errors.ts'
import type { Call, OutgoingRequest, Receiver } from './connector.ts'
import { staleSocket, upstreamFailure } from './failures.ts'
import type { TrackedClient, TrackedHandler } from './tracked-client.ts'

/** undici's handler: the raw shape, which keeps order, case and duplicates of fields. */
export class UndiciCall implements Call, TrackedHandler {
  client: TrackedClient | null = null
  readonly request: OutgoingRequest
  readonly #receiver: Receiver
  readonly #release: (call: UndiciCall) => void
  #abort: ((error: Error) => void) | null = null
  #resume: (() => void) | null = null
  /** A resume is under way. */
  #resuming = false
  #cancelled: ProxyError | null = null
  #started = false
  #over = false
  #headed = false
  /** The connection has carried others before. */
  #reused = false
  /** A first byte came back. */
  #heard = false

  constructor(request: OutgoingRequest, receiver: Receiver, release: (call: UndiciCall) => void) {
    this.request = request
    this.#receiver = receiver
    this.#release = release
  }

  /** It has left the queue. */
  begin(): void {
    this.#started = true
  }

  /**
   * Not at once: the end of another answer may have brought us here, from inside undici's parser, and that one reads for no
   * second connection meanwhile.
   */
  resume(): void {
    if (this.#resume === null || this.#resuming) return
    this.#resuming = true
    process.nextTick(this.#resumeNow)
  }

  readonly #resumeNow = (): void => {
    this.#resuming = false
    if (!this.#over) this.#resume?.()
  }

  cancel(error: ProxyError): void {
    if (this.#over || this.#cancelled) return
    this.#cancelled = error
    if (this.#started) this.#abort?.(error)
    else {
      this.#over = true
      this.#release(this)
    }
  }

  onConnect(abort: (error: Error) => void): void {
    this.#abort = abort
    const { client } = this
    if (client !== null) {
      this.#reused = client.served++ > 0
      if (client.filter !== null) client.filter.armed = true
    }
    if (this.#cancelled) abort(this.#cancelled)
  }

  onResponseStarted(): void {
    this.#heard = true
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void): boolean {
    if (status < 200) {
      this.#receiver.onInterim(status, textOf(headers))
      return true
    }
    this.#headed = true
    this.#resume = resume
    this.#receiver.onHead(status, textOf(headers))
    // A 304 may carry the length of the 200 (RFC 9110, 8.6); it is whole with its head.
    if (status === 304 && this.request.method !== 'HEAD') this.#finish([])
    return true
  }

  onData(bytes: Buffer): boolean {
    return this.#over ? true : this.#receiver.onData(bytes)
  }

  onComplete(trailers: Buffer[] | null): void {
    this.#finish(trailers && trailers.length > 0 ? textOf(trailers) : [])
  }

  onError(error: Error): void {
    if (this.#over) return
    this.#over = true
    this.#release(this)
    if (this.#cancelled) return
    const phase = this.#headed ? 'reply-body' : 'reply-head'
    const failure = upstreamFailure(error, this.#abort !== null, phase)
    const stale = this.#reused && !this.#heard && failure.code === 'upstream-reset'
    this.#receiver.onError(stale ? staleSocket(error) : failure)
  }

  #finish(trailers: string[]): void {
    if (this.#over) return
    this.#over = true
    this.#release(this)
    if (!this.#cancelled) this.#receiver.onEnd(trailers)
  }
}

function textOf(fields: Buffer[]): string[] {
  const text = new Array<string>(fields.length)
  for (let i = 0; i < fields.length; i++) text[i] = latin1(fields[i]!)
  return text
}
