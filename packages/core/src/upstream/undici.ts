/** HTTP/1.1 to a target over undici's `dispatch`: callbacks, no promise a chunk. */
import { type buildConnector, type Client, type Dispatcher, Pool } from 'undici'
import { toReadable } from '../body/readable.ts'
import { ProxyError } from '../errors.ts'
import type { Call, Connector, OutgoingRequest, Receiver } from './connector.ts'
import type { Http1Options } from './http1-options.ts'
import { TrackedClient } from './tracked-client.ts'
import { UndiciCall } from './undici-call.ts'
import { connectTo, warmUp } from './undici-sockets.ts'

/** A bounded pool of keep-alive connections to one target. */
export function undiciConnector(options: Http1Options): Connector {
  const connect = connectTo(options)
  const prepared = options.warm > 0 ? warmUp(options, connect) : null
  const warm = prepared?.warm ?? null
  const pool = makePool(options, prepared?.connector ?? connect)
  /** For requests that must not meet another stale connection. */
  let fresh: Pool | null = null
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
      const given = dispatchOptions(call.request, serverName)
      if (call.request.fresh) {
        fresh ??= makePool(options, connect)
        fresh.dispatch({ ...given, reset: true }, handler)
      } else pool.dispatch(given, handler)
    } catch (error) {
      call.onError(error as Error)
    }
  }

  function release(call: UndiciCall): void {
    if (!waiting.delete(call)) running--
    // A start that fails at once comes back here.
    if (pumping) return
    pumping = true
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
      if (running >= connections && waiting.size >= queue) return failed(receiver, 'queue-full')
      const call = new UndiciCall(request, receiver, release)
      if (running < connections) start(call)
      else waiting.add(call)
      return call
    },
    connections() {
      const { connected, free } = pool.stats
      const ready = warm?.size ?? 0
      return { open: connected + ready, idle: free + ready, waiting: waiting.size }
    },
    async close() {
      over = true
      warm?.close()
      if (waiting.size > 0) {
        await new Promise<void>(resolve => {
          emptied = resolve
        })
      }
      await Promise.all([pool.close(), fresh?.close()])
    },
    async destroy() {
      over = true
      pumping = true
      warm?.close()
      for (const call of waiting) call.onError(new Error('the upstream is closed'))
      await Promise.all([pool.destroy(), fresh?.destroy()])
    },
  }
}

function failed(receiver: Receiver, code: 'queue-full' | 'connect-failed'): Call {
  const source = code === 'queue-full' ? 'proxy' : 'upstream'
  queueMicrotask(() => receiver.onError(new ProxyError({ source, phase: 'connect', code, retryable: true })))
  return NO_CALL
}

function makePool(options: Http1Options, connect: buildConnector.connector): Pool {
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
