/**
 * One exchange on its way through a plan. Here is the way of the request; `reply-side.ts` has that of the reply.
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
import { guardRequest } from '../body/guard.ts'
import { holdSource } from '../body/hold.ts'
import { inspectSource } from '../body/inspect.ts'
import { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import { failureReply } from '../reply.ts'
import { isThenable } from './answer.ts'
import type {
  Awaitable,
  ClientLink,
  Context,
  ForwardHead,
  OpenExchange,
  Reply,
  RequestHead,
  Source,
  Verdict,
} from './contract.ts'
import type { Plan } from './plan.ts'
import { ReplySide } from './reply-side.ts'

/** The context that hooks and handlers get, and the handle that the transport holds. */
export class Exchange extends ReplySide implements Context, OpenExchange {
  readonly request: RequestHead
  readonly params: Readonly<Record<string, string>>
  readonly state: object
  body: Source | null
  /** Why no gate runs: a refused head, or a filter that cannot make its state. */
  #fault: ProxyError | null

  constructor(
    plan: Plan,
    request: RequestHead,
    params: Readonly<Record<string, string>>,
    body: Source | null,
    link: ClientLink,
    fault: ProxyError | null,
    state: object | null = null,
  ) {
    super(plan, link)
    this.request = request
    this.params = params
    this.body = body === null ? null : guardRequest(body)
    this.#fault = fault
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
    return this.link.draining
  }

  inform(status: number, headers: HeaderList): void {
    this.link.inform(status, headers)
  }

  allowSlowBody(): void {
    this.link.allowSlowBody?.()
  }

  run(): Awaitable<Reply> {
    if (this.#fault) {
      this.enter(this.plan.filters.length)
      return this.finish(failureReply(this.#fault), '')
    }
    return this.#ask(0)
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
      if (this.gone) return
      await onForward[i]!.run(this, out)
    }
  }

  // 1
  #ask(from: number): Awaitable<Reply> {
    const { onRequest, filters } = this.plan
    for (let i = from; i < onRequest.length; i++) {
      const hook = onRequest[i]!
      this.enter(hook.at + 1)
      let verdict: Verdict
      try {
        verdict = hook.run(this)
      } catch (error) {
        return this.fail(error)
      }
      if (verdict === undefined) continue
      if (isThenable(verdict)) return this.#askLater(verdict, hook.at, i + 1)
      return this.answer(verdict, hook.at)
    }
    this.enter(filters.length)
    return this.#hold()
  }

  #askLater(verdict: PromiseLike<Reply | undefined>, at: number, next: number): Promise<Reply> {
    return Promise.resolve(verdict).then(
      reply => {
        // Nobody is there any more: what follows would start work, and take places, for good.
        const gone = this.gone
        if (gone) return this.abandon(reply, gone)
        if (reply === undefined) return this.#ask(next)
        return this.answer(reply, at)
      },
      error => this.fail(error),
    )
  }

  // 2
  #hold(): Awaitable<Reply> {
    const { onRequestBody, holdBody } = this.plan
    if (this.body === null || onRequestBody.length === 0) return this.#handle()
    const inspected = inspectSource(this.body, onRequestBody, this, (reply, at) => this.interrupt(reply, at))
    let wanted = 0
    try {
      for (let i = 0; i < holdBody.length; i++) {
        const bytes = holdBody[i]!.run(this)
        if (typeof bytes !== 'number' || Number.isNaN(bytes))
          throw new TypeError('holdBody gave no number of bytes')
        wanted = Math.max(wanted, bytes)
      }
    } catch (error) {
      return this.fail(error)
    }
    if (wanted <= 0) {
      this.body = guardRequest(inspected)
      return this.#handle()
    }
    return holdSource(inspected, wanted).then(
      held => {
        this.body = guardRequest(held)
        const gone = this.gone
        return gone ? this.abandon(null, gone) : this.#handle()
      },
      error => this.fail(error),
    )
  }

  // 3
  #handle(): Awaitable<Reply> {
    let answer: Awaitable<Reply>
    try {
      answer = this.plan.handler(this)
    } catch (error) {
      return this.fail(error)
    }
    if (!isThenable(answer)) return this.finish(answer, 'the handler')
    return Promise.resolve(answer).then(
      reply => {
        const gone = this.gone
        return gone ? this.abandon(reply, gone) : this.finish(reply, 'the handler')
      },
      error => this.fail(error),
    )
  }
}
