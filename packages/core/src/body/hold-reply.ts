/** Keeps a reply's body back until a hook has looked at its beginning, or at all of it. */
import { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import type { Flow, Reply, ReplyHead, Sink, Source } from '../pipeline/contract.ts'
import { guardReply } from './guard.ts'
import { holdSource } from './hold.ts'

/** What {@link holdReplyBody} has read. */
export interface HeldBody {
  /** The beginning of the body: `limit` bytes and the rest of the chunk that crossed the limit, or less when it is whole. */
  readonly bytes: Uint8Array
  /** True when this is the whole body. */
  readonly whole: boolean
}

/**
 * For `onReply` hooks that decide by the body: reads the body of the reply whose `head` they were given until more than `limit` bytes are there or it has ended. The reply
 * then has a body that gives the same bytes, and the rest behind them, with the trailers; nothing of it has been sent. The
 * hook may still answer with another reply. A tunnel has no body to hold.
 *
 * The body can't be read when the upstream breaks off: the promise rejects with a {@link ProxyError}, and a hook that
 * passes it on answers as its code says, 502 for example. It rejects too when `signal` says that the client has gone.
 */
export async function holdReplyBody(head: ReplyHead, limit: number, signal: AbortSignal): Promise<HeldBody> {
  // What a hook on replies is given is the reply itself; a test may give it less.
  const reply = head as Reply
  const { body = null } = reply
  if (body === null || 'splice' in body) return { bytes: new Uint8Array(0), whole: true }
  if (body instanceof Uint8Array) return { bytes: body, whole: true }
  // Until it is known, the reply has none: whoever drops the reply meanwhile must not start the body a second time.
  reply.body = null
  const recorded = new Recorded(guardReply(body), limit)
  const leave = (): void => recorded.leave()
  signal.addEventListener('abort', leave)
  try {
    if (signal.aborted) leave()
    reply.body = await holdSource(recorded, limit + 1)
    return recorded.taken()
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** A source that remembers what passed, up to a limit. */
class Recorded implements Source, Sink, Flow {
  readonly length: number | null
  readonly #source: Source
  readonly #limit: number
  #chunks: Uint8Array[] = []
  #bytes = 0
  #whole = false
  #recording = true
  #sink: Sink | null = null
  #flow: Flow | null = null
  #left: ProxyError | null = null

  constructor(source: Source, limit: number) {
    this.#source = source
    this.#limit = limit
    this.length = source.length
  }

  start(sink: Sink): Flow {
    this.#sink = sink
    this.#flow = this.#source.start(this)
    if (this.#left) this.leave()
    return this
  }

  write(bytes: Uint8Array): boolean {
    if (this.#recording && this.#bytes <= this.#limit) {
      this.#chunks.push(bytes)
      this.#bytes += bytes.length
    }
    return this.#sink!.write(bytes)
  }

  end(trailers?: HeaderList): void {
    this.#whole = true
    this.#sink!.end(trailers)
  }

  fail(error: ProxyError): void {
    this.#sink!.fail(error)
  }

  pause(): void {
    this.#flow?.pause()
  }

  resume(): void {
    this.#flow?.resume()
  }

  cancel(error: ProxyError): void {
    this.#flow?.cancel(error)
  }

  /** The client has gone. */
  leave(): void {
    this.#left ??= new ProxyError({ source: 'client', phase: 'reply-body', code: 'client-closed' })
    this.#flow?.cancel(this.#left)
    this.#sink?.fail(this.#left)
  }

  /** What passed so far; nothing more is remembered. */
  taken(): HeldBody {
    const [first, ...rest] = this.#chunks
    const bytes = first !== undefined && rest.length === 0 ? first : Buffer.concat(this.#chunks)
    const whole = this.#whole
    this.#recording = false
    this.#chunks = []
    return { bytes, whole }
  }
}
