/**
 * The border between bodies of this package and those of hooks and handlers: whatever the other side does, what is on
 * this side sees whole chunks, one end, and no exception.
 */
import { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import type { Flow, Sink, Source, Tunnel } from '../pipeline/contract.ts'
import { dropTunnel } from '../upgrade/drop.ts'

/** Sources and sinks of this package, which keep the rules by themselves: they pass the border without a guard. */
export interface Own {
  readonly keepsTheRules: true
}

function isOwn(side: Source | Sink): boolean {
  return (side as Partial<Own>).keepsTheRules === true
}

/** The body of a reply, safe for a transport. */
export function guardReply(source: Source): Source {
  return isOwn(source) ? source : new Guard(source, 'reply-body')
}

/** The body of a request, safe from whoever reads it: it starts once, and a reader that throws breaks it. */
export function guardRequest(source: Source): Source {
  return new RequestBorder(source)
}

/** Cancels a body that nobody wants. Never throws, whatever `body` is. */
export function discard(body: unknown, error: ProxyError): void {
  try {
    if (typeof body !== 'object' || body === null) return
    if ('splice' in body) dropTunnel(body as Tunnel, error)
    else if ('start' in body) (body as Source).start(NOWHERE).cancel(error)
  } catch {
    // It was unwanted, and it is broken: nobody is left who would like to know.
  }
}

const NOWHERE: Sink = { write: () => false, end() {}, fail() {} }

class RequestBorder implements Source {
  readonly #source: Source
  #started = false

  constructor(source: Source) {
    this.#source = source
  }

  get length(): number | null {
    return this.#source.length
  }

  start(sink: Sink): Flow {
    if (this.#started) throw new TypeError('a body can be started once')
    this.#started = true
    if (typeof sink?.write !== 'function') throw new TypeError('a body is started with a sink')
    if (isOwn(sink)) return this.#source.start(sink)
    return new Guard(this.#source, 'request-body').start(sink)
  }
}

class Guard implements Source, Sink, Flow {
  readonly #source: Source
  readonly #phase: 'reply-body' | 'request-body'
  #sink!: Sink
  #flow: Flow | null = null
  #over = false
  /** Set when it was over before there was a flow to cancel. */
  #cancelled: ProxyError | null = null

  constructor(source: Source, phase: 'reply-body' | 'request-body') {
    this.#source = source
    this.#phase = phase
  }

  get length(): number | null {
    const { length } = this.#source
    return typeof length === 'number' ? length : null
  }

  get readsOnly(): boolean {
    return this.#sink.readsOnly === true
  }

  start(sink: Sink): Flow {
    this.#sink = sink
    try {
      const flow: unknown = this.#source.start(this)
      if (typeof (flow as Flow | null | undefined)?.cancel !== 'function') {
        if (!this.#over) throw new TypeError('start() of a source returned no flow')
      } else {
        this.#flow = flow as Flow
        if (this.#cancelled) this.#flow.cancel(this.#cancelled)
      }
    } catch (cause) {
      this.#break(cause)
    }
    return this
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over) return false
    if (!(bytes instanceof Uint8Array)) {
      this.#break(new TypeError('a source wrote something else than bytes'))
      return false
    }
    try {
      return this.#sink.write(bytes)
    } catch (cause) {
      this.#break(cause)
      return false
    }
  }

  end(trailers?: HeaderList): void {
    if (this.#over) return
    this.#over = true
    try {
      this.#sink.end(trailers)
    } catch (cause) {
      this.#fail(this.#bug(cause))
    }
  }

  fail(error: ProxyError): void {
    if (this.#over) return
    this.#over = true
    this.#fail(error instanceof ProxyError ? error : this.#bug(error))
  }

  pause(): void {
    try {
      this.#flow?.pause()
    } catch (cause) {
      this.#break(cause)
    }
  }

  resume(): void {
    if (this.#over) return
    try {
      this.#flow?.resume()
    } catch (cause) {
      this.#break(cause)
    }
  }

  cancel(error: ProxyError): void {
    this.#over = true
    this.#cancelled = error
    try {
      this.#flow?.cancel(error)
    } catch {
      // Nobody wants the body any more; that its end is broken too changes nothing.
    }
  }

  /** One side broke the rules: the other hears of a failure, and the source is told to stop. */
  #break(cause: unknown): void {
    if (this.#over) return
    const error = this.#bug(cause)
    this.cancel(error)
    this.#fail(error)
  }

  #fail(error: ProxyError): void {
    try {
      this.#sink.fail(error)
    } catch {
      // The reader is what is broken.
    }
  }

  #bug(cause: unknown): ProxyError {
    if (cause instanceof ProxyError) return cause
    return new ProxyError({ source: 'proxy', phase: this.#phase, code: 'internal', cause })
  }
}
