/** One request on its way over a wire connection. */
import type { ProxyError } from '../../errors.ts'
import type { Call, OutgoingRequest, Receiver } from '../../upstream/connector.ts'
import type { WireConnection } from './connection.ts'
import type { RequestHead } from './request-head.ts'

/** The pool, as its calls know it. */
export interface CallOwner {
  /** It waits no longer for a connection. */
  onUnqueued(call: WireCall): void
}

/** A request, its head as it will be sent, and the connection that carries it. */
export class WireCall implements Call {
  readonly request: OutgoingRequest
  readonly receiver: Receiver
  readonly head: RequestHead
  /** `null` while it waits for one, and once it is over. */
  connection: WireConnection | null = null
  over = false
  readonly #owner: CallOwner

  constructor(owner: CallOwner, request: OutgoingRequest, receiver: Receiver, head: RequestHead) {
    this.#owner = owner
    this.request = request
    this.receiver = receiver
    this.head = head
  }

  resume(): void {
    this.connection?.resume()
  }

  cancel(error: ProxyError): void {
    if (this.over) return
    this.over = true
    if (this.connection !== null) this.connection.abandon(error)
    else this.#owner.onUnqueued(this)
  }

  /** Ends it before it had a connection. */
  fail(error: ProxyError): void {
    if (this.over) return
    this.over = true
    this.receiver.onError(error)
  }
}
