/**
 * The handler that answers with an upstream's reply. The courier carries the request; the reply's head settles the promise; its
 * body is the attempt itself, pushed as it comes. Every failure is a reply with an `error`; nothing is thrown for what an
 * upstream or a client does.
 */
import { flag, kindOf, oneOf, readOptions, something, type Table, unchecked } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { normaliseAuthority } from '../headers/authority.ts'
import type { Context, Handler, Reply } from '../pipeline/contract.ts'
import { Exchange } from '../pipeline/exchange.ts'
import { markForwarding } from '../pipeline/plan.ts'
import { refuse } from '../reply.ts'
import { checkUpgrades, refuseUpgrade } from '../upgrade/forward.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { Courier } from './courier.ts'
import type { ForwardedMode } from './forwarded.ts'
import { checkRetry, type RetryOptions, type RetryPolicy } from './retry-options.ts'

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
  /**
   * When a request is sent again, to another target or over another connection; `false` for never. By default up to three
   * attempts, where nothing can be processed twice that must not be. See docs/retries.md.
   */
  retry?: RetryOptions | false
  /**
   * Protocols that a client may change to with `Upgrade`, or with extended CONNECT over HTTP/2 (RFC 8441). Default
   * `['websocket']`; `[]` for none. Over HTTP/1.1 others are ignored: the request goes on as plain HTTP (RFC 9110, 7.8).
   * Other versions of HTTP, and TLS, are refused here: what a tunnel carries passes no gate. See docs/protocols.md.
   */
  upgrades?: readonly string[]
}

/**
 * Forwards requests to an upstream: streaming both ways, nothing buffered, the raw target byte for byte.
 * Failures: 502 (refused, name, TLS, reset, malformed), 503 (queue full), 504 (connect, head, idle, total time).
 * @example pipeline().handle(proxy(upstream({ name: 'app', targets: ['http://127.0.0.1:3000'] })))
 * @throws ConfigError for options that cannot work.
 */
export function proxy(upstream: Upstream, options: ProxyOptions = {}): Handler {
  const { given, policy } = checkOptions(upstream, options)
  const { host = 'preserve', forwarded = 'append', forwardedHeader = false } = given
  const upgrades = new Set((given.upgrades ?? ['websocket']).map(name => name.toLowerCase()))
  const rules = { forwarded, standard: forwardedHeader, upgrades }
  const courier = new Courier(upstream, host, rules, policy)

  return markForwarding(proxyHandler)

  function proxyHandler(context: Context): Reply | Promise<Reply> {
    const cx = context as Exchange
    if (!(cx instanceof Exchange))
      throw new TypeError('proxy() runs inside a pipeline: use app.inject() in tests')
    if (cx.request.method === 'CONNECT') return refuse(501, 'connect-refused')
    if (cx.request.upgrade !== null) {
      const refusal = refuseUpgrade(cx.request, upgrades)
      if (refusal) return refusal
    }
    return new Promise(resolve => courier.carry(cx, resolve))
  }
}

const RULES: Table<ProxyOptions> = {
  host: something(
    'host[:port]',
    host => typeof host === 'string' && normaliseAuthority(host, 'http') !== null,
    "Write 'preserve', 'target' or a name.",
  ),
  forwarded: oneOf('append', 'replace', 'off'),
  forwardedHeader: flag,
  retry: unchecked,
  upgrades: unchecked,
}

function checkOptions(
  upstream: Upstream,
  options: ProxyOptions,
): { given: ProxyOptions; policy: RetryPolicy | null } {
  const faults: ConfigFault[] = []
  if (typeof upstream?.pick !== 'function') {
    const problem = `it is ${kindOf(upstream)}, not an upstream`
    faults.push({ place: 'proxy(upstream)', problem, fix: 'Pass what upstream({…}) returns.' })
  }
  const given = readOptions<ProxyOptions>('proxy', options, RULES, faults)
  const policy = checkRetry(given.retry, faults)
  checkUpgrades(given.upgrades, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return { given, policy }
}
