/** An app as a `(req, res)` function, for hosts such as Express, Fastify and plain node:http. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { sourceOf } from '../../body/transform.ts'
import { callback, oneOf, readOptions } from '../../config/check.ts'
import { ConfigError, type ConfigFault, ProxyError } from '../../errors.ts'
import { checkApp } from '../../pipeline/check-app.ts'
import type { App } from '../../pipeline/contract.ts'
import { type Serving, serveHttp1 } from './http1.ts'
import { serveHttp2 } from './http2.ts'

/** Options of {@link toHandler}. */
export interface HandlerOptions {
  /**
   * Body of a request that somebody in front has read already (a body parser). Default: such a request is answered
   * 500 with code `body-consumed` at once, since its bytes are gone. Must give the bytes as they came.
   */
  body?: (req: IncomingMessage) => Uint8Array | undefined
  /**
   * Which target the app sees where a framework strips a mount path: `'original'` (default) is what the client sent
   * (`req.originalUrl`), `'mounted'` is `req.url`.
   */
  target?: 'original' | 'mounted'
}

/** `(req, res)`; takes requests of HTTP/1.1 and of the compatibility API of http2. */
export type NodeHandler = (req: IncomingMessage | Http2ServerRequest, res: unknown) => void

/**
 * Makes an app a request listener.
 * @example express().use('/api', toHandler(app))
 * @throws ConfigError for what is no app, and options that cannot work.
 */
export function toHandler(app: App, given: HandlerOptions = {}): NodeHandler {
  const faults: ConfigFault[] = []
  checkApp('toHandler(app)', app, faults)
  const table = { body: callback, target: oneOf('original', 'mounted') }
  const options = readOptions<HandlerOptions>('toHandler', given, table, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const serving: Serving = { app, draining: false }
  return function posternHandler(req, res) {
    if ('stream' in req) {
      serveHttp2(serving, req.stream as Parameters<typeof serveHttp2>[1], req.headers, req.rawHeaders)
      return
    }
    const original = (req as IncomingMessage & { originalUrl?: string }).originalUrl
    const target = options.target === 'mounted' ? req.url : (original ?? req.url)
    const given = options.body?.(req)
    if (given === undefined && wasRead(req)) {
      const error = new ProxyError({ source: 'proxy', phase: 'request-body', code: 'body-consumed' })
      serveHttp1({ ...serving, app: failing(app, error) }, req, res as ServerResponse, false, target)
      return
    }
    serveHttp1(serving, req, res as ServerResponse, false, target, given ? sourceOf(given) : null)
  }
}

/** True when there was a body and somebody took bytes of it: what is left does not match its length. */
function wasRead(req: IncomingMessage): boolean {
  const announced =
    req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
  return announced && (req.readableDidRead || req.readableEnded)
}

function failing(app: App, error: ProxyError): App {
  return { ...app, open: (head, _body, link) => app.open(head, null, link, error) }
}
