/** What an HTTP/2 connector needs to know. */
import type { ConnectorOptions } from '../protocol.ts'

/** How a target is spoken to. Made by `upstream()`; milliseconds and bytes. */
export interface Http2Options extends Omit<ConnectorOptions, 'protocol' | 'http2'> {
  /** `h2`: TLS with ALPN. `h2c`: plain, by prior knowledge (RFC 9113, 3.3). */
  readonly protocol: 'h2' | 'h2c'
  /** Requests at a time on one session; the target's own limit holds too. */
  readonly streams: number
  /** How long a session without requests is kept. */
  readonly sessionIdle: number
  /** Silence on a session with open requests after which it is asked whether it lives (PING); 0 for never. */
  readonly pingAfter: number
  /** How long the answer to a PING may take. */
  readonly pingTimeout: number
  /** Called with `http/1.1` when the target does not speak HTTP/2 but would speak that. Absent: that is a failure. */
  readonly onHttp1?: () => void
}

/** Bytes that one reply may be ahead of its reader. More does not pay below some hundred Mbit/s a stream. */
export const STREAM_WINDOW: number = 256 * 1024
/** The same for all streams of a session together; Node gives this back as bytes arrive, so nobody waits for another. */
export const SESSION_WINDOW: number = 4 * 1024 * 1024
