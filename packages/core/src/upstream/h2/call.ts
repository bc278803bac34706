/**
 * One request on an HTTP/2 stream.
 *
 *   1. it waits until a session has room
 *   2. the head is sent; the body follows, at the speed of the slower side
 *   3. head, body and trailers of the answer are told to the receiver
 *   4. the stream ends: with END_STREAM, or the answer is not whole
 *
 * A request of which nothing was processed goes back to the queue, if its body can be had again.
 */
import { type ClientHttp2Stream, constants } from 'node:http2'
import { ProxyError } from '../../errors.ts'
import { type Deadline, type Deadlines, noDeadline } from '../../proxy/deadlines.ts'
import { endsWhole } from '../../upgrade/stream-end.ts'
import { type TunnelClock, tunnelTo } from '../../upgrade/tunnel.ts'
import type { Call, OutgoingRequest, Receiver, UpstreamTunnel } from '../connector.ts'
import { upstreamFailure } from '../failures.ts'
import { receivedFields, requestFields } from './fields.ts'
import type { Session } from './session.ts'
import { Upload, type UploadOwner } from './upload.ts'

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants
const { NGHTTP2_PROTOCOL_ERROR } = constants

/** Times that a refused request is sent again, and one whose session ended before it was processed (RFC 9113, 8.7). */
const RESENDS = 1
const RESENDS_AFTER_GOAWAY = 3
/** How long a body waits for `100 Continue`, in ms; after that it goes unasked (RFC 9110, 10.1.1). */
const CONTINUE_WAIT = 1000

/** What calls share with their pool. */
export interface CallOwner {
  readonly scheme: 'http' | 'https'
  /** From the end of the request to the head of the answer. */
  readonly head: Deadlines
  /** Silence in either body. */
  readonly idle: Deadlines
  /** Silence on tunnels. */
  readonly clock: TunnelClock
  /** The call is over; its place is free. */
  onOver(call: Http2Call): void
  /** The call has become a tunnel. */
  onTunnel(tunnel: UpstreamTunnel): void
  /** The call was not processed and may be sent again. */
  onUnsent(call: Http2Call): void
}

/** A request on its way over HTTP/2. */
export class Http2Call implements Call, UploadOwner, Deadline {
  readonly deadline: Deadline['deadline'] = noDeadline()
  readonly request: OutgoingRequest
  readonly receiver: Receiver
  over = false
  /** True while it stands in the queue. */
  queued = false
  readonly #owner: CallOwner
  #elsewhere: Call | null = null
  #session: Session | null = null
  #stream: ClientHttp2Stream | null = null
  #clock: Deadlines | null = null
  #sends = 0
  #cause: unknown = null
  readonly #upload: Upload | null
  #continue: NodeJS.Timeout | null = null
  // The answer
  #headed = false
  #whole: () => boolean = () => false
  #paused = false
  #left = -1
  #received: string[] = []

  constructor(request: OutgoingRequest, receiver: Receiver, owner: CallOwner) {
    this.request = request
    this.receiver = receiver
    this.#owner = owner
    this.#upload = request.body === null ? null : new Upload(request.body, this, request.decided)
  }

  // 2
  /** Sends the request on a session that has room. */
  start(session: Session): void {
    const { request } = this
    const { body, upgrade } = request
    const whole = body === null && upgrade === undefined
    // Node ends a stream before it resets it: only one that waits for trailers is not whole to the target then.
    const waitForTrailers = !whole
    let stream: ClientHttp2Stream
    try {
      const fields = requestFields(request, this.#owner.scheme)
      stream = session.request(fields, { endStream: whole, waitForTrailers })
    } catch (cause) {
      return this.#notSent(session, cause)
    }
    this.#session = session
    this.#stream = stream
    this.#sends++
    this.#whole = endsWhole(stream, false, () => this.#onWhole())
    stream.on('headers', (_fields, _flags, raw?: string[]) => this.#onInterim(raw ?? []))
    stream.on('response', (_fields, flags, raw?: string[]) => this.#onHead(flags, raw ?? []))
    stream.on('trailers', (_fields, _flags, raw?: string[]) => {
      this.#received = receivedFields(raw ?? [])
    })
    // 'close' tells what is needed.
    stream.on('error', cause => {
      this.#cause = cause
    })
    stream.on('close', () => this.#onClose(session, stream))
    const upload = this.#upload
    if (upload === null) this.#arm(this.#owner.head)
    else if (!upload.begun && this.#waitsForContinue()) {
      this.#continue = setTimeout(() => this.#startBody(), CONTINUE_WAIT)
    } else upload.into(stream)
  }

  /** Somebody else carries it on. */
  handOver(call: Call): void {
    this.#elsewhere = call
  }

  resume(): void {
    if (this.#elsewhere) return this.#elsewhere.resume()
    if (!this.#paused) return
    this.#paused = false
    this.#arm(this.#owner.idle)
    this.#stream?.resume()
  }

  cancel(error: ProxyError): void {
    if (this.#elsewhere) return this.#elsewhere.cancel(error)
    if (this.over) return
    this.#settle()
    this.#upload?.cancel(error)
    reset(this.#stream)
  }

  /** Ends it for a reason outside of its stream. */
  fail(error: ProxyError): void {
    if (this.over) return
    this.#settle()
    this.#upload?.cancel(error)
    reset(this.#stream)
    this.receiver.onError(error)
  }

  onDeadline(): void {
    const code = this.#clock === this.#owner.head ? 'head-timeout' : 'idle-timeout'
    const sent = this.#upload === null || this.#upload.sent
    const phase = this.#headed ? 'reply-body' : sent ? 'reply-head' : 'request-body'
    // Perhaps it is not this one stream that is dead.
    this.#session?.ping()
    this.fail(new ProxyError({ source: 'upstream', phase, code }))
  }

  // Of the upload

  onBlocked(blocked: boolean): void {
    if (this.#headed) return
    if (blocked) this.#arm(this.#owner.idle)
    else this.#disarm()
  }

  onSent(): void {
    if (!this.#headed) this.#arm(this.#owner.head)
  }

  #startBody(): void {
    if (this.#continue) clearTimeout(this.#continue)
    this.#continue = null
    if (!this.over && this.#stream) this.#upload!.into(this.#stream)
  }

  #waitsForContinue(): boolean {
    const { headers } = this.request
    for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'Expect') return true
    return false
  }

  // 3
  #onInterim(raw: string[]): void {
    if (this.over) return
    const status = Number(raw[1])
    if (this.#continue && status === 100) this.#startBody()
    this.receiver.onInterim(status, receivedFields(raw))
  }

  #onHead(flags: number, raw: string[]): void {
    if (this.over) return
    const stream = this.#stream!
    const status = Number(raw[1])
    const fields = receivedFields(raw)
    this.#headed = true
    this.#upload?.taken()
    if (this.#session) this.#session.proven = true
    if (this.#continue) clearTimeout(this.#continue)
    this.#continue = null
    if (this.request.upgrade !== undefined && status >= 200 && status < 300) {
      this.#disarm()
      this.over = true
      const tunnel = tunnelTo(stream, this.request.upgrade, this.#owner.clock)
      this.#owner.onTunnel(tunnel)
      tunnel.onClose(() => this.#owner.onOver(this))
      this.receiver.onTunnel?.(fields, tunnel)
      return
    }
    const ended = (flags & NGHTTP2_FLAG_END_STREAM) !== 0
    if (!ended) this.#left = this.request.method === 'HEAD' ? -1 : lengthOf(fields)
    this.#arm(this.#owner.idle)
    stream.on('data', (bytes: Buffer) => this.#onData(stream, bytes))
    stream.on('end', () => this.#onEnd(stream))
    this.receiver.onHead(status, fields, ended)
  }

  #onData(stream: ClientHttp2Stream, bytes: Buffer): void {
    if (this.over) return
    if (this.#left >= 0) this.#left -= bytes.length
    if (this.receiver.onData(bytes)) this.#arm(this.#owner.idle)
    else {
      this.#paused = true
      this.#disarm()
      stream.pause()
    }
  }

  /** Whole without a head, which Node tells in the next tick. */
  #onWhole(): void {
    if (this.#headed) return
    process.nextTick(() => {
      if (this.#headed || this.over) return
      const error = new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'bad-reply' })
      this.fail(error)
    })
  }

  // 4
  #onEnd(stream: ClientHttp2Stream): void {
    if (this.over || this.#left > 0) return
    // Node says 'end' for cut bodies, too. Its own servers may say RST_STREAM(NO_ERROR) instead of END_STREAM behind the
    // last byte for a slow reader: that is an end where the length was announced, and a cut where nobody can tell.
    const byLength = this.#left === 0 && stream.rstCode === NGHTTP2_NO_ERROR
    if (!this.#whole() && !byLength) return
    this.#settle()
    if (this.#upload !== null && !this.#upload.sent) {
      // An early answer: whole, and the rest of the upload is not wanted (RFC 9113, 8.1).
      this.#upload.cancel()
      stream.close(NGHTTP2_NO_ERROR)
    } else if (this.request.upgrade !== undefined) stream.end()
    this.receiver.onEnd(this.#received)
  }

  #onClose(session: Session, stream: ClientHttp2Stream): void {
    session.release()
    if (this.over || this.#stream !== stream) return
    const { rstCode, id } = stream
    const unprocessed =
      !this.#headed && (rstCode === NGHTTP2_REFUSED_STREAM || id === undefined || id > session.lastStreamId)
    const most = session.state === 'open' ? RESENDS : RESENDS_AFTER_GOAWAY
    if (unprocessed && this.#sends <= most && this.#upload?.repeatable !== false) return this.#again()
    this.#settle()
    const error = this.#failure(session, rstCode, unprocessed)
    this.#upload?.cancel(error)
    this.receiver.onError(error)
  }

  #failure(session: Session, rstCode: number, unprocessed: boolean): ProxyError {
    const { cause } = session
    const late = cause instanceof ProxyError ? cause.code : null
    const broken = session.state === 'gone' || cause !== null
    return new ProxyError({
      source: 'upstream',
      phase: this.#headed ? 'reply-body' : 'reply-head',
      code:
        late ??
        (rstCode === NGHTTP2_PROTOCOL_ERROR
          ? 'bad-reply'
          : broken && !this.#headed && session.proven
            ? 'stale-socket'
            : 'upstream-reset'),
      retryable: unprocessed,
      unprocessed,
      cause: cause ?? this.#cause ?? new Error(`HTTP/2 stream closed with code ${rstCode}`),
    })
  }

  /** The session could not take it: nothing was sent. */
  #notSent(session: Session, cause: unknown): void {
    if (cause instanceof ProxyError || !(session.state !== 'open' || isGone(cause))) {
      const error =
        cause instanceof ProxyError
          ? cause
          : new ProxyError({ source: 'proxy', phase: 'connect', code: 'bad-forward', cause })
      queueMicrotask(() => this.fail(error))
      return
    }
    session.leave()
    if (this.#sends++ <= RESENDS_AFTER_GOAWAY) this.#again()
    else queueMicrotask(() => this.fail(upstreamFailure(cause, false, 'connect')))
  }

  #again(): void {
    this.#disarm()
    if (this.#continue) clearTimeout(this.#continue)
    this.#continue = null
    this.#stream = null
    this.#session = null
    this.#upload?.leave()
    this.#owner.onUnsent(this)
  }

  #settle(): void {
    this.over = true
    this.#disarm()
    if (this.#continue) clearTimeout(this.#continue)
    this.#continue = null
    this.#owner.onOver(this)
  }

  #arm(clock: Deadlines): void {
    this.#clock?.remove(this)
    this.#clock = clock
    clock.add(this)
  }

  #disarm(): void {
    this.#clock?.remove(this)
    this.#clock = null
  }
}

function reset(stream: ClientHttp2Stream | null): void {
  if (!stream || stream.destroyed) return
  stream.close(NGHTTP2_CANCEL)
  // What it has read already is nobody's.
  stream.resume()
}

function isGone(cause: unknown): boolean {
  const { code } = cause as { code?: string }
  return (
    code === 'ERR_HTTP2_GOAWAY_SESSION' ||
    code === 'ERR_HTTP2_INVALID_SESSION' ||
    code === 'ERR_HTTP2_OUT_OF_STREAMS'
  )
}

function lengthOf(fields: readonly string[]): number {
  for (let i = 0; i < fields.length; i += 2) if (fields[i] === 'content-length') return Number(fields[i + 1])
  return -1
}
