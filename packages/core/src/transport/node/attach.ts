/** Puts an app onto a server that the host owns: http, https, http2 (h2c), http2 secure with HTTP/1.1. */
import { Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Server, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { flag, kindOf, milliseconds, readOptions, unchecked } from '../../config/check.ts'
import { ConfigError, type ConfigFault, ProxyError } from '../../errors.ts'
import { checkApp } from '../../pipeline/check-app.ts'
import type { App } from '../../pipeline/contract.ts'
import { Deadlines } from '../../proxy/deadlines.ts'
import { serveWire } from '../../wire/server/take-over.ts'
import { ClientGuard, type ServerStats } from '../clients/guard.ts'
import { CLIENT_RULES, type ClientLimits, clientSettings } from '../clients/options.ts'
import { Service, type Swappable } from '../service.ts'
import { capConnections } from './admit.ts'
import { Connections, drainServer } from './drain.ts'
import { Handshakes } from './handshakes.ts'
import { checkHttp2Limits, type Http2Limits, hardenHttp2 } from './hardening.ts'
import { watchHeads } from './head-watch.ts'
import { type Extras, serveHttp1 } from './http1.ts'
import { expectationFailed, serveHttp2 } from './http2.ts'
import { refuseBytes, refuseConnect, refuseSlowHead } from './refusals.ts'
import type { Serving } from './serving.ts'
import { serveTunnels } from './upgrade.ts'

const LONGEST_TIMER = 2_147_483_647

/** Options of {@link attach}. */
export interface AttachOptions extends ClientLimits {
  /** How long `drain()` lets what runs finish, in ms. Default 15 000. */
  drainTimeout?: number
  /**
   * Silence after which an HTTP/2 session is asked to end (GOAWAY), in ms; running streams may finish, and after the same
   * time of silence again they are cut. Default 60 000. HTTP/1.1 has the server's own `keepAliveTimeout`.
   */
  sessionIdleTimeout?: number
  /**
   * How long a client may leave bytes of its answer untaken, in ms; then its connection (HTTP/2: its stream) is cut and
   * the upstream's request cancelled. It must take 128 KiB, or all that waits, in that time. Default 60 000; 0 for no limit.
   */
  sendTimeout?: number
  /** What an HTTP/2 client may cost. */
  http2?: Http2Limits
  /**
   * Serves HTTP/1.1 on the raw socket, with a parser of its own in front of Node's: a fraction of the cost, and the same
   * answers. What is not plainly HTTP/1.1 goes to Node's parser unread, as do upgrades. `'request'` and similar listeners of
   * the host are not called for requests that were served so. For servers of http, https, and http2 with TLS; on h2c servers it
   * changes nothing. See docs/wire.md. Default false.
   */
  wire?: boolean
}

/** A server under an app. */
export interface Attached extends Swappable {
  /** True from the first call of `drain()`. `/readyz` answers 503 then. */
  readonly draining: boolean
  /** WebSockets and other tunnels that are open. */
  readonly tunnels: number
  /** Connections, those that were refused, and clients that were too slow. `metrics().trackServer()` tells them. */
  stats(): ServerStats
  /**
   * Stops accepting, finishes what runs within `timeout` ms (default: the option), then closes the rest.
   * HTTP/1.1 answers carry `Connection: close`, HTTP/2 sessions get GOAWAY; connections that stay silent for a second are
   * closed; tunnels live until the limit, and WebSockets are told then (1001). Resolves when the last connection is gone
   * and `onDone` of each exchange was called. Only the first call's `timeout` counts; one that no timer can hold
   * (`Infinity`) is about 25 days.
   * @throws ConfigError for a timeout that is negative or no number.
   */
  drain(timeout?: number): Promise<void>
}

/**
 * Serves an app on a node:http, node:https or node:http2 server. Call it before `listen()`.
 * The server is the app's alone: one with other request listeners is refused (`toHandler` is for those).
 * @example
 * const server = createSecureServer({ key, cert, allowHTTP1: true })
 * const edge = attach(server, app)
 * server.listen(8443)
 * @throws ConfigError when the server has request listeners, or an option cannot work.
 */
export function attach(server: Server, app: App, options: AttachOptions = {}): Attached {
  const faults: ConfigFault[] = []
  const table = {
    drainTimeout: milliseconds(0),
    sessionIdleTimeout: milliseconds(1),
    sendTimeout: milliseconds(0),
    http2: unchecked,
    wire: flag,
    ...CLIENT_RULES,
  }
  const given = readOptions<AttachOptions>('attach', options, table, faults)
  const {
    drainTimeout: limit = 15_000,
    sessionIdleTimeout: idle = 60_000,
    sendTimeout: patience = 60_000,
  } = given
  const limits = clientSettings('attach', given, faults)
  const bounds = checkHttp2Limits(given.http2, faults)
  if (typeof server?.listeners !== 'function') {
    const fix = 'Pass what createServer() of node:http, node:https or node:http2 returns.'
    faults.push({ place: 'attach(server)', problem: `it is ${kindOf(server)}, not a server`, fix })
    throw new ConfigError(faults)
  }
  checkApp('attach(app)', app, faults)
  for (const event of ['request', 'stream']) {
    if (server.listeners(event).length > 0) {
      const fix = 'Attach to a server of its own, or mount toHandler(app) in yours.'
      faults.push({ place: 'attach(server)', problem: `the server has a '${event}' listener already`, fix })
    }
  }
  if (faults.length > 0) throw new ConfigError(faults)

  const service = new Service(app)
  const guard = new ClientGuard(limits, address => service.trusts(address))
  const state: Serving & { draining: boolean } = {
    app: service,
    draining: false,
    guard,
    stalls: patience > 0 ? new Deadlines(patience) : null,
    tunnels: new Set(),
  }
  // First: it takes the place of a listener, and must not change its turn among others.
  if (given.wire === true) wireOrThrow(server, state, patience)
  capConnections(server, guard.cap)
  const handshakes = new Handshakes(limits.handshake, () => guard.slow.handshakes++)
  const connections = new Connections(handshakes)
  connections.watch(server, idle)
  tune(server)
  hardenHttp2(server, bounds, guard, idle)
  serve(server, state)
  if (guard.heads) {
    watchHeads(server, server instanceof HttpServer, guard.heads, socket => {
      guard.slow.heads++
      refuseSlowHead(state, socket)
    })
  }
  serveTunnels(server, state)
  let drained: Promise<void> | null = null
  return {
    get draining() {
      return state.draining
    },
    get tunnels() {
      return state.tunnels.size
    },
    stats: () => guard.stats(state.tunnels.size),
    swap: (next, swapOptions) => service.swap(next, swapOptions),
    drain(timeout = limit) {
      const most = drainLimit(timeout)
      state.draining = true
      drained ??= drainServer(server, connections, most, state.tunnels)
      return drained
    },
  }
}

/** On h2c servers there is nothing to take over: the first bytes decide. */
function wireOrThrow(server: Server, serving: Serving, sendTimeout: number): void {
  const served = serveWire(server, serving, sendTimeout)
  if (served || !(server instanceof HttpServer || 'setSecureContext' in server)) return
  const problem =
    'somebody has put a listener of its own in the place of the one that Node serves connections with'
  throw new ConfigError([{ place: 'attach.wire', problem, fix: 'Call attach() first, or leave wire out.' }])
}

function drainLimit(timeout: number): number {
  if (typeof timeout === 'number' && timeout >= 0) return Math.min(timeout, LONGEST_TIMER)
  const problem = `${String(timeout)} is no time`
  throw new ConfigError([{ place: 'drain(timeout)', problem, fix: 'Write milliseconds, from 0 on.' }])
}

function serve(server: Server, serving: Serving): void {
  server.on(
    'stream',
    (stream: ServerHttp2Stream, pseudo: IncomingHttpHeaders, _flags: number, raw: string[]) => {
      serveHttp2(serving, stream, pseudo, raw)
    },
  )
  // A 'request' listener makes an http2 server build its compatibility objects for each stream; only the fallback
  // to HTTP/1.1 wants the event, so the hook that would do so is taken off first.
  for (const listener of server.listeners('newListener')) {
    if (listener.name === 'setupCompat') server.off('newListener', listener as () => void)
  }
  const listen = (event: string, extras?: () => Extras): void => {
    server.on(event, (req: IncomingMessage, res: ServerResponse) => {
      // The parser of HTTP/1 lets versions pass that have another grammar: 0.9 and 2.0.
      if (req.httpVersionMajor === 1) serveHttp1(serving, req, res, extras?.())
      else if (!('stream' in req)) serveHttp1(serving, req, res, { fault: badVersion() })
    })
  }
  listen('request')
  listen('checkContinue', () => ({ expectsContinue: true }))
  listen('checkExpectation', () => ({ fault: expectationFailed() }))
  server.on('clientError', (error: Error, socket: Duplex) => refuseBytes(serving, error, socket))
  server.on('connect', (_req: IncomingMessage, socket: Duplex) => refuseConnect(serving, socket))
}

function badVersion(): ProxyError {
  return new ProxyError({ source: 'client', phase: 'head', code: 'bad-request' })
}

function tune(server: Server): void {
  const limits = server as Server & { maxHeadersCount?: number | null; requireHostHeader?: boolean }
  // Node drops the headers above its limit in silence; the header gate refuses them instead.
  limits.maxHeadersCount = 0
  // Node would answer by itself, unheard; a head without Host is refused where all heads are judged.
  limits.requireHostHeader = false
  // The HTTP/1.1 fallback of an http2 server leaves Nagle's algorithm on.
  const noDelay = (socket: Socket): void => {
    socket.setNoDelay(true)
  }
  server.on('connection', noDelay)
  // Node only tells of a failed or timed-out handshake; the socket would stay open for ever.
  server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy())
  // No application protocol in common: nobody else would close it.
  server.on('unknownProtocol', (socket: Socket) => socket.destroy())
  server.on('secureConnection', (socket: Socket & { alpnProtocol?: string | false }) => {
    if (socket.alpnProtocol && socket.alpnProtocol !== 'h2' && socket.alpnProtocol !== 'http/1.1')
      socket.destroy()
  })
}
