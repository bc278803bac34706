/** All routes under one host name, and what answers the rest. Decides which plan a request gets. */
import { ProxyError } from '../errors.ts'
import { refuse } from '../reply.ts'
import { isOpenToReadings } from '../router/readings.ts'
import { type RouteEntry, Router } from '../router/router.ts'
import type { RequestHead } from './contract.ts'
import { covers, makePlan, type Plan } from './plan.ts'

/** What a request gets: a plan with the values of its parameters, or the reason why none is run. */
export interface Found {
  readonly plan: Plan
  readonly params: Readonly<Record<string, string>>
  readonly fault: ProxyError | null
}

export const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({})

/** Routes of one host name. */
export class Site {
  readonly router: Router<Plan>
  readonly #fallback: Plan
  readonly #notAllowed: Plan
  readonly #otherReadings: (path: string) => string[] | null

  constructor(
    routes: readonly RouteEntry<Plan>[],
    fallback: Plan,
    otherReadings: (path: string) => string[] | null,
  ) {
    const router = new Router(routes)
    this.router = router
    this.#fallback = fallback
    this.#otherReadings = otherReadings
    this.#notAllowed = makePlan(fallback.route, fallback.filters, cx =>
      refuse(405, 'method-not-allowed', { Allow: router.allowed(cx.request.path).join(', ') }),
    )
  }

  /** The plan for a request. */
  find({ method: sent, upgrade, path }: RequestHead): Found {
    // An upgrade by extended CONNECT is routed as the GET that it would be in HTTP/1.1 (RFC 8441, 5).
    const method = upgrade !== null && sent === 'CONNECT' ? 'GET' : sent
    const match = this.router.find(method, path)
    if (match === 'mismatch') return { plan: this.#notAllowed, params: NO_PARAMS, fault: null }
    const plan = match === null ? this.#fallback : match.value
    if (this.router.size > 0 && isOpenToReadings(path) && !this.#isAgreed(method, path, plan)) {
      // Some server would find what belongs to another route, whose gates this request has not passed.
      const fault = new ProxyError({ source: 'client', phase: 'head', code: 'ambiguous-path' })
      return { plan: this.#fallback, params: NO_PARAMS, fault }
    }
    return { plan, params: match === null ? NO_PARAMS : match.params, fault: null }
  }

  /** True when `plan` holds all that would decide about the path, however a server reads it. */
  #isAgreed(method: string, path: string, plan: Plan): boolean {
    const others = this.#otherReadings(path)
    if (others === null) return false
    for (const other of others) {
      const meant = this.router.find(method, other)
      if (meant === 'mismatch') return false
      if (!covers(plan, meant === null ? this.#fallback : meant.value)) return false
    }
    return true
  }
}
