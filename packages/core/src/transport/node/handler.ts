/** An app as a `(req, res)` function, for hosts such as Express, Fastify and plain node:http. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { sourceOf } from '../../body/transform.ts'
import { callback, milliseconds, oneOf, readOptions } from '../../config/check.ts'
import { ConfigError, type ConfigFault, ProxyError } from '../../errors.ts'
import { checkApp } from '../../pipeline/check-app.ts'
import type { App, Source } from '../../pipeline/contract.ts'
import { Deadlines } from '../../proxy/deadlines.ts'
import { Service, type Swappable } from '../service.ts'
import { serveHttp1 } from './http1.ts'
import { serveHttp2 } from './http2.ts'
import type { Serving } from './serving.ts'

/** Options of {@link toHandler}. */
export interface HandlerOptions {
  /**
   * Body of a request that somebody in front has read already (a body parser). Default: such a request is answered
   * 500 with code `body-consumed` at once, since its bytes are gone. Must give the bytes as they came. If it throws, the
   * answer is 500 with code `internal`.
   */
  body?: (req: IncomingMessage | Http2ServerRequest) => Uint8Array | undefined
  /**
   * Which target the app sees where a framework strips a mount path: `'original'` (default) is what the client sent
   * (`req.originalUrl`), `'mounted'` is `req.url`.
   */
  target?: 'original' | 'mounted'
  /** As in {@link AttachOptions}: how long a client may leave its answer untaken, in ms. Default 60 000; 0 for no limit. */
  sendTimeout?: number
}

/** `(req, res)`; takes requests of HTTP/1.1 and of the compatibility API of http2. Its app can be swapped while it runs. */
export interface NodeHandler extends Swappable {
  (req: IncomingMessage | Http2ServerRequest, res: unknown): void
}

/**
 * Makes an app a request listener.
 * @example express().use('/api', toHandler(app))
 * @throws ConfigError for what is no app, and options that cannot work.
 */
export function toHandler(app: App, given: HandlerOptions = {}): NodeHandler {
  const faults: ConfigFault[] = []
  checkApp('toHandler(app)', app, faults)
  const table = { body: callback, target: oneOf('original', 'mounted'), sendTimeout: milliseconds(0) }
  const options = readOptions<HandlerOptions>('toHandler', given, table, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const timeout = options.sendTimeout ?? 60_000
  const stalls = timeout > 0 ? new Deadlines(timeout) : null
  const service = new Service(app)
  const serving: Serving = { app: service, draining: false, guard: null, stalls, tunnels: new Set() }
  function posternHandler(req: IncomingMessage | Http2ServerRequest, res: unknown): void {
    const extras = { target: targetOf(req, options.target), ...bodyOf(req, options.body) }
    if ('stream' in req) {
      serveHttp2(serving, req.stream as Parameters<typeof serveHttp2>[1], req.headers, req.rawHeaders, extras)
    } else serveHttp1(serving, req, res as ServerResponse, extras)
  }
  const swap: Swappable['swap'] = (next, options) => service.swap(next, options)
  return Object.assign(posternHandler, { swap })
}

function targetOf(
  req: IncomingMessage | Http2ServerRequest,
  target: HandlerOptions['target'],
): string | undefined {
  if (target === 'mounted') return req.url
  return (req as { originalUrl?: string }).originalUrl ?? req.url
}

function bodyOf(
  req: IncomingMessage | Http2ServerRequest,
  read: HandlerOptions['body'],
): { given?: Source; fault?: ProxyError } {
  let given: Uint8Array | undefined
  try {
    given = read?.(req)
    if (given !== undefined && !(given instanceof Uint8Array)) {
      throw new TypeError('toHandler.body gives a Uint8Array or undefined')
    }
  } catch (cause) {
    return { fault: new ProxyError({ source: 'proxy', phase: 'request-body', code: 'internal', cause }) }
  }
  if (given) return { given: sourceOf(given) }
  if (!wasRead(req)) return {}
  return { fault: new ProxyError({ source: 'proxy', phase: 'request-body', code: 'body-consumed' }) }
}

/** True when there was a body and somebody took bytes of it: what is left does not match its length. */
function wasRead(req: IncomingMessage | Http2ServerRequest): boolean {
  if ('stream' in req) {
    const { stream } = req as Http2ServerRequest
    const announced = !stream.endAfterHeaders && req.headers['content-length'] !== '0'
    return announced && (stream.readableDidRead || stream.readableEnded)
  }
  const announced =
    req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
  return announced && (req.readableDidRead || req.readableEnded)
}
