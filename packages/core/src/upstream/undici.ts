/** HTTP/1.1 to a target over undici's `dispatch`: callbacks, no promise a chunk. */
import { buildConnector, type Dispatcher, Pool } from 'undici'
import { latin1 } from '../body/latin1.ts'
import { toReadable } from '../body/readable.ts'
import { ProxyError } from '../errors.ts'
import type { Call, Connector, OutgoingRequest, Receiver } from './connector.ts'
import { upstreamFailure } from './failures.ts'

/** What the connector needs to know of its target. Milliseconds. */
export interface UndiciOptions {
  readonly origin: string
  /** Name for SNI and certificate check: the target's, whatever `Host` says. `null` for addresses and plain HTTP. */
  readonly serverName: string | null
  readonly connections: number
  readonly queue: number
  readonly keepAlive: number
  readonly connectTimeout: number
  readonly headTimeout: number
  readonly idleTimeout: number
  /** Silence allowed on a tunnel; 0 for any. */
  readonly tunnelIdle: number
  /** Tunnels at a time on connections of their own. */
  readonly tunnels: number
  readonly tls: { readonly ca?: string | Buffer | readonly (string | Buffer)[] | undefined }
}

/** A bounded pool of keep-alive connections to one target. */
export function undiciConnector(options: UndiciOptions): Connector {
  const pool = new Pool(options.origin, {
    connections: options.connections,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: options.keepAlive,
    headersTimeout: options.headTimeout,
    bodyTimeout: options.idleTimeout,
    connect: connectTo(options),
  })
  // Always the same name, or undici takes the Host header for it and opens a connection for each.
  const serverName = options.serverName ?? new URL(options.origin).hostname
  const limit = options.connections + options.queue
  let running = 0

  return {
    send(request, receiver) {
      if (running >= limit) {
        queueMicrotask(() =>
          receiver.onError(
            new ProxyError({ source: 'proxy', phase: 'connect', code: 'queue-full', retryable: true }),
          ),
        )
        return NO_CALL
      }
      running++
      const call = new UndiciCall(receiver, request.method, () => running--)
      try {
        pool.dispatch(dispatchOptions(request, serverName), call as unknown as Dispatcher.DispatchHandler)
      } catch (error) {
        call.onError(error as Error)
      }
      return call
    },
    close: () => pool.close(),
    destroy: () => pool.destroy(),
  }
}

function connectTo(options: UndiciOptions): buildConnector.connector {
  const { ca } = options.tls
  const connect = buildConnector({ timeout: options.connectTimeout, ...(ca ? { ca: ca as string } : {}) })
  // No SNI for addresses (RFC 6066, 3); the certificate is then checked against the address.
  return (target, callback) => connect({ ...target, servername: options.serverName ?? '' }, callback)
}

function dispatchOptions(request: OutgoingRequest, serverName: string): Dispatcher.DispatchOptions {
  const made = {
    method: request.method as Dispatcher.HttpMethod,
    path: request.target,
    headers: request.headers,
    body: request.body === null ? null : toReadable(request.body),
    // Never retried inside: whether that is safe is the proxy's decision.
    idempotent: false,
    blocking: false,
    servername: serverName,
  }
  return made as Dispatcher.DispatchOptions
}

const NO_CALL: Call = { resume() {}, cancel() {} }

/** undici's handler: the raw shape, which keeps order, case and duplicates of fields. */
class UndiciCall implements Call {
  readonly #receiver: Receiver
  readonly #method: string
  readonly #release: () => void
  #abort: ((error: Error) => void) | null = null
  #resume: (() => void) | null = null
  #cancelled: ProxyError | null = null
  #over = false
  #headed = false

  constructor(receiver: Receiver, method: string, release: () => void) {
    this.#receiver = receiver
    this.#method = method
    this.#release = release
  }

  resume(): void {
    this.#resume?.()
  }

  cancel(error: ProxyError): void {
    if (this.#over || this.#cancelled) return
    this.#cancelled = error
    this.#abort?.(error)
  }

  onConnect(abort: (error: Error) => void): void {
    this.#abort = abort
    if (this.#cancelled) abort(this.#cancelled)
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void): boolean {
    if (status < 200) {
      this.#receiver.onInterim(status, textOf(headers))
      return true
    }
    this.#headed = true
    this.#resume = resume
    this.#receiver.onHead(status, textOf(headers))
    // A 304 may carry the length of the 200 (RFC 9110, 8.6); it is whole with its head.
    if (status === 304 && this.#method !== 'HEAD') this.#finish([])
    return true
  }

  onData(bytes: Buffer): boolean {
    return this.#over ? true : this.#receiver.onData(bytes)
  }

  onComplete(trailers: Buffer[] | null): void {
    this.#finish(trailers && trailers.length > 0 ? textOf(trailers) : [])
  }

  onError(error: Error): void {
    if (this.#over) return
    this.#over = true
    this.#release()
    if (this.#cancelled) return
    const phase = this.#headed ? 'reply-body' : 'reply-head'
    this.#receiver.onError(upstreamFailure(error, this.#abort !== null, phase))
  }

  #finish(trailers: string[]): void {
    if (this.#over) return
    this.#over = true
    this.#release()
    if (!this.#cancelled) this.#receiver.onEnd(trailers)
  }
}

function textOf(fields: Buffer[]): string[] {
  const text = new Array<string>(fields.length)
  for (let i = 0; i < fields.length; i++) text[i] = latin1(fields[i]!)
  return text
}
