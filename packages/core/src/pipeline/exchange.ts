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
import { holdSource } from '../body/hold.ts'
import { inspectSource } from '../body/inspect.ts'
import { transformSource } from '../body/transform.ts'
import { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import { bugReply, failureReply } from '../reply.ts'
import { dropTunnel } from '../upgrade/drop.ts'
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

const never = (): void => {}

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
  readonly #fault: ProxyError | null
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
    state: object = plan.state(),
  ) {
    this.plan = plan
    this.request = request
    this.params = params
    this.body = body
    this.#link = link
    this.#fault = fault
    this.startedAt = performance.now()
    this.state = state
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
      return this.#finish(failureReply(this.#fault))
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
    const { onDone } = this.plan
    if (onDone.length === 0) return
    const { outcome } = this
    for (let i = 0; i < onDone.length; i++) {
      try {
        onDone[i]!.run(this, outcome)
      } catch (cause) {
        // The exchange is over: nobody is left to answer, and the next filter still has to know.
        process.emitWarning(cause instanceof Error ? cause : String(cause), 'PosternFilterWarning')
      }
    }
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
    for (let i = from; i < onForward.length; i++) await onForward[i]!.run(this, out)
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
      if (verdict instanceof Promise) return this.#askLater(verdict, hook.at, i + 1)
      this.#answeredBy = hook.at
      return this.#finish(verdict)
    }
    this.#depth = filters.length
    return this.#hold()
  }

  #askLater(verdict: Promise<Reply | undefined>, at: number, next: number): Promise<Reply> {
    return verdict.then(
      reply => {
        // Nobody is there any more: what follows would start work, and take places, for good.
        if (this.#aborted) return failureReply(this.#aborted)
        if (reply === undefined) return this.#ask(next)
        this.#answeredBy = at
        return this.#finish(reply)
      },
      error => this.#fail(error),
    )
  }

  // 2
  #hold(): Awaitable<Reply> {
    const { onRequestBody, holdBody } = this.plan
    if (this.body === null || onRequestBody.length === 0) return this.#handle()
    this.body = inspectSource(this.body, onRequestBody, this, (reply, at) => {
      this.#interruption = reply
      this.#answeredBy = at
    })
    let wanted = 0
    try {
      for (let i = 0; i < holdBody.length; i++) wanted = Math.max(wanted, holdBody[i]!.run(this))
    } catch (error) {
      return this.#fail(error)
    }
    if (wanted <= 0) return this.#handle()
    return holdSource(this.body, wanted).then(
      held => {
        this.body = held
        return this.#handle()
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
    if (!(answer instanceof Promise)) return this.#finish(answer)
    // Nobody looks at the reply on its way: one promise less. A rejection is the transport's to answer.
    if (this.plan.blind) return answer.catch(error => this.#fail(error))
    return answer.then(
      reply => this.#finish(reply),
      error => this.#fail(error),
    )
  }

  // 4
  #finish(given: Reply): Awaitable<Reply> {
    const reply = this.#interruption ?? given
    this.#interruption = null
    this.#note(reply)
    return this.plan.onReply.length === 0 && this.plan.replyBody.length === 0 ? reply : this.#edit(reply, 0)
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
        this.#discard(reply)
        reply = bugReply(error)
        this.#note(reply)
        continue
      }
      if (verdict === undefined) continue
      const current = reply
      if (verdict instanceof Promise) {
        return verdict.then(
          other => this.#edit(other ? this.#replace(current, other, hook.at) : current, i + 1),
          error => {
            this.#discard(current)
            const failed = bugReply(error)
            this.#note(failed)
            return this.#edit(failed, i + 1)
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
    this.#note(next)
    return next
  }

  // 5
  #transform(reply: Reply): Reply {
    const { replyBody } = this.plan
    if (reply.body === null || 'splice' in reply.body) return reply
    for (let i = 0; i < replyBody.length; i++) {
      const hook = replyBody[i]!
      if (hook.at >= this.#depth) continue
      try {
        const transform = hook.run(this, reply)
        if (transform) {
          reply.body = transformSource(reply.body, transform)
          reply.headers.delete('content-length')
        }
      } catch (error) {
        this.#discard(reply)
        const failed = bugReply(error)
        this.#note(failed)
        return failed
      }
    }
    return reply
  }

  #fail(error: unknown): Awaitable<Reply> {
    return this.#finish(error instanceof ProxyError ? failureReply(error) : bugReply(error))
  }

  #note(reply: Reply): void {
    this.#reason = reply.reason ?? null
    this.#error = reply.error ?? null
  }

  /** A reply that nobody will read must not keep its upstream busy. */
  #discard(reply: Reply): void {
    const { body } = reply
    if (body === null || body instanceof Uint8Array) return
    const unwanted = new ProxyError({ source: 'proxy', phase: 'reply-body', code: 'internal' })
    if ('splice' in body) dropTunnel(body, unwanted)
    else body.start({ write: () => true, end: never, fail: never }).cancel(unwanted)
  }
}
