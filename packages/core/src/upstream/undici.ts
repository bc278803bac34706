/** HTTP/1.1 to a target over undici's `dispatch`: callbacks, no promise a chunk. */
import { buildConnector, type Client, type Dispatcher, Pool } from 'undici'
import { latin1 } from '../body/latin1.ts'
import { toReadable } from '../body/readable.ts'
import { ProxyError } from '../errors.ts'
import type { Call, Connector, OutgoingRequest, Receiver } from './connector.ts'
import { isLocalhost, lookupLocalhost } from './dns/localhost.ts'
import { staleSocket, upstreamFailure } from './failures.ts'
import type { TlsOptions } from './options.ts'
import { TrackedClient, type TrackedHandler } from './tracked-client.ts'
import { WarmConnections } from './warm.ts'

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
  readonly tls: TlsOptions
  /** Address to connect to instead of asking for the host name; `null` to ask. */
  readonly address: string | null
  /** Path of a Unix socket to connect to, or `null`. */
  readonly socketPath: string | null
  /** Connections that are opened at once. */
  readonly warm: number
}

/** A bounded pool of keep-alive connections to one target. */
export function undiciConnector(options: UndiciOptions): Connector {
  const connect = connectTo(options)
  const warm = options.warm > 0 ? new WarmConnections(connect, options.keepAlive) : null
  const pool = makePool(options, warm ? warmConnector(warm, connect) : connect)
  /** For requests that must not meet another stale connection. */
  let fresh: Pool | null = null
  if (warm) warm.open(connectOptions(options.origin), options.warm)
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
        const handler = call as unknown as Dispatcher.DispatchHandler
        if (request.fresh) {
          fresh ??= makePool(options, connect)
          fresh.dispatch({ ...dispatchOptions(request, serverName), reset: true }, handler)
        } else pool.dispatch(dispatchOptions(request, serverName), handler)
      } catch (error) {
        call.onError(error as Error)
      }
      return call
    },
    connections() {
      const { connected, free, pending } = pool.stats
      return { open: connected + (warm?.size ?? 0), idle: free + (warm?.size ?? 0), waiting: pending }
    },
    async close() {
      warm?.close()
      await Promise.all([pool.close(), fresh?.close()])
    },
    async destroy() {
      warm?.close()
      await Promise.all([pool.destroy(), fresh?.destroy()])
    },
  }
}

function makePool(options: UndiciOptions, connect: buildConnector.connector): Pool {
  return new Pool(options.origin, {
    connections: options.connections,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: options.keepAlive,
    headersTimeout: options.headTimeout,
    bodyTimeout: options.idleTimeout,
    connect,
    factory: (origin, given) =>
      new TrackedClient(origin, given as Client.Options & { connect: buildConnector.connector }),
  })
}

function connectTo(options: UndiciOptions): buildConnector.connector {
  const { address, socketPath, tls } = options
  const connect = buildConnector({
    ...(tls as Omit<TlsOptions, 'servername' | 'ca'>),
    timeout: options.connectTimeout,
    ...(socketPath === null ? {} : { socketPath }),
    ...(isLocalhost(new URL(options.origin).hostname) ? { lookup: lookupLocalhost } : {}),
  })
  // No SNI for addresses (RFC 6066, 3); the certificate is then checked against the address.
  const fixed = { servername: options.serverName ?? '', ...(address === null ? {} : { hostname: address }) }
  return (target, callback) => connect({ ...target, ...fixed }, callback)
}

function warmConnector(warm: WarmConnections, connect: buildConnector.connector): buildConnector.connector {
  return (target, callback) => {
    const socket = warm.take()
    if (socket === null) connect(target, callback)
    else queueMicrotask(() => callback(null, socket))
  }
}

function connectOptions(origin: string): buildConnector.Options {
  const { host, hostname, protocol, port } = new URL(origin)
  return { host, hostname: hostname.replace(/^\[|\]$/g, ''), protocol, port }
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
class UndiciCall implements Call, TrackedHandler {
  client: TrackedClient | null = null
  readonly #receiver: Receiver
  readonly #method: string
  readonly #release: () => void
  #abort: ((error: Error) => void) | null = null
  #resume: (() => void) | null = null
  #cancelled: ProxyError | null = null
  #over = false
  #headed = false
  /** The connection has carried others before. */
  #reused = false
  /** A first byte came back. */
  #heard = false

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
    this.#reused = this.client !== null && this.client.served++ > 0
    if (this.#cancelled) abort(this.#cancelled)
  }

  onResponseStarted(): void {
    this.#heard = true
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
    const failure = upstreamFailure(error, this.#abort !== null, phase)
    const stale = this.#reused && !this.#heard && failure.code === 'upstream-reset'
    this.#receiver.onError(stale ? staleSocket(error) : failure)
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
