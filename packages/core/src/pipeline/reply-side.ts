/**
 * The second half of an exchange: from a reply, whoever gave it, to the end.
 *
 *   4. reply hooks in reverse, for the filters that were entered
 *   5. body transforms
 *   6. done, once; or the client has gone before
 */
import { contentChanged } from '../body/changed.ts'
import { discard, guardReply } from '../body/guard.ts'
import { editedSource, isEdit } from '../body/transform.ts'
import { ProxyError } from '../errors.ts'
import { bugReply, failureReply } from '../reply.ts'
import { editable, hasContent, isReply, isThenable, noReply } from './answer.ts'
import type { Awaitable, ClientLink, Outcome, Reply, RequestHead, Source, Verdict } from './contract.ts'
import type { AnyContext, Plan } from './plan.ts'
import { tellDone } from './tell-done.ts'

/** Why nothing more is run for an exchange that a transport has ended without a word of the client. */
const ENDED = new ProxyError({ source: 'client', phase: 'reply-head', code: 'client-closed' })

/** Knows which filters were entered, who answered, what went wrong, and how it ended. */
export abstract class ReplySide {
  readonly plan: Plan
  readonly startedAt: number
  /** Written by the proxy, for the outcome. */
  upstream: string | null = null
  target: string | null = null
  attempts = 0
  abstract readonly request: RequestHead
  protected readonly link: ClientLink
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

  constructor(plan: Plan, link: ClientLink) {
    this.plan = plan
    this.link = link
    this.startedAt = performance.now()
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort(this.#aborted)
    }
    return this.#controller.signal
  }

  /** Cheaper than `signal` where one listener is enough; a later call replaces it, `null` removes it. */
  onAbort(listener: ((error: ProxyError) => void) | null): void {
    if (listener && this.#aborted) listener(this.#aborted)
    else this.#onAbort = listener
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
    if (this.plan.onDone.length > 0) tellDone(this.plan, this as unknown as AnyContext, this.outcome)
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
      bytesReceived: this.link.bytesReceived,
      bytesSent: this.#bytesSent,
      duration: this.#duration,
    }
  }

  /** Filters with a lower place than `depth` have had their say on the request. */
  protected enter(depth: number): void {
    this.#depth = depth
  }

  /** The filter at `at` answers. */
  protected answer(reply: Reply, at: number): Awaitable<Reply> {
    this.#answeredBy = at
    return this.finish(reply, 'onRequest')
  }

  /** The filter at `at` has seen enough of the body: its reply stands in for what the handler gives. */
  protected interrupt(reply: Reply, at: number): void {
    this.#answeredBy = at
    this.#interruption = isReply(reply)
      ? reply
      : bugReply(noReply(this.#hookName(at, 'onRequestBody'), reply))
  }

  // 4
  protected finish(given: Reply, who: string): Awaitable<Reply> {
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
        verdict = hook.run(this as unknown as AnyContext, reply)
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
            const gone = this.gone
            return gone ? this.abandon(next, gone) : this.#edit(next, i + 1)
          },
          error => {
            const next = this.#lose(current, error)
            const gone = this.gone
            return gone ? this.abandon(next, gone) : this.#edit(next, i + 1)
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
    const { body } = reply
    if (body !== null ? 'splice' in body : this.request.method !== 'HEAD' || !hasContent(reply.status))
      return reply
    for (let i = 0; i < replyBody.length; i++) {
      const hook = replyBody[i]!
      if (hook.at >= this.#depth) continue
      try {
        const edit = hook.run(this as unknown as AnyContext, reply)
        if (edit === undefined) continue
        if (!isEdit(edit)) throw new TypeError(`${this.#hookName(hook.at, 'replyBody')} gave no transform`)
        contentChanged(reply.headers)
        // The answer to a HEAD has the head alone.
        if (reply.body !== null) reply.body = editedSource(reply.body as Source | Uint8Array, edit)
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

  protected fail(error: unknown): Awaitable<Reply> {
    const gone = this.gone
    if (gone) return failureReply(gone)
    return this.finish(error instanceof ProxyError ? failureReply(error) : bugReply(error), '')
  }

  /** Set when nobody waits for a reply any more. */
  protected get gone(): ProxyError | null {
    return this.#aborted ?? (this.#done ? ENDED : null)
  }

  /** Nobody waits for the reply: its source is told, and no hook runs any more but `onDone`. */
  protected abandon(reply: Reply | null | undefined, gone: ProxyError): Reply {
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
