/** One request to one target: receives its answer, and is the reply's body. */
import type { Own } from '../body/guard.ts'
import { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import type { Flow, Reply, Sink, Source } from '../pipeline/contract.ts'
import type { Exchange } from '../pipeline/exchange.ts'
import { failureReply } from '../reply.ts'
import type { Call, Receiver } from '../upstream/connector.ts'
import { type Deadline, type Deadlines, noDeadline } from './deadlines.ts'
import { isStream, replyFields } from './reply-head.ts'

/** Chunks kept until the reply is started: what one read of the socket gives. More pauses the upstream. */
const HELD_BYTES = 65_536

/** State of one attempt. Small replies are whole before anybody asks for them, and leave in one write. */
export class Attempt implements Receiver, Source, Flow, Deadline, Own {
  readonly keepsTheRules = true
  readonly deadline: Deadline['deadline'] = noDeadline()
  length: number | null = null
  call: Call | null = null
  readonly #cx: Exchange
  readonly #deadlines: Deadlines | null
  readonly #resolve: (reply: Reply) => void
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

  constructor(cx: Exchange, deadlines: Deadlines | null, resolve: (reply: Reply) => void) {
    this.#cx = cx
    this.#deadlines = deadlines
    this.#resolve = resolve
    deadlines?.add(this)
    cx.onAbort(error => this.cancel(error))
  }

  onInterim(status: number, headers: string[]): void {
    // 100 belongs to the hop that asked for it; 101 can't come, nobody asked.
    if (status > 101) this.#cx.inform(status, replyFields(headers, status))
  }

  onHead(status: number, raw: string[]): void {
    const headers = replyFields(raw, status)
    this.#cx.onAbort(null)
    const length = headers.get('content-length')
    if (this.#deadlines && isStream(headers, length)) this.#deadlines.remove(this)
    const bodiless = status === 204 || status === 304 || this.#cx.request.method === 'HEAD'
    if (!bodiless && length !== undefined) this.length = Number(length)
    this.#reply = { status, headers, body: bodiless ? null : this }
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
    this.#settle()
    const fields = trailers.length > 0 ? replyFields(trailers, 200) : undefined
    if (this.#sink !== null && this.#held.length === 0) this.#sink.end(fields)
    else this.#end = { trailers: fields }
  }

  onError(error: ProxyError): void {
    if (this.over) return
    this.#settle()
    if (this.#reply === null) this.#resolve(failureReply(error))
    else if (this.#sink !== null) this.#sink.fail(error)
    else this.#error = error
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
    if (this.over && this.#end === null) return
    this.#settle()
    this.#end = null
    this.#held.length = 0
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

  #settle(): void {
    this.over = true
    this.#deadlines?.remove(this)
    this.#cx.onAbort(null)
  }
}
