/** One request on its way to a target, or to several in turn: receives the answer, and is the reply's body. */
import type { Own } from '../body/guard.ts'
import { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import { EditableReply } from '../pipeline/answer.ts'
import type { AttemptWatch, Flow, Reply, Sink, Source } from '../pipeline/contract.ts'
import type { Exchange } from '../pipeline/exchange.ts'
import { failureReply } from '../reply.ts'
import type { Call, Receiver, UpstreamTunnel } from '../upstream/connector.ts'
import type { Target, Verdict } from '../upstream/target.ts'
import { blames } from './blame.ts'
import { BodyGuard } from './body-guard.ts'
import { type Deadline, type Deadlines, noDeadline } from './deadlines.ts'
import { isStream, replyFields } from './reply-head.ts'
import type { RetryFacts } from './retry-plan.ts'

/** Chunks kept until the reply is started: what one read of the socket gives. More pauses the upstream. */
const HELD_BYTES = 65_536

/** Whoever sends an attempt, and may send it again. */
export interface Carrier {
  /** It failed before the reply's head. True: it is on its way again. */
  again(attempt: Attempt, error: ProxyError): boolean
  /** A reply's head came. True: it is not wanted, and the request is on its way again. */
  declines(attempt: Attempt, status: number, retryAfter: string | undefined): boolean
  /** `Set-Cookie` that keeps the client with its target, or `null`. */
  cookieFor(attempt: Attempt): string | null
}

/** State of a request through its attempts. Small replies are whole before anybody asks for them, and leave in one write. */
export class Attempt implements Receiver, Source, Flow, Deadline, RetryFacts, Own {
  readonly keepsTheRules = true
  readonly deadline: Deadline['deadline'] = noDeadline()
  readonly cx: Exchange
  /** Request body; `null` when there is none. */
  readonly body: BodyGuard | null
  length: number | null = null
  call: Call | null = null
  /** Attempts so far. */
  count = 0
  informed = false
  refreshed = false
  /** Where the last attempt went. */
  lastTarget: Target | null = null
  readonly #carrier: Carrier | null
  readonly #deadlines: Deadlines | null
  readonly #resolve: (reply: Reply) => void
  #tried: Target[] | null = null
  /** Where a request is under way. */
  #target: Target | null = null
  #ticket = 0
  #sentAt = 0
  #watch: AttemptWatch | null = null
  #reply: Reply | null = null
  #sink: Sink | null = null
  readonly #held: Uint8Array[] = []
  #heldBytes = 0
  #full = false
  #paused = false
  #end: { trailers: HeaderList | undefined } | null = null
  #error: ProxyError | null = null
  /** Nothing more comes from the upstream. */
  over = false

  constructor(
    cx: Exchange,
    deadlines: Deadlines | null,
    resolve: (reply: Reply) => void,
    carrier: Carrier | null = null,
  ) {
    this.cx = cx
    this.body = cx.body === null ? null : new BodyGuard(cx.body)
    this.#carrier = carrier
    this.#deadlines = deadlines
    this.#resolve = resolve
    deadlines?.add(this)
    cx.onAbort(error => this.cancel(error))
  }

  get method(): string {
    return this.cx.request.method
  }

  get hasBody(): boolean {
    return this.body !== null
  }

  get bodyBegun(): boolean {
    return this.body?.begun === true
  }

  /** The next attempt goes there. */
  aim(target: Target): void {
    if (this.lastTarget !== null) {
      this.#tried ??= []
      this.#tried.push(this.lastTarget)
    }
    this.lastTarget = target
  }

  /** All targets that were asked. */
  tried(): readonly Target[] {
    return this.#tried === null ? [this.lastTarget!] : [...this.#tried, this.lastTarget!]
  }

  /** It is being sent now, and `watch` hears how it goes. */
  leaving(watch: AttemptWatch | null): void {
    this.#watch = watch
    const target = this.lastTarget!
    this.#target = target
    this.#ticket = target.enter()
    this.#sentAt = performance.now()
  }

  /** The answer of this attempt is not wanted. */
  drop(): void {
    this.#left('neutral')
    this.call?.cancel(new ProxyError({ source: 'proxy', phase: 'reply-head', code: 'no-upstream' }))
  }

  onInterim(status: number, headers: string[]): void {
    // 100 belongs to the hop that asked for it; 101 can't come, nobody asked.
    if (status <= 101) return
    this.informed = true
    try {
      this.cx.inform(status, replyFields(headers, status))
    } catch {
      // What cannot be passed on must not cost the final answer.
    }
  }

  onHead(status: number, raw: string[], ended = false): void {
    // RFC 9110, 15: a status above 599 is invalid, and HTTP/2 could not send it.
    if (status > 599) return this.#refuse()
    if (this.#target !== null) {
      this.#ticket = this.#target.headed(this.#ticket, performance.now() - this.#sentAt, status)
    }
    this.#watch?.onHead(status)
    const headers = replyFields(raw, status)
    const carrier = this.#carrier
    if (carrier !== null) {
      if (status >= 502 && carrier.declines(this, status, headers.get('retry-after'))) return
      const cookie = carrier.cookieFor(this)
      if (cookie !== null) headers.raw.push('Set-Cookie', cookie)
    }
    this.cx.onAbort(null)
    const length = headers.get('content-length')
    if (this.#deadlines && isStream(headers, length)) this.#deadlines.remove(this)
    const bodiless = ended || status === 204 || status === 304 || this.cx.request.method === 'HEAD'
    if (!bodiless && length !== undefined) this.length = Number(length)
    this.#reply = new EditableReply(status, headers, bodiless ? null : this)
    this.#resolve(this.#reply)
  }

  /** The target has changed protocols; from now on the transport has it. */
  onTunnel(raw: string[], tunnel: UpstreamTunnel): void {
    const target = this.#target
    const ticket = target?.headed(this.#ticket, performance.now() - this.#sentAt, 101) ?? 0
    this.#target = null
    const watch = this.#watch
    this.#watch = null
    watch?.onHead(101)
    tunnel.onClose(() => {
      target?.leave(ticket, 'ok')
      watch?.onEnd(null)
    })
    this.#settle('ok')
    const headers = replyFields(raw, 101)
    const cookie = this.#carrier?.cookieFor(this)
    if (cookie) headers.raw.push('Set-Cookie', cookie)
    this.#reply = { status: 101, headers, body: tunnel }
    this.#resolve(this.#reply)
  }

  onData(bytes: Uint8Array): boolean {
    if (this.#sink !== null && this.#held.length === 0) return this.#sink.write(bytes)
    this.#held.push(bytes)
    this.#heldBytes += bytes.length
    this.#full = this.#heldBytes >= HELD_BYTES
    return !this.#full
  }

  onEnd(trailers: string[]): void {
    this.#settle('ok')
    const fields = trailers.length > 0 ? replyFields(trailers, 200) : undefined
    if (this.#sink !== null && this.#held.length === 0) this.#sink.end(fields)
    else this.#end = { trailers: fields }
  }

  onError(error: ProxyError): void {
    if (this.over) return
    this.#left(blames(error) ? 'failed' : 'neutral', error)
    if (this.#reply === null && this.#carrier?.again(this, error)) return
    this.#settle('neutral')
    if (this.#reply === null) this.#resolve(failureReply(error))
    else if (this.#sink !== null) {
      this.#held.length = 0
      this.#sink.fail(error)
    } else this.#error = error
  }

  #refuse(): void {
    const error = new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'bad-reply' })
    this.call?.cancel(error)
    this.onError(error)
  }

  onDeadline(): void {
    const phase = this.#reply === null ? 'reply-head' : 'reply-body'
    const error = new ProxyError({ source: 'upstream', phase, code: 'total-timeout' })
    this.call?.cancel(error)
    this.onError(error)
  }

  start(sink: Sink): Flow {
    this.#sink = sink
    this.#replay()
    return this
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    if (this.#held.length > 0 || this.#end !== null || this.#error !== null || this.#full) this.#replay()
    else this.call?.resume()
  }

  /** The client has gone, or nobody wants the rest. */
  cancel(error: ProxyError): void {
    // What is held goes in any case: it must not come after this.
    this.#held.length = 0
    this.#error = null
    if (this.over && this.#end === null) return
    this.#left('neutral', error)
    this.#settle('neutral')
    this.#end = null
    this.call?.cancel(error)
    if (this.#reply === null) this.#resolve(failureReply(error))
  }

  #replay(): void {
    const sink = this.#sink!
    while (!this.#paused) {
      const chunk = this.#held.shift()
      if (chunk === undefined) break
      this.#heldBytes -= chunk.length
      if (!sink.write(chunk)) this.#paused = true
    }
    if (this.#held.length > 0 || this.#paused) return
    if (this.#error) {
      const error = this.#error
      this.#error = null
      sink.fail(error)
    } else if (this.#end) {
      const { trailers } = this.#end
      this.#end = null
      sink.end(trailers)
    } else if (this.#full) {
      this.#full = false
      this.call?.resume()
    }
  }

  #settle(verdict: Verdict): void {
    this.over = true
    this.#left(verdict)
    this.#deadlines?.remove(this)
    this.cx.onAbort(null)
  }

  #left(verdict: Verdict, error: ProxyError | null = null): void {
    const watch = this.#watch
    if (watch !== null) {
      this.#watch = null
      watch.onEnd(error)
    }
    const target = this.#target
    if (target === null) return
    this.#target = null
    target.leave(this.#ticket, verdict)
  }
}
