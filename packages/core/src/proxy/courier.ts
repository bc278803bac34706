/**
 * Carries requests to targets.
 *
 *   1. a target is picked
 *   2. the head is made anew for each attempt: end-to-end fields, this hop's own, then the forward hooks
 *   3. the connector sends it; the body streams behind it
 *   4. what fails before the reply's head may be sent again: see retry-plan.ts
 */
import { ProxyError } from '../errors.ts'
import type { Reply } from '../pipeline/contract.ts'
import type { Exchange } from '../pipeline/exchange.ts'
import { openTunnel } from '../upgrade/forward.ts'
import type { OutgoingRequest } from '../upstream/connector.ts'
import type { Target } from '../upstream/target.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { Attempt, type Carrier } from './attempt.ts'
import { watchAttempt } from './attempt-watch.ts'
import { Deadlines } from './deadlines.ts'
import { EditableHead, type ForwardRules, forwardFields } from './forward-head.ts'
import { retryAfter } from './retry-after.ts'
import type { RetryPolicy } from './retry-options.ts'
import { isSafe, planRetry } from './retry-plan.ts'

/** An upload above this is a stream: only silence ends it. */
const LARGE = 1 << 20

/** One for each `proxy()`. */
export class Courier implements Carrier {
  readonly #upstream: Upstream
  readonly #host: string
  readonly #rules: ForwardRules
  readonly #policy: RetryPolicy | null
  readonly #deadlines: Deadlines | null

  constructor(upstream: Upstream, host: string, rules: ForwardRules, policy: RetryPolicy | null) {
    this.#upstream = upstream
    this.#host = host
    this.#rules = rules
    this.#policy = policy
    this.#deadlines = upstream.totalTimeout > 0 ? new Deadlines(upstream.totalTimeout) : null
  }

  carry(cx: Exchange, resolve: (reply: Reply) => void): void {
    const { body } = cx
    const stream = body !== null && (body.length ?? Infinity) > LARGE
    const attempt = new Attempt(cx, stream ? null : this.#deadlines, resolve, this)
    if (attempt.over) return
    cx.upstream = this.#upstream.name
    this.#policy?.budget.earn()
    const target = this.#upstream.pick(cx, null)
    if (target === null) attempt.onError(noTarget())
    else this.#go(attempt, target, false)
  }

  again(attempt: Attempt, error: ProxyError): boolean {
    const policy = this.#policy
    if (policy === null || attempt.count >= policy.attempts || attempt.lastTarget === null) return false
    const plan = planRetry(error, attempt)
    if (plan === 'no') return false
    if (plan === 'fresh') {
      attempt.refreshed = true
      this.#go(attempt, attempt.lastTarget, true)
      return true
    }
    const next = this.#upstream.pick(attempt.cx, attempt.tried())
    if (next === null || (plan === 'paid' && !policy.budget.spend())) return false
    this.#go(attempt, next, false)
    return true
  }

  declines(attempt: Attempt, status: number, waitFor: string | undefined): boolean {
    const policy = this.#policy
    if (policy === null || !policy.statuses.has(status) || attempt.count >= policy.attempts) return false
    if (!isSafe(attempt) || attempt.informed) return false
    const next = this.#upstream.pick(attempt.cx, attempt.tried())
    const wait = next === null && status === 503 ? retryAfter(waitFor, Date.now()) : 0
    if (wait === null || wait > policy.maxWait || (next === null && wait === 0)) return false
    if (!policy.budget.spend()) return false
    attempt.drop()
    if (next !== null) this.#go(attempt, next, false)
    else setTimeout(() => attempt.over || this.#go(attempt, attempt.lastTarget!, false), wait)
    return true
  }

  cookieFor(attempt: Attempt): string | null {
    const { affinity } = this.#upstream
    return affinity === null ? null : affinity.cookieFor(attempt.cx, attempt.lastTarget!)
  }

  #go(attempt: Attempt, target: Target, fresh: boolean): void {
    const { cx } = attempt
    const { request } = cx
    cx.attempts = ++attempt.count
    cx.target = target.label
    attempt.aim(target)
    const host = this.#host
    const authority =
      host === 'preserve'
        ? request.authority || target.authority
        : host === 'target'
          ? target.authority
          : host
    const fields = forwardFields(request, cx.body !== null, this.#rules)
    const { upgrades } = this.#rules
    const protocol = request.upgrade !== null && upgrades.has(request.upgrade) ? request.upgrade : null
    if (cx.plan.onForward.length === 0) {
      return send(attempt, target, request.target, authority, fields, fresh, protocol)
    }
    const head = new EditableHead(request.method, request.target, authority, fields, attempt.count)
    const forward = (): void => {
      // The client may have gone while a filter made us wait: then nothing is sent.
      if (attempt.over) return
      const { headers } = head
      const { decided } = headers
      send(attempt, target, head.target, head.authority, headers.raw, fresh, protocol, decided)
    }
    try {
      const waiting = cx.forward(head)
      if (waiting) waiting.then(forward, error => attempt.onError(badForward(error)))
      else forward()
    } catch (error) {
      attempt.onError(badForward(error))
    }
  }
}

function send(
  attempt: Attempt,
  target: Target,
  path: string,
  authority: string,
  fields: string[],
  fresh: boolean,
  protocol: string | null,
  decided?: OutgoingRequest['decided'],
): void {
  const { cx, count } = attempt
  const { connector, basePath } = target
  const whole = basePath === '' ? path : basePath + path
  fields.push('Host', authority)
  // Where the connector can wait for the target's 100, the client waits for that one (RFC 9110, 10.1.1).
  if (attempt.body !== null && connector.expects === true && cx.request.headers.has('expect')) {
    fields.push('Expect', '100-continue')
  }
  const { method } = cx.request
  const { body } = attempt
  const { onAttempt } = cx.plan
  attempt.leaving(onAttempt.length === 0 ? null : watchAttempt(cx, target.label, whole, fields))
  const request: OutgoingRequest = { method, target: whole, headers: fields, body, fresh }
  const call =
    protocol === null
      ? connector.send(decided && body ? { ...request, decided } : request, attempt)
      : openTunnel(connector, { method, target: whole, headers: fields, body: null }, protocol, attempt)
  // It may have failed at once, and the next attempt be on its way.
  if (attempt.count === count) attempt.call = call
}

/** A hook may refuse a request with a failure of its own; whatever else it throws is a bug. */
function badForward(cause: unknown): ProxyError {
  if (cause instanceof ProxyError) return cause
  return new ProxyError({ source: 'proxy', phase: 'handler', code: 'bad-forward', cause })
}

function noTarget(): ProxyError {
  return new ProxyError({ source: 'proxy', phase: 'connect', code: 'no-upstream' })
}
