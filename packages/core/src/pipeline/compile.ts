/** Turns what the builder collected into routers and plans, and reports every fault of it at once. */
import { kindOf } from '../config/check.ts'
import { ConfigError, type ConfigFault, type ProxyError } from '../errors.ts'
import { hostOf, normaliseAuthority } from '../headers/authority.ts'
import { refuse, reply } from '../reply.ts'
import { HostTable } from '../router/hosts.ts'
import { isWithin, type Pattern, readPattern } from '../router/pattern.ts'
import { type PathReading, readingsBy } from '../router/readings.ts'
import type { RouteEntry } from '../router/router.ts'
import { checkFilter, checkState, partsOf } from './check-filter.ts'
import type { ClientLink, OpenExchange, RequestHead, Source } from './contract.ts'
import { Exchange } from './exchange.ts'
import { type AnyFilter, type AnyHandler, flatten, makePlan, type Plan, stateKeys } from './plan.ts'
import { NO_PARAMS, Site } from './site.ts'

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

/** Compiles a description; `readings` are what servers behind it may make of a path. @throws ConfigError with every fault. */
export function compile(root: Description, readings: readonly PathReading[]): Open {
  const faults: ConfigFault[] = []
  const hosts = new HostTable<Site>()
  const reading: Reading = { hosts, otherReadings: readingsBy(readings), faults }
  const { site: anywhere, scope } = readSite(root, { filters: [], wrappers: [] }, '*', true, reading)
  if (faults.length > 0) throw new ConfigError(faults)

  const options = makePlan('*', scope.filters, serverOptions)
  const refusals = makePlan('*', scope.filters, notFound)

  return function open(head, body, link, fault) {
    if (fault) return new Exchange(refusals, head, NO_PARAMS, body, link, fault)
    if (head.path === '*') return new Exchange(options, head, NO_PARAMS, body, link, null)
    const site = hosts.size === 0 ? anywhere : (hosts.find(hostOf(head.authority)) ?? anywhere)
    const { plan, params, fault: refused } = site.find(head)
    return new Exchange(plan, head, params, body, link, refused)
  }
}

/** What reading a description needs beside it. */
interface Reading {
  readonly hosts: HostTable<Site>
  readonly otherReadings: (path: string) => string[] | null
  readonly faults: ConfigFault[]
}

function readSite(
  description: Description,
  outer: Scope,
  label: string,
  outermost: boolean,
  reading: Reading,
): { site: Site; scope: Scope } {
  const routes: RouteEntry<Plan>[] = []
  const scope = readSteps(description, outer, null, routes, outermost, reading)
  const fallback = planFor(label, scope, description.handler, reading.faults)
  const site = new Site(routes, fallback, reading.otherReadings)
  for (const { pattern, problem } of site.router.problems) {
    reading.faults.push({
      place: `route ${pattern.text}`,
      problem,
      fix: 'Remove one, or change its pattern.',
    })
  }
  return { site, scope }
}

/** Walks the steps; filters and wrappers count for the routes that stand behind them. */
function readSteps(
  description: Description,
  outer: Scope,
  around: Pattern | null,
  routes: RouteEntry<Plan>[],
  outermost: boolean,
  reading: Reading,
): Scope {
  const { faults } = reading
  let scope = outer
  for (const step of description.steps) {
    if (step.kind === 'use') {
      const filters = [step.filter, ...partsOf(step.filter)]
      if (filters.every(filter => checkFilter(filter, faults))) {
        scope = { ...scope, filters: [...scope.filters, ...flatten([step.filter])] }
      }
    } else if (step.kind === 'wrap') {
      if (typeof step.wrapper === 'function')
        scope = { ...scope, wrappers: [...scope.wrappers, step.wrapper] }
      else {
        const problem = `the wrapper is ${kindOf(step.wrapper)}, not a function`
        faults.push({
          place: 'wrap()',
          problem,
          fix: 'Pass inner => cx => inner(cx), or what a wrapper of a package gives.',
        })
      }
    } else if (step.kind === 'route') {
      readRoute(step.pattern, step.part, scope, around, routes, reading)
    } else {
      readHost(step.name, step.part, scope, outermost, reading)
    }
  }
  return scope
}

function readRoute(
  text: string,
  part: Description,
  scope: Scope,
  around: Pattern | null,
  routes: RouteEntry<Plan>[],
  reading: Reading,
): void {
  const { faults } = reading
  const place = typeof text === 'string' ? `route ${text}` : 'route()'
  const pattern = readPattern(text)
  if (typeof pattern === 'string') {
    faults.push({ place, problem: pattern, fix: 'Write a pattern like GET /users/:id or /files/*rest.' })
    return
  }
  if (around && !isWithin(pattern, around)) {
    const fix = `Nested patterns are whole paths: start with ${around.path.replace(/\/?\*.*$/, '')}/.`
    faults.push({ place, problem: `it lies outside the route around it, ${around.text}`, fix })
  }
  const inner = readSteps(part, scope, pattern, routes, false, reading)
  routes.push({ pattern, value: planFor(text, inner, part.handler, faults) })
}

function readHost(name: string, part: Description, scope: Scope, outermost: boolean, reading: Reading): void {
  const { faults } = reading
  const place = typeof name === 'string' ? `host ${name}` : 'host()'
  if (!outermost) {
    faults.push({
      place,
      problem: 'it stands inside a route or host',
      fix: 'Put it on the outermost pipeline.',
    })
    return
  }
  const bare = String(name).startsWith('*.') ? name.slice(2) : name
  if (typeof name !== 'string' || normaliseAuthority(bare, 'http') !== bare || hostOf(bare) !== bare) {
    const fix = 'Write it in lower case and without a port: example.com or *.example.com.'
    faults.push({ place, problem: 'it is not a host name', fix })
    return
  }
  const { site } = readSite(part, scope, name, false, reading)
  if (!reading.hosts.add(name, site))
    faults.push({ place, problem: 'it is defined twice', fix: 'Merge the two.' })
}

function planFor(place: string, scope: Scope, handler: AnyHandler | null, faults: ConfigFault[]): Plan {
  if (handler !== null && typeof handler !== 'function') {
    faults.push({
      place,
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
      if (field === '__proto__') {
        faults.push({
          place: `filter ${filter.name}`,
          problem: 'a state field is called __proto__',
          fix: 'Rename it.',
        })
      }
      const owner = seen.get(field)
      if (owner !== undefined) {
        const problem = `filters ${owner} and ${filter.name} both add the state field ${field}`
        faults.push({ place, problem, fix: 'Use one of them, or rename its field.' })
      }
      seen.set(field, filter.name)
    }
  }
  const answers = handler ?? notFound
  const wrapped = scope.wrappers.reduceRight((inner, wrapper) => {
    const made = wrapper(inner)
    if (typeof made === 'function') return made
    const fix = 'Return the handler that takes the place of the inner one.'
    faults.push({ place, problem: `a wrapper gives ${made === null ? 'null' : typeof made}`, fix })
    return inner
  }, answers)
  return makePlan(place, scope.filters, wrapped, answers, scope.wrappers)
}
