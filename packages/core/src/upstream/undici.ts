/** HTTP/1.1 to a target over undici's `dispatch`: callbacks, no promise a chunk. */
import { buildConnector, type Dispatcher, Pool } from 'undici'
import { latin1 } from '../body/latin1.ts'
import { toReadable } from '../body/readable.ts'
import { ProxyError } from '../errors.ts'
import { readOnAfterBrokenWrite } from './broken-write.ts'
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
  const { connections, queue } = options
  // undici's own queue keeps requests whose client has left; here they give up their place at once.
  const waiting = new Set<UndiciCall>()
  let running = 0
  let pumping = false
  let over = false
  let emptied: (() => void) | null = null

  function start(call: UndiciCall): void {
    running++
    call.begin()
    try {
      const handler = call as unknown as Dispatcher.DispatchHandler
      pool.dispatch(dispatchOptions(call.request, serverName), handler)
    } catch (error) {
      call.onError(error as Error)
    }
  }

  function release(call: UndiciCall): void {
    if (!waiting.delete(call)) running--
    // Later, and not from inside undici: it may still be putting a broken connection away.
    if (waiting.size > 0 && !pumping) {
      pumping = true
      queueMicrotask(pump)
    } else if (waiting.size === 0) emptied?.()
  }

  function pump(): void {
    while (running < connections && waiting.size > 0) {
      const [next] = waiting
      waiting.delete(next!)
      start(next!)
    }
    pumping = false
    if (waiting.size === 0) emptied?.()
  }

  return {
    send(request, receiver) {
      if (over) return failed(receiver, 'connect-failed')
      const free = running < connections && waiting.size === 0
      if (!free && waiting.size >= queue) return failed(receiver, 'queue-full')
      const call = new UndiciCall(request, receiver, release)
      if (free) start(call)
      else waiting.add(call)
      return call
    },
    async close() {
      over = true
      if (waiting.size > 0) {
        await new Promise<void>(resolve => {
          emptied = resolve
        })
      }
      await pool.close()
    },
    async destroy() {
      over = true
      pumping = true
      for (const call of waiting) call.onError(new Error('the upstream is closed'))
      await pool.destroy()
    },
  }
}

function failed(receiver: Receiver, code: 'queue-full' | 'connect-failed'): Call {
  const source = code === 'queue-full' ? 'proxy' : 'upstream'
  queueMicrotask(() => receiver.onError(new ProxyError({ source, phase: 'connect', code, retryable: true })))
  return NO_CALL
}

function connectTo(options: UndiciOptions): buildConnector.connector {
  const { ca } = options.tls
  const connect = buildConnector({ timeout: options.connectTimeout, ...(ca ? { ca: ca as string } : {}) })
  return (target, callback) => {
    // No SNI for addresses (RFC 6066, 3); the certificate is then checked against the address.
    connect({ ...target, servername: options.serverName ?? '' }, (...result) => {
      if (result[1]) readOnAfterBrokenWrite(result[1])
      callback(...result)
    })
  }
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
  readonly request: OutgoingRequest
  readonly #receiver: Receiver
  readonly #release: (call: UndiciCall) => void
  #abort: ((error: Error) => void) | null = null
  #resume: (() => void) | null = null
  #cancelled: ProxyError | null = null
  #started = false
  #over = false
  #headed = false

  constructor(request: OutgoingRequest, receiver: Receiver, release: (call: UndiciCall) => void) {
    this.request = request
    this.#receiver = receiver
    this.#release = release
  }

  /** It has left the queue. */
  begin(): void {
    this.#started = true
  }

  resume(): void {
    this.#resume?.()
  }

  cancel(error: ProxyError): void {
    if (this.#over || this.#cancelled) return
    this.#cancelled = error
    if (this.#started) this.#abort?.(error)
    else {
      this.#over = true
      this.#release(this)
    }
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
    if (status === 304 && this.request.method !== 'HEAD') this.#finish([])
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
    this.#release(this)
    if (this.#cancelled) return
    const phase = this.#headed ? 'reply-body' : 'reply-head'
    this.#receiver.onError(upstreamFailure(error, this.#abort !== null, phase))
  }

  #finish(trailers: string[]): void {
    if (this.#over) return
    this.#over = true
    this.#release(this)
    if (!this.#cancelled) this.#receiver.onEnd(trailers)
  }
}

function textOf(fields: Buffer[]): string[] {
  const text = new Array<string>(fields.length)
  for (let i = 0; i < fields.length; i++) text[i] = latin1(fields[i]!)
  return text
}
