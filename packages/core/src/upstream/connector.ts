/** How an app reaches a target. Only connectors know the client library behind them. */
import type { ProxyError } from '../errors.ts'
import type { Source, Tunnel } from '../pipeline/contract.ts'

/** A request as it goes out. */
export interface OutgoingRequest {
  readonly method: string
  /** Origin-form. */
  readonly target: string
  /** `[name, value, …]`, `Host` included. */
  readonly headers: string[]
  readonly body: Source | null
  /** Fields that hooks have removed or written: trailers of the body with these names must not be sent. */
  readonly decided?: (name: string, value: string) => boolean
  /** Protocol to change to (RFC 9110, 7.8), lower case: for {@link Connector.open} only. */
  readonly upgrade?: string
  /** Over a connection that nothing else has used. Default false. */
  readonly fresh?: boolean
}

/** Takes the answer to one request. After `onError` or `onEnd` nothing more comes. */
export interface Receiver {
  /** An interim response (RFC 9110, 15.2). */
  onInterim(status: number, headers: string[]): void
  /** Final head. `ended`: the message ended with it, which only HTTP/2 tells. */
  onHead(status: number, headers: string[], ended?: boolean): void
  /** A chunk of body; false pauses until `resume`. */
  onData(bytes: Uint8Array): boolean
  onEnd(trailers: string[]): void
  onError(error: ProxyError): void
  /** The target has changed protocols: from now on bytes go both ways. Nothing else comes. */
  onTunnel?(headers: string[], tunnel: UpstreamTunnel): void
}

/** A tunnel that tells when its far end is gone. */
export interface UpstreamTunnel extends Tunnel {
  /** `listener` is called once; at once when it is gone already. */
  onClose(listener: () => void): void
  /** Ends it because its target is leaving: a WebSocket is told so, and cut if it doesn't end in time. */
  leave(): void
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
  /** Asks for another protocol. The answer is a tunnel, or whatever the target says instead. */
  open?(request: OutgoingRequest, receiver: Receiver): Call
  /** True when `Expect: 100-continue` can be sent on: the body then waits for the target's 100. */
  readonly expects?: boolean
  /** How many connections there are, and how many requests wait for one. */
  connections?(): { open: number; idle: number; waiting: number }
  /** Waits for what runs, then closes the connections. */
  close(): Promise<void>
  /** Closes the connections at once. */
  destroy(): Promise<void>
}
