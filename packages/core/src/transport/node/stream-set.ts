/** The exchanges of one HTTP/2 session, and what it has carried. */
import type { ServerHttp2Session } from 'node:http2'

/** An exchange, as its session sees it. */
export interface Link2 {
  readonly bytesReceived: number
  /** The session is gone. */
  closed(): void
}

const STREAMS = Symbol('streams')

/** Links of the streams that are being answered. */
export class StreamSet extends Set<Link2> {
  /** Streams so far. */
  opened = 0
  /** Most that a request's fields may take; each counts 32 more (RFC 9113, 6.5.2). */
  headerListSize: number = Infinity
  /** A stream was broken by its client before it was answered. */
  onCancelled: (() => void) | null = null
  #bodyBytes = 0

  /** The set of a session. */
  static of(session: ServerHttp2Session): StreamSet {
    const owner = session as ServerHttp2Session & { [STREAMS]?: StreamSet }
    return (owner[STREAMS] ??= new StreamSet())
  }

  /** Bytes of bodies and tunnels that came, also of streams that are still open. */
  get bodyBytes(): number {
    let bytes = this.#bodyBytes
    for (const link of this) bytes += link.bytesReceived
    return bytes
  }

  override add(link: Link2): this {
    this.opened++
    return super.add(link)
  }

  override delete(link: Link2): boolean {
    if (!super.delete(link)) return false
    this.#bodyBytes += link.bytesReceived
    return true
  }

  /** True when a head is larger than it may be. */
  isTooLarge(raw: readonly string[]): boolean {
    let size = 0
    for (let i = 0; i < raw.length; i++) size += raw[i]!.length + 16
    return size > this.headerListSize
  }
}
