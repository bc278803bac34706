/** One HTTP/2 session to a target: opened, filled with streams, watched, and left. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  connect,
  type OutgoingHttpHeaders,
  type Settings,
} from 'node:http2'
import type { Socket } from 'node:net'
import { ProxyError } from '../../errors.ts'
import { dial, noHttp2 } from './dial.ts'
import { type Http2Options, SESSION_WINDOW, STREAM_WINDOW } from './options.ts'

/** What a session tells its pool. */
export interface SessionOwner {
  /** It can take streams, or more of them. */
  onRoom(session: Session): void
  /** It takes no more streams. `error` is set when it never took one. */
  onGone(session: Session, error: ProxyError | null): void
  /** The target wants HTTP/1.1. */
  onHttp1(session: Session): void
}

/** States: connecting → open → leaving (GOAWAY, idle) → gone. */
export class Session {
  state: 'connecting' | 'open' | 'leaving' | 'gone' = 'connecting'
  /** Streams that are open. */
  streams = 0
  /** Streams that it takes at a time. */
  limit = 0
  /** Highest stream that the target will answer; the others were not processed (RFC 9113, 6.8). */
  lastStreamId: number = Infinity
  /** True once any stream has been answered: a later failure may be that of a connection gone stale. */
  proven = false
  /** The target takes extended CONNECT (RFC 8441, 3). */
  extendedConnect = false
  /** Why it broke, if it did. */
  cause: unknown = null
  readonly #options: Http2Options
  readonly #owner: SessionOwner
  #session: ClientHttp2Session | null = null
  #giveUp: () => void
  #timer: NodeJS.Timeout
  #idleSince: number = Date.now()
  #pinging = false
  #heardAt = 0

  constructor(options: Http2Options, owner: SessionOwner) {
    this.#options = options
    this.#owner = owner
    this.#timer = setTimeout(() => this.#late(), options.connectTimeout)
    this.#giveUp = dial(options, {
      onSocket: socket => this.#begin(socket),
      onHttp1: () => {
        if (options.onHttp1) {
          this.#end()
          owner.onHttp1(this)
        } else this.#fail(noHttp2())
      },
      onFailure: error => this.#fail(error),
    })
  }

  /** True when another stream may be opened. */
  get room(): boolean {
    return this.state === 'open' && !this.#pinging && this.streams < this.limit
  }

  /** Opens a stream. @throws when the session can't take it; then nothing was sent. */
  request(fields: OutgoingHttpHeaders, options: ClientSessionRequestOptions): ClientHttp2Stream {
    const stream = this.#session!.request(fields, options)
    if (this.streams++ === 0) this.#session!.ref()
    return stream
  }

  /** A stream has closed. */
  release(): void {
    if (--this.streams > 0) {
      if (this.state === 'open') this.#owner.onRoom(this)
      return
    }
    this.#idleSince = Date.now()
    if (this.state === 'open') {
      this.#session!.unref()
      this.#owner.onRoom(this)
    } else if (this.state === 'leaving') this.#session!.close()
  }

  /** Takes no more streams; closes when the last one has ended. */
  leave(): void {
    if (this.state === 'connecting') return this.destroy()
    if (this.state !== 'open') return
    this.state = 'leaving'
    if (this.streams === 0) this.#session!.close()
  }

  destroy(): void {
    if (this.state === 'gone') return
    const session = this.#session
    this.#giveUp()
    this.#end()
    session?.destroy()
    this.#owner.onGone(this, null)
  }

  /**
   * Asks whether the target still lives; until it answers, it gets no new requests, and if it doesn't in time, the
   * session is destroyed with its streams. After a broken frame Node reads no more and tells nobody: this finds it out.
   */
  ping(): void {
    const session = this.#session
    if (this.#pinging || !session || session.destroyed) return
    this.#pinging = true
    const late = setTimeout(() => {
      this.cause = new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'idle-timeout' })
      session.destroy()
    }, this.#options.pingTimeout)
    session.ping(() => {
      clearTimeout(late)
      this.#pinging = false
      if (this.state === 'open') this.#owner.onRoom(this)
    })
  }

  #begin(socket: Socket): void {
    const { origin, streams } = this.#options
    const session = connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
      // What paused replies may hold, and some for the rest: Node refuses streams beyond it.
      maxSessionMemory: 16 + Math.ceil((streams * STREAM_WINDOW) / (1 << 20)),
      maxHeaderListPairs: 512,
    })
    this.#session = session
    session.on('remoteSettings', settings => this.#settle(settings))
    session.on('goaway', (_code, lastStreamId) => {
      this.lastStreamId = Math.min(this.lastStreamId, lastStreamId)
      if (this.state === 'open') this.#leave()
    })
    session.on('error', cause => {
      this.cause ??= cause
    })
    session.on('close', () => {
      const early = this.state === 'connecting'
      this.#end()
      this.#owner.onGone(this, early ? noHttp2(this.cause) : null)
    })
    if (!session.connecting) session.setLocalWindowSize(SESSION_WINDOW)
    else session.once('connect', () => session.setLocalWindowSize(SESSION_WINDOW))
  }

  // Nothing is sent before the target has told its limits: a request that it can't take would be refused.
  #settle(settings: Settings): void {
    this.limit = Math.min(this.#options.streams, settings.maxConcurrentStreams ?? Infinity)
    this.extendedConnect = settings.enableConnectProtocol === true
    if (this.state === 'connecting') {
      this.state = 'open'
      clearTimeout(this.#timer)
      this.#watch()
      if (this.streams === 0) this.#session!.unref()
    }
    if (this.state === 'open') this.#owner.onRoom(this)
  }

  #leave(): void {
    this.state = 'leaving'
    this.#owner.onGone(this, null)
  }

  /** One timer a session, not one a request: idle time and silence are looked at now and then. */
  #watch(): void {
    const { sessionIdle, pingAfter } = this.#options
    const every = Math.max(20, Math.min(sessionIdle, pingAfter || Infinity) / 2)
    this.#heardAt = Date.now()
    let bytes = 0
    this.#timer = setInterval(() => {
      const session = this.#session!
      if (session.destroyed) return
      const now = Date.now()
      const { bytesRead } = session.socket
      if (bytesRead !== bytes) {
        bytes = bytesRead
        this.#heardAt = now
      }
      if (this.streams === 0) {
        if (this.state === 'open' && now - this.#idleSince >= sessionIdle) {
          this.#leave()
          session.close()
        }
      } else if (pingAfter > 0 && now - this.#heardAt >= pingAfter) this.ping()
    }, every).unref()
  }

  #late(): void {
    this.#fail(
      new ProxyError({ source: 'upstream', phase: 'connect', code: 'connect-timeout', retryable: true }),
    )
  }

  #fail(error: ProxyError): void {
    if (this.state === 'gone') return
    const session = this.#session
    this.#giveUp()
    this.#end()
    session?.destroy()
    this.#owner.onGone(this, error)
  }

  #end(): void {
    this.state = 'gone'
    clearInterval(this.#timer)
    clearTimeout(this.#timer)
  }
}
