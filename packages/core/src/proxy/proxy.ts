/**
 * The handler that answers with an upstream's reply.
 *
 *   1. a target is picked
 *   2. the head is made: end-to-end fields, this hop's own, then the forward hooks
 *   3. the connector sends it; the body streams behind it
 *   4. the reply's head settles the promise; its body is the attempt itself, pushed as it comes
 *
 * Every failure is a reply with an `error`; nothing is thrown for what an upstream or a client does.
 */
import { flag, kindOf, oneOf, readOptions, something, type Table } from '../config/check.ts'
import { ConfigError, type ConfigFault, ProxyError } from '../errors.ts'
import { normaliseAuthority } from '../headers/authority.ts'
import type { Context, Handler, Reply } from '../pipeline/contract.ts'
import { Exchange } from '../pipeline/exchange.ts'
import { markForwarding } from '../pipeline/plan.ts'
import { failureReply, refuse } from '../reply.ts'
import type { Target, Upstream } from '../upstream/upstream.ts'
import { Attempt } from './attempt.ts'
import { Deadlines } from './deadlines.ts'
import { EditableHead, type ForwardRules, forwardFields } from './forward-head.ts'
import type { ForwardedMode } from './forwarded.ts'

/** Options of {@link proxy}. */
export interface ProxyOptions {
  /**
   * `Host` for the upstream. `'preserve'` (default): the client's, so that links and virtual hosts are right.
   * `'target'`: the target's own. Anything else is sent as it stands. The TLS server name is the target's in any case.
   */
  host?: 'preserve' | 'target' | (string & {})
  /**
   * `X-Forwarded-For`, `-Proto`, `-Host`, `-Port` and `X-Real-IP`. `'append'` (default) adds the peer to what a trusted
   * peer told; `'replace'` tells the client alone; `'off'` writes none. What an untrusted client sends of them is
   * dropped in every mode.
   */
  forwarded?: ForwardedMode
  /** Also write `Forwarded` (RFC 7239). Default false. */
  forwardedHeader?: boolean
}

/**
 * Forwards requests to an upstream: streaming both ways, nothing buffered, the raw target byte for byte.
 * Failures: 502 (refused, name, TLS, reset, malformed), 503 (queue full), 504 (connect, head, idle, total time).
 * @example pipeline().handle(proxy(upstream({ name: 'app', targets: ['http://127.0.0.1:3000'] })))
 * @throws ConfigError for options that cannot work.
 */
export function proxy(upstream: Upstream, options: ProxyOptions = {}): Handler {
  const { host = 'preserve', forwarded = 'append', forwardedHeader = false } = checkOptions(upstream, options)
  const rules: ForwardRules = { forwarded, standard: forwardedHeader }
  const deadlines = upstream.totalTimeout > 0 ? new Deadlines(upstream.totalTimeout) : null

  return markForwarding(proxyHandler)

  function proxyHandler(context: Context): Reply | Promise<Reply> {
    const cx = context as Exchange
    if (!(cx instanceof Exchange))
      throw new TypeError('proxy() runs inside a pipeline: use app.inject() in tests')
    if (cx.request.method === 'CONNECT') return refuse(501, 'connect-refused')
    return new Promise(resolve => {
      // 1
      const target = upstream.pick()
      // 2
      const { request } = cx
      const authority =
        host === 'preserve'
          ? request.authority || target.authority
          : host === 'target'
            ? target.authority
            : host
      const fields = forwardFields(request, cx.body !== null, rules)
      const path = target.basePath === '' ? request.target : target.basePath + request.target
      if (cx.plan.onForward.length === 0) return send(cx, target, path, authority, fields, resolve)
      const head = new EditableHead(request.method, path, authority, fields, 1)
      const forward = (): void => send(cx, target, head.target, head.authority, head.headers.raw, resolve)
      try {
        const waiting = cx.forward(head)
        if (waiting) waiting.then(forward, error => resolve(badForward(error)))
        else forward()
      } catch (error) {
        resolve(badForward(error))
      }
    })
  }

  // 3, 4
  function send(
    cx: Exchange,
    target: Target,
    path: string,
    authority: string,
    fields: string[],
    resolve: (reply: Reply) => void,
  ): void {
    const { body, request } = cx
    // A large or endless upload is a stream: only silence ends it.
    const attempt = new Attempt(
      cx,
      body !== null && (body.length ?? Infinity) > 1 << 20 ? null : deadlines,
      resolve,
    )
    // The client may have gone while a filter made us wait: then nothing is sent.
    if (attempt.over) return
    fields.push('Host', authority)
    attempt.call = target.connector.send(
      { method: request.method, target: path, headers: fields, body },
      attempt,
    )
  }
}

function badForward(cause: unknown): Reply {
  return failureReply(new ProxyError({ source: 'proxy', phase: 'handler', code: 'bad-forward', cause }))
}

const RULES: Table<ProxyOptions> = {
  host: something(
    'host[:port]',
    host => typeof host === 'string' && normaliseAuthority(host, 'http') !== null,
    "Write 'preserve', 'target' or a name.",
  ),
  forwarded: oneOf('append', 'replace', 'off'),
  forwardedHeader: flag,
}

function checkOptions(upstream: Upstream, options: ProxyOptions): ProxyOptions {
  const faults: ConfigFault[] = []
  if (typeof upstream?.pick !== 'function') {
    const problem = `it is ${kindOf(upstream)}, not an upstream`
    faults.push({ place: 'proxy(upstream)', problem, fix: 'Pass what upstream({…}) returns.' })
  }
  const given = readOptions<ProxyOptions>('proxy', options, RULES, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return given
}
