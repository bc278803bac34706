/** Turns what the builder collected into routers and plans, and reports every fault of it at once. */
import { ConfigError, type ConfigFault, ProxyError } from '../errors.ts'
import { hostOf, normaliseAuthority } from '../headers/authority.ts'
import { slashView } from '../headers/target.ts'
import { refuse, reply } from '../reply.ts'
import { HostTable } from '../router/hosts.ts'
import { isWithin, type Pattern, readPattern } from '../router/pattern.ts'
import { Router } from '../router/router.ts'
import type { ClientLink, OpenExchange, RequestHead, Source } from './contract.ts'
import { Exchange } from './exchange.ts'
import { type AnyFilter, type AnyHandler, flatten, makePlan, type Plan, stateKeys } from './plan.ts'

/** One call on the builder. */
export type Step =
  | { readonly kind: 'use'; readonly filter: AnyFilter }
  | { readonly kind: 'wrap'; readonly wrapper: (inner: AnyHandler) => AnyHandler }
  | { readonly kind: 'route'; readonly pattern: string; readonly part: Description }
  | { readonly kind: 'host'; readonly name: string; readonly part: Description }

/** A pipeline as data. */
export interface Description {
  readonly steps: readonly Step[]
  readonly handler: AnyHandler | null
}

interface Scope {
  readonly filters: readonly AnyFilter[]
  readonly wrappers: readonly ((inner: AnyHandler) => AnyHandler)[]
}

interface Route {
  readonly pattern: Pattern
  readonly plan: Plan
}

/** All routes under one host name, and what answers the rest. */
interface Site {
  readonly routes: Route[]
  fallback: Plan
  router: Router<Plan>
}

const NO_PARAMS = Object.freeze({})
const notFound: AnyHandler = () => refuse(404, 'not-found')
const serverOptions: AnyHandler = () =>
  reply(204, null, { headers: { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' } })

/** Opens exchanges of a compiled app. */
export type Open = (
  head: RequestHead,
  body: Source | null,
  link: ClientLink,
  fault: ProxyError | null,
) => OpenExchange

/** Compiles a description. @throws ConfigError with every fault. */
export function compile(root: Description): Open {
  const faults: ConfigFault[] = []
  const hosts = new HostTable<Site>()
  const { site: anywhere, scope } = readSite(root, { filters: [], wrappers: [] }, '*', hosts, faults)
  if (faults.length > 0) throw new ConfigError(faults)

  const options = makePlan('*', scope.filters, serverOptions)
  const refusals = makePlan('*', scope.filters, notFound)

  return function open(head, body, link, fault) {
    if (fault) return new Exchange(refusals, head, NO_PARAMS, body, link, fault)
    const site = hosts.size === 0 ? anywhere : (hosts.find(hostOf(head.authority)) ?? anywhere)
    const { path } = head
    if (path === '*') return new Exchange(options, head, NO_PARAMS, body, link, null)
    // An upgrade by extended CONNECT is routed as the GET that it would be in HTTP/1.1 (RFC 8441, 5).
    const method = head.upgrade !== null && head.method === 'CONNECT' ? 'GET' : head.method
    const match = site.router.find(method, path)
    const view = slashView(path)
    if (view !== null && planOf(site.router.find(method, view)) !== planOf(match)) {
      // A server that decodes %2F would find a resource whose route, and gates, are others than those that ran.
      return new Exchange(site.fallback, head, NO_PARAMS, body, link, ambiguous())
    }
    if (match === null) return new Exchange(site.fallback, head, NO_PARAMS, body, link, null)
    if (match === 'mismatch') {
      const allow = site.router.allowed(path).join(', ')
      const plan = makePlan(site.fallback.route, site.fallback.filters, () =>
        refuse(405, 'method-not-allowed', { Allow: allow }),
      )
      return new Exchange(plan, head, NO_PARAMS, body, link, null)
    }
    return new Exchange(match.value, head, match.params, body, link, null)
  }
}

function planOf(match: ReturnType<Router<Plan>['find']>): Plan | string | null {
  return match === null || match === 'mismatch' ? match : match.value
}

function ambiguous(): ProxyError {
  return new ProxyError({ source: 'client', phase: 'head', code: 'ambiguous-path' })
}

function readSite(
  description: Description,
  outer: Scope,
  label: string,
  hosts: HostTable<Site> | null,
  faults: ConfigFault[],
): { site: Site; scope: Scope } {
  const routes: Route[] = []
  const scope = readSteps(description, outer, null, routes, hosts, faults)
  const fallback = planFor(label, scope, description.handler, faults)
  const router = new Router<Plan>(routes.map(route => route.pattern))
  for (const { pattern, plan } of routes) {
    const problem = router.add(pattern, plan)
    if (problem)
      faults.push({ place: `route ${pattern.text}`, problem, fix: 'Remove one, or change its pattern.' })
  }
  return { site: { routes, fallback, router }, scope }
}

/** Walks the steps; filters and wrappers count for the routes that stand behind them. */
function readSteps(
  description: Description,
  outer: Scope,
  around: Pattern | null,
  routes: Route[],
  hosts: HostTable<Site> | null,
  faults: ConfigFault[],
): Scope {
  let scope = outer
  for (const step of description.steps) {
    if (step.kind === 'use') {
      checkFilter(step.filter, faults)
      scope = { ...scope, filters: [...scope.filters, ...flatten([step.filter])] }
    } else if (step.kind === 'wrap') {
      scope = { ...scope, wrappers: [...scope.wrappers, step.wrapper] }
    } else if (step.kind === 'route') {
      readRoute(step.pattern, step.part, scope, around, routes, faults)
    } else {
      readHost(step.name, step.part, scope, hosts, faults)
    }
  }
  return scope
}

function readRoute(
  text: string,
  part: Description,
  scope: Scope,
  around: Pattern | null,
  routes: Route[],
  faults: ConfigFault[],
): void {
  const place = `route ${text}`
  const pattern = readPattern(text)
  if (typeof pattern === 'string') {
    faults.push({ place, problem: pattern, fix: 'Write a pattern like GET /users/:id or /files/*rest.' })
    return
  }
  if (around && !isWithin(pattern, around)) {
    const fix = `Nested patterns are whole paths: start with ${around.path.replace(/\/?\*.*$/, '')}/.`
    faults.push({ place, problem: `it lies outside the route around it, ${around.text}`, fix })
  }
  const inner = readSteps(part, scope, pattern, routes, null, faults)
  routes.push({ pattern, plan: planFor(text, inner, part.handler, faults) })
}

function readHost(
  name: string,
  part: Description,
  scope: Scope,
  hosts: HostTable<Site> | null,
  faults: ConfigFault[],
): void {
  const place = `host ${name}`
  if (hosts === null) {
    faults.push({
      place,
      problem: 'it stands inside a route or host',
      fix: 'Put it on the outermost pipeline.',
    })
    return
  }
  const bare = name.startsWith('*.') ? name.slice(2) : name
  if (normaliseAuthority(bare, 'http') !== bare || hostOf(bare) !== bare) {
    const fix = 'Write it in lower case and without a port: example.com or *.example.com.'
    faults.push({ place, problem: 'it is not a host name', fix })
    return
  }
  const { site } = readSite(part, scope, name, null, faults)
  if (!hosts.add(name, site)) faults.push({ place, problem: 'it is defined twice', fix: 'Merge the two.' })
}

function planFor(label: string, scope: Scope, handler: AnyHandler | null, faults: ConfigFault[]): Plan {
  if (handler !== null && typeof handler !== 'function') {
    faults.push({
      place: label,
      problem: 'the handler is not a function',
      fix: 'Pass proxy(…), reply(…) in a function, …',
    })
  }
  const seen = new Map<string, string>()
  for (const filter of scope.filters) {
    checkState(filter, faults)
    for (const field of filter.state ? stateKeys(filter.state) : []) {
      // Symbols are the filter's own: nobody else can have the same.
      if (typeof field !== 'string') continue
      const owner = seen.get(field)
      if (owner !== undefined) {
        const problem = `filters ${owner} and ${filter.name} both add the state field ${field}`
        faults.push({ place: label, problem, fix: 'Use one of them, or rename its field.' })
      }
      seen.set(field, filter.name)
    }
  }
  const wrapped = scope.wrappers.reduceRight((inner, wrapper) => wrapper(inner), handler ?? notFound)
  return makePlan(label, scope.filters, wrapped)
}

function checkFilter(filter: AnyFilter, faults: ConfigFault[]): void {
  const { name } = filter
  if (typeof name !== 'string' || name === '') {
    faults.push({
      place: 'use()',
      problem: 'a filter has no name',
      fix: 'Give it one; it appears in the log.',
    })
  }
}

function checkState(filter: AnyFilter, faults: ConfigFault[]): void {
  if (!filter.state) return
  const place = `filter ${filter.name}`
  const fix = 'Return a new object with its state fields.'
  if (faults.some(fault => fault.place === place)) return
  try {
    const state: unknown = filter.state()
    if (typeof state === 'object' && state !== null) return
    faults.push({ place, problem: `state() gives ${state === null ? 'null' : typeof state}`, fix })
  } catch (error) {
    faults.push({
      place,
      problem: `state() throws ${error instanceof Error ? error.message : 'something'}`,
      fix,
    })
  }
}
