/** One server, as the proxy sees it. */
import type { Connector } from './connector.ts'

/** How a request to a target ended. `'neutral'` says nothing about the target: the client left, or was at fault. */
export type Verdict = 'ok' | 'failed' | 'neutral'

/** One server of a group. */
export interface Target {
  /** Name for logs and metrics; bounded by the group's list, never what a client sent. */
  readonly label: string
  /** Value of `Host` when the client's is not kept. */
  readonly authority: string
  /** Path in front of every target sent; `''` without one. */
  readonly basePath: string
  readonly connector: Connector
  /** A request goes out. The ticket belongs to it, for `headed` and `leave`. */
  enter(): number
  /** The reply's head came, after so many ms. Gives the ticket for `leave`. */
  headed(ticket: number, milliseconds: number, status: number): number
  /** It is over; exactly once for each `enter`. */
  leave(ticket: number, verdict: Verdict): void
}
