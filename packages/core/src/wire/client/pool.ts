/** HTTP/1.1 to a target on sockets of our own: a bounded pool, last in, first out. */
import { ProxyError } from '../../errors.ts'
import type { Call, Connector, OutgoingRequest, Receiver } from '../../upstream/connector.ts'
import { upstreamFailure } from '../../upstream/failures.ts'
import type { Http1Options } from '../../upstream/http1-options.ts'
import { type CallOwner, WireCall } from './call.ts'
import type { WireConnection } from './connection.ts'
import { Dialer } from './dialer.ts'
import type { ConnectionOwner, Times } from './owner.ts'
import { type RequestHead, requestHead } from './request-head.ts'
import { Ticks } from './ticks.ts'

/** How long a body waits for `100 Continue`, in ms. */
const CONTINUE_WAIT = 1000

/** A bounded pool of keep-alive connections to one target. */
export function wireConnector(options: Http1Options): Connector {
  return new WirePool(options)
}

class WirePool implements Connector, ConnectionOwner, CallOwner {
  readonly expects = true
  readonly ticks: Ticks
  readonly times: Times
  readonly #dialer: Dialer
  readonly #most: number
  readonly #queue: number
  /** Connections that may be used or may become so. */
  readonly #all = new Set<WireConnection>()
  /** Those whose sockets are not closed yet. */
  readonly #open = new Set<WireConnection>()
  /** Free for use; the last one was used last. */
  readonly #idle: WireConnection[] = []
  /** Not connected yet, and nobody waits for them. */
  readonly #unclaimed: WireConnection[] = []
  readonly #waiting = new Set<WireCall>()
  /** Requests that have a connection, or one that is being made. */
  #running = 0
  #starting = false
  #over = false
  #quiet: (() => void)[] = []

  constructor(options: Http1Options) {
    const { connections, queue, connectTimeout, headTimeout, idleTimeout, keepAlive, warm } = options
    const shortest = Math.min(connectTimeout, headTimeout, idleTimeout, keepAlive)
    this.ticks = new Ticks(shortest, () => this.#onTick())
    this.times = {
      connect: this.ticks.of(connectTimeout),
      head: this.ticks.of(headTimeout),
      idle: this.ticks.of(idleTimeout),
      keepAlive: this.ticks.of(keepAlive),
      continue: this.ticks.of(CONTINUE_WAIT),
    }
    this.#most = connections
    this.#queue = queue
    this.#dialer = new Dialer(options)
    // A failure is nobody's: the first request will meet it too.
    for (let i = 0; i < warm; i++) this.#unclaimed.push(this.#connect())
  }

  send(request: OutgoingRequest, receiver: Receiver): Call {
    let head: RequestHead
    try {
      head = requestHead(request)
    } catch (error) {
      return failed(receiver, error as ProxyError)
    }
    if (this.#over) return failed(receiver, notTaken('connect-failed'))
    const call = new WireCall(this, request, receiver, head)
    if (this.#running < this.#most) this.#start(call)
    else if (this.#waiting.size < this.#queue) this.#waiting.add(call)
    else return failed(receiver, notTaken('queue-full'))
    return call
  }

  connections(): { open: number; idle: number; waiting: number } {
    let open = 0
    for (const connection of this.#all) if (connection.ready) open++
    return { open, idle: this.#idle.length, waiting: this.#waiting.size }
  }

  async close(): Promise<void> {
    this.#over = true
    if (this.#running > 0 || this.#waiting.size > 0) {
      await new Promise<void>(resolve => this.#quiet.push(resolve))
    }
    for (const connection of [...this.#all]) connection.close()
    await this.#closed()
  }

  destroy(): Promise<void> {
    this.#over = true
    const cause = new Error('the upstream is closed')
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const call of waiting) call.fail(upstreamFailure(cause, false, 'connect'))
    for (const connection of [...this.#all]) connection.destroy(cause)
    return this.#closed()
  }

  async #closed(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>(resolve => this.#quiet.push(resolve))
  }

  #start(call: WireCall): void {
    this.#running++
    if (!call.request.fresh) {
      for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
        if (idle.usable) return idle.carry(call)
        idle.close()
      }
      const made = this.#unclaimed.pop()
      if (made !== undefined) return made.carry(call)
    } else if (this.#all.size >= this.#most) (this.#idle[0] ?? this.#unclaimed[0])?.close()
    this.#connect().carry(call)
  }

  #connect(): WireConnection {
    const connection = this.#dialer.open(this)
    this.#all.add(connection)
    this.#open.add(connection)
    this.ticks.start()
    return connection
  }

  onReady(connection: WireConnection): void {
    if (!connection.ready) this.#unclaimed.push(connection)
    else {
      remove(this.#unclaimed, connection)
      this.onFree(connection)
    }
  }

  onFree(connection: WireConnection): void {
    if (this.#over && this.#waiting.size === 0) connection.close()
    else this.#idle.push(connection)
  }

  onGone(connection: WireConnection): void {
    this.#all.delete(connection)
    remove(this.#idle, connection)
    remove(this.#unclaimed, connection)
  }

  onClosed(connection: WireConnection): void {
    this.#open.delete(connection)
    if (this.#open.size > 0) return
    this.ticks.stop()
    this.#tellQuiet()
  }

  onLeft(): void {
    this.#running--
    // A start that fails at once comes back here.
    if (this.#starting) return
    this.#starting = true
    while (this.#running < this.#most && this.#waiting.size > 0) {
      const [next] = this.#waiting
      this.#waiting.delete(next!)
      this.#start(next!)
    }
    this.#starting = false
    this.#tellQuiet()
  }

  onUnqueued(call: WireCall): void {
    this.#waiting.delete(call)
    this.#tellQuiet()
  }

  #tellQuiet(): void {
    if (this.#quiet.length === 0 || this.#running > 0 || this.#waiting.size > 0) return
    const quiet = this.#quiet
    this.#quiet = []
    for (const tell of quiet) tell()
  }

  #onTick(): void {
    const { now } = this.ticks
    for (const connection of this.#all) {
      if (connection.due !== 0 && connection.due <= now) connection.onDue()
    }
    for (const connection of this.#idle) connection.unref()
  }
}

function remove(list: WireConnection[], connection: WireConnection): void {
  const at = list.lastIndexOf(connection)
  if (at !== -1) list.splice(at, 1)
}

function notTaken(code: 'queue-full' | 'connect-failed'): ProxyError {
  const source = code === 'queue-full' ? 'proxy' : 'upstream'
  return new ProxyError({ source, phase: 'connect', code, retryable: true })
}

function failed(receiver: Receiver, error: ProxyError): Call {
  queueMicrotask(() => receiver.onError(error))
  return NO_CALL
}

const NO_CALL: Call = { resume() {}, cancel() {} }
