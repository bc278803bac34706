/** What a connection needs of the pool that it belongs to. */
import type { WireConnection } from './connection.ts'
import type { Ticks } from './ticks.ts'

/** Times of a pool, in steps. */
export interface Times {
  readonly connect: number
  readonly head: number
  readonly idle: number
  readonly keepAlive: number
  /** How long a body waits for `100 Continue`; then it goes unasked (RFC 9110, 10.1.1). */
  readonly continue: number
}

/** The pool, as its connections know it. */
export interface ConnectionOwner {
  readonly ticks: Ticks
  readonly times: Times
  /** Connected, and nobody has claimed it yet. */
  onReady(connection: WireConnection): void
  /** It may carry another request. */
  onFree(connection: WireConnection): void
  /** It must not be used any more. */
  onGone(connection: WireConnection): void
  /** Its socket is closed. */
  onClosed(connection: WireConnection): void
  /** A request has left it: answered, failed or given up. */
  onLeft(): void
}
