/** How an app reaches a target. Only connectors know the client library behind them. */
import type { ProxyError } from '../errors.ts'
import type { Source } from '../pipeline/contract.ts'

/** A request as it goes out. */
export interface OutgoingRequest {
  readonly method: string
  /** Origin-form. */
  readonly target: string
  /** `[name, value, …]`, `Host` included. */
  readonly headers: string[]
  readonly body: Source | null
  /** Over a connection that nothing else has used. Default false. */
  readonly fresh?: boolean
}

/** Takes the answer to one request. After `onError` or `onEnd` nothing more comes. */
export interface Receiver {
  /** An interim response (RFC 9110, 15.2). */
  onInterim(status: number, headers: string[]): void
  /** Final head. */
  onHead(status: number, headers: string[]): void
  /** A chunk of body; false pauses until `resume`. */
  onData(bytes: Uint8Array): boolean
  onEnd(trailers: string[]): void
  onError(error: ProxyError): void
}

/** A request on its way. */
export interface Call {
  resume(): void
  /** Gives the request up; the receiver hears nothing more. */
  cancel(error: ProxyError): void
}

/** A pool of connections to one target. */
export interface Connector {
  send(request: OutgoingRequest, receiver: Receiver): Call
  /** How many connections there are, and how many requests wait for one. */
  connections?(): { open: number; idle: number; waiting: number }
  /** Waits for what runs, then closes the connections. */
  close(): Promise<void>
  /** Closes the connections at once. */
  destroy(): Promise<void>
}
