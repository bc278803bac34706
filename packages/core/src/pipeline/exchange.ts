/**
 * One exchange on its way through a plan.
 *
 *   1. request hooks in order; the first reply ends the walk
 *   2. the body is held as far as a filter wants to see it first
 *   3. the handler answers
 *   4. reply hooks in reverse, for the filters that were entered
 *   5. body transforms
 *   6. done, once
 *
 * No promise is made before something has to wait.
 */
import { discard, guardReply, guardRequest } from '../body/guard.ts'
import { holdSource } from '../body/hold.ts'
import { inspectSource } from '../body/inspect.ts'
import { transformSource } from '../body/transform.ts'
import { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import { bugReply, failureReply } from '../reply.ts'
import { editable, isReply, isThenable, noReply } from './answer.ts'
import type {
  Awaitable,
  ClientLink,
  Context,
  ForwardHead,
  OpenExchange,
  Outcome,
  Reply,
  RequestHead,
  Source,
  Verdict,
} from './contract.ts'
import type { Plan } from './plan.ts'
import { tellDone } from './tell-done.ts'

/** Why nothing more is run for an exchange that a transport has ended without a word of the client. */
const ENDED = new ProxyError({ source: 'client', phase: 'reply-head', code: 'client-closed' })

/** The context that hooks and handlers get, and the handle that the transport holds. */
export class Exchange implements Context, OpenExchange {
  readonly request: RequestHead
  readonly params: Readonly<Record<string, string>>
  readonly state: object
  readonly startedAt: number
  body: Source | null
  readonly plan: Plan
  /** Written by the proxy, for the outcome. */
  upstream: string | null = null
  target: string | null = null
  attempts = 0
  readonly #link: ClientLink
  /** Why no gate runs: a refused head, or a filter that cannot make its state. */
  #fault: ProxyError | null
  /** Filters with a lower place have been entered. */
  #depth = 0
  #answeredBy = -1
  #reason: string | null = null
  #error: ProxyError | null = null
  #interruption: Reply | null = null
  #controller: AbortController | null = null
  #aborted: ProxyError | null = null
  #onAbort: ((error: ProxyError) => void) | null = null
  #done = false
  #status = 0
  #bytesSent = 0
  #duration = 0

  constructor(
    plan: Plan,
    request: RequestHead,
    params: Readonly<Record<string, string>>,
    body: Source | null,
    link: ClientLink,
    fault: ProxyError | null,
    state: object | null = null,
  ) {
    this.plan = plan
    this.request = request
    this.params = params
    this.body = body === null ? null : guardRequest(body)
    this.#link = link
    this.#fault = fault
    this.startedAt = performance.now()
    if (state !== null) {
      this.state = state
      return
    }
    try {
      this.state = plan.state()
    } catch (cause) {
      this.state = plan.someState()
      this.#fault ??= new ProxyError({ source: 'proxy', phase: 'handler', code: 'internal', cause })
    }
  }

  get route(): string {
    return this.plan.route
  }

  get draining(): boolean {
    return this.#link.draining
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort(this.#aborted)
    }
    return this.#controller.signal
  }

  inform(status: number, headers: HeaderList): void {
    this.#link.inform(status, headers)
  }

  /** Cheaper than `signal` where one listener is enough; a later call replaces it, `null` removes it. */
  onAbort(listener: ((error: ProxyError) => void) | null): void {
    if (listener && this.#aborted) listener(this.#aborted)
    else this.#onAbort = listener
  }

  run(): Awaitable<Reply> {
    if (this.#fault) {
      this.#depth = this.plan.filters.length
      return this.#finish(failureReply(this.#fault), '')
    }
    return this.#ask(0)
  }

  abort(error: ProxyError): void {
    if (this.#aborted || this.#done) return
    this.#aborted = error
    this.#onAbort?.(error)
    this.#controller?.abort(error)
  }

  done(status: number, bytesSent: number, error: ProxyError | null): void {
    if (this.#done) return
    this.#done = true
    this.#duration = performance.now() - this.startedAt
    this.#status = status
    this.#bytesSent = bytesSent
    if (error) this.#error = error
    if (this.plan.onDone.length > 0) tellDone(this.plan, this, this.outcome)
  }

  /** How it ended; complete once `done` was called. */
  get outcome(): Outcome {
    return {
      status: this.#status,
      filter: this.#answeredBy === -1 ? null : this.plan.filters[this.#answeredBy]!.name,
      reason: this.#reason,
      error: this.#error,
      upstream: this.upstream,
      target: this.target,
      attempts: this.attempts,
      bytesReceived: this.#link.bytesReceived,
      bytesSent: this.#bytesSent,
      duration: this.#duration,
    }
  }

  /** Runs the forward hooks of all filters; called by the proxy for each attempt. */
  forward(out: ForwardHead): Awaitable<void> {
    const { onForward } = this.plan
    for (let i = 0; i < onForward.length; i++) {
      const waiting = onForward[i]!.run(this, out)
      if (waiting) return this.#forwardLater(waiting, out, i + 1)
    }
  }

  async #forwardLater(waiting: Promise<void>, out: ForwardHead, from: number): Promise<void> {
    await waiting
    const { onForward } = this.plan
    for (let i = from; i < onForward.length; i++) {
      // What is not sent any more needs no head; the proxy knows of the client's leaving too.
      if (this.#gone) return
      await onForward[i]!.run(this, out)
    }
  }

  // 1
  #ask(from: number): Awaitable<Reply> {
    const { onRequest, filters } = this.plan
    for (let i = from; i < onRequest.length; i++) {
      const hook = onRequest[i]!
      this.#depth = hook.at + 1
      let verdict: Verdict
      try {
        verdict = hook.run(this)
      } catch (error) {
        return this.#fail(error)
      }
      if (verdict === undefined) continue
      if (isThenable(verdict)) return this.#askLater(verdict, hook.at, i + 1)
      this.#answeredBy = hook.at
      return this.#finish(verdict, 'onRequest')
    }
    this.#depth = filters.length
    return this.#hold()
  }

  #askLater(verdict: PromiseLike<Reply | undefined>, at: number, next: number): Promise<Reply> {
    return Promise.resolve(verdict).then(
      reply => {
        // Nobody is there any more: what follows would start work, and take places, for good.
        const gone = this.#gone
        if (gone) return this.#abandon(reply, gone)
        if (reply === undefined) return this.#ask(next)
        this.#answeredBy = at
        return this.#finish(reply, 'onRequest')
      },
      error => this.#fail(error),
    )
  }

  // 2
  #hold(): Awaitable<Reply> {
    const { onRequestBody, holdBody } = this.plan
    if (this.body === null || onRequestBody.length === 0) return this.#handle()
    const inspected = inspectSource(this.body, onRequestBody, this, (reply, at) => {
      this.#answeredBy = at
      this.#interruption = isReply(reply)
        ? reply
        : bugReply(noReply(this.#hookName(at, 'onRequestBody'), reply))
    })
    let wanted = 0
    try {
      for (let i = 0; i < holdBody.length; i++) {
        const bytes = holdBody[i]!.run(this)
        if (typeof bytes !== 'number' || Number.isNaN(bytes))
          throw new TypeError('holdBody gave no number of bytes')
        wanted = Math.max(wanted, bytes)
      }
    } catch (error) {
      return this.#fail(error)
    }
    if (wanted <= 0) {
      this.body = guardRequest(inspected)
      return this.#handle()
    }
    return holdSource(inspected, wanted).then(
      held => {
        this.body = guardRequest(held)
        const gone = this.#gone
        return gone ? this.#abandon(null, gone) : this.#handle()
      },
      error => this.#fail(error),
    )
  }

  // 3
  #handle(): Awaitable<Reply> {
    let answer: Awaitable<Reply>
    try {
      answer = this.plan.handler(this)
    } catch (error) {
      return this.#fail(error)
    }
    if (!isThenable(answer)) return this.#finish(answer, 'the handler')
    return Promise.resolve(answer).then(
      reply => {
        const gone = this.#gone
        return gone ? this.#abandon(reply, gone) : this.#finish(reply, 'the handler')
      },
      error => this.#fail(error),
    )
  }

  // 4
  #finish(given: Reply, who: string): Awaitable<Reply> {
    let reply = given
    if (this.#interruption !== null) {
      reply = this.#interruption
      this.#interruption = null
      if (reply !== given) this.#discard(given)
    }
    reply = this.#checked(reply, who)
    const { onReply, replyBody } = this.plan
    return onReply.length === 0 && replyBody.length === 0
      ? this.#leave(reply)
      : this.#edit(editable(reply), 0)
  }

  #edit(given: Reply, from: number): Awaitable<Reply> {
    const { onReply } = this.plan
    let reply = given
    for (let i = from; i < onReply.length; i++) {
      const hook = onReply[i]!
      if (hook.at >= this.#depth) continue
      let verdict: Verdict
      try {
        verdict = hook.run(this, reply)
      } catch (error) {
        reply = this.#lose(reply, error)
        continue
      }
      if (verdict === undefined) continue
      const current = reply
      if (isThenable(verdict)) {
        return Promise.resolve(verdict).then(
          other => {
            const next = other === undefined ? current : this.#replace(current, other, hook.at)
            const gone = this.#gone
            return gone ? this.#abandon(next, gone) : this.#edit(next, i + 1)
          },
          error => {
            const next = this.#lose(current, error)
            const gone = this.#gone
            return gone ? this.#abandon(next, gone) : this.#edit(next, i + 1)
          },
        )
      }
      reply = this.#replace(current, verdict, hook.at)
    }
    return this.#transform(reply)
  }

  #replace(old: Reply, next: Reply, at: number): Reply {
    if (old !== next) this.#discard(old)
    this.#answeredBy = at
    const checked = this.#checked(next, 'onReply')
    return checked === old ? checked : editable(checked)
  }

  /** What stands in a reply's place when a hook on it fails. */
  #lose(reply: Reply, cause: unknown): Reply {
    this.#discard(reply)
    const failed = cause instanceof ProxyError ? failureReply(cause) : bugReply(cause)
    this.#note(failed)
    return failed
  }

  // 5
  #transform(given: Reply): Reply {
    const { replyBody } = this.plan
    // The hooks may have edited the head into something that cannot be sent.
    const reply = isReply(given) ? given : this.#checked(given, 'after onReply, the head')
    if (reply.body === null || 'splice' in reply.body) return reply
    for (let i = 0; i < replyBody.length; i++) {
      const hook = replyBody[i]!
      if (hook.at >= this.#depth) continue
      try {
        const transform = hook.run(this, reply)
        if (transform === undefined) continue
        if (typeof transform?.chunk !== 'function' || typeof transform.end !== 'function') {
          throw new TypeError(`${this.#hookName(hook.at, 'replyBody')} gave no transform`)
        }
        reply.body = transformSource(reply.body, transform)
        reply.headers.delete('content-length')
      } catch (error) {
        return this.#lose(reply, error)
      }
    }
    return this.#leave(reply)
  }

  /** Hands a reply over to the transport. */
  #leave(reply: Reply): Reply {
    const { body } = reply
    if (body === null || !('start' in body)) return reply
    const guarded = guardReply(body)
    // The object may be a program's own, which gives it again.
    return guarded === body ? reply : { ...reply, body: guarded }
  }

  #fail(error: unknown): Awaitable<Reply> {
    const gone = this.#gone
    if (gone) return failureReply(gone)
    return this.#finish(error instanceof ProxyError ? failureReply(error) : bugReply(error), '')
  }

  /** Set when nobody waits for a reply any more. */
  get #gone(): ProxyError | null {
    return this.#aborted ?? (this.#done ? ENDED : null)
  }

  /** Nobody waits for the reply: its source is told, and no hook runs any more but `onDone`. */
  #abandon(reply: Reply | null | undefined, gone: ProxyError): Reply {
    this.#discard(reply)
    return failureReply(gone)
  }

  /** The reply, or the 500 for what is none; noted for the outcome. */
  #checked(reply: Reply, who: string): Reply {
    if (isReply(reply)) {
      this.#note(reply)
      return reply
    }
    const name = this.#answeredBy === -1 ? who : this.#hookName(this.#answeredBy, who)
    return this.#lose(reply, noReply(name, reply))
  }

  #note(reply: Reply): void {
    if (this.#done) return
    this.#reason = typeof reply.reason === 'string' ? reply.reason : null
    this.#error = reply.error ?? null
  }

  #hookName(at: number, hook: string): string {
    return `filter '${this.plan.filters[at]!.name}' (${hook})`
  }

  /** A reply that nobody will read must not keep its upstream busy. */
  #discard(reply: Reply | null | undefined): void {
    if (typeof reply !== 'object' || reply === null || typeof reply.body !== 'object') return
    discard(reply.body, new ProxyError({ source: 'proxy', phase: 'reply-body', code: 'internal' }))
  }
}
