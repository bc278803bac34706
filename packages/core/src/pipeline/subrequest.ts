/** Asking the inner handler again, with another head and without the client: for wrappers that own the inner call. */
import type { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import type { Context, RequestHead, Source } from './contract.ts'
import { Exchange } from './exchange.ts'

/** What differs from the request at hand. */
export interface SubrequestOptions {
  /** Default: the request's own. */
  readonly method?: string
  /** Target in origin-form, with the same path and query as the route that was found. Default: the request's own. */
  readonly target?: string
  /** Default: the request's own. */
  readonly authority?: string
  /** Default: the request's own. */
  readonly scheme?: 'http' | 'https'
  /** Default: the request's own list. */
  readonly headers?: HeaderList
  /** Default none: the request's body is not sent again. */
  readonly body?: Source | null
  /** Hears of interim responses. Default: nobody. */
  readonly inform?: (status: number, headers: HeaderList) => void
}

/** A request of the edge's own. */
export interface Subrequest<S extends object, P extends object> {
  /** For the inner handler. Shares state, params and forward hooks with the request that it was made from. */
  readonly context: Context<S, P>
  /** Nobody wants the answer any more. Without it, the request outlives the client. */
  abort(error: ProxyError): void
  /** The outcome of the request that it was made from tells which upstream was asked, and how often. */
  adopt(): void
}

/**
 * A request like that of `cx`, which goes on when the client leaves. Request and reply hooks do not run for it;
 * `onForward` does.
 * @example const { context } = subrequest(cx, { headers }); const reply = await inner(context)
 */
export function subrequest<S extends object, P extends object>(
  cx: Context<S, P>,
  options: SubrequestOptions = {},
): Subrequest<S, P> {
  const request = headOf(cx.request, options)
  const inform = options.inform ?? (() => {})
  const body = options.body ?? null
  if (cx instanceof Exchange) {
    const link = {
      get draining(): boolean {
        return cx.draining
      },
      bytesReceived: 0,
      inform,
    }
    const made = new Exchange(cx.plan, request, cx.params, body, link, null, cx.state)
    return {
      context: made as unknown as Context<S, P>,
      abort: error => made.abort(error),
      adopt() {
        cx.upstream = made.upstream
        cx.target = made.target
        cx.attempts += made.attempts
      },
    }
  }
  // A context made by a test.
  const controller = new AbortController()
  const context: Context<S, P> = {
    request,
    params: cx.params,
    state: cx.state,
    body,
    signal: controller.signal,
    route: cx.route,
    startedAt: performance.now(),
    draining: cx.draining,
    inform,
    allowSlowBody() {},
  }
  return { context, abort: error => controller.abort(error), adopt() {} }
}

function headOf(request: RequestHead, options: SubrequestOptions): RequestHead {
  const target = options.target ?? request.target
  const at = target.indexOf('?')
  return {
    method: options.method ?? request.method,
    scheme: options.scheme ?? request.scheme,
    authority: options.authority ?? request.authority,
    target,
    path: request.path,
    query: at === -1 ? '' : target.slice(at + 1),
    headers: options.headers ?? request.headers,
    version: request.version,
    upgrade: null,
    peer: request.peer,
    peerTrusted: request.peerTrusted,
    clientAddress: request.clientAddress,
  }
}
