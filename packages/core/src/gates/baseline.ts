/** The gates that every edge should have, with safe defaults, in one filter. */
import { partOptions, readOptions, something, strings, type Table } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Filter } from '../pipeline/contract.ts'
import { type BodyLimitOptions, bodyLimit } from './body-limit.ts'
import { bundle } from './bundle.ts'
import { earlyData } from './early-data.ts'
import { type HeaderLimitsOptions, headerLimits } from './header-limits.ts'
import { type HealthOptions, health } from './health.ts'
import { hostAllowList } from './host-allow-list.ts'
import { type MethodsOptions, methods } from './methods.ts'
import { type RequestIdOptions, type RequestIdState, requestId } from './request-id.ts'
import { type SecurityHeadersOptions, securityHeaders } from './security-headers.ts'
import { type TraceContextOptions, type TraceState, traceContext } from './trace-context.ts'
import { type UriLengthOptions, uriLength } from './uri-length.ts'

/** Options of {@link baseline}: for each part its own options, or `false` to leave it out. */
export interface BaselineOptions {
  health?: HealthOptions | false
  securityHeaders?: SecurityHeadersOptions | false
  requestId?: RequestIdOptions | false
  traceContext?: TraceContextOptions | false
  uriLength?: UriLengthOptions | false
  methods?: MethodsOptions | false
  headerLimits?: HeaderLimitsOptions | false
  /** `false` leaves it out. */
  earlyData?: false
  /** Host names that are served; others get 421. Default: no check, because the names are not known here. */
  hosts?: readonly string[]
  bodyLimit?: BodyLimitOptions | false
}

const RULES: Table<BaselineOptions> = {
  health: partOptions,
  securityHeaders: partOptions,
  requestId: partOptions,
  traceContext: partOptions,
  uriLength: partOptions,
  methods: partOptions,
  headerLimits: partOptions,
  earlyData: something('false', value => value === false, 'Write false to leave it out.'),
  hosts: strings,
  bodyLimit: partOptions,
}

/** State fields that a baseline with these options adds. */
export type BaselineState<O extends BaselineOptions> = Unless<O, 'requestId', RequestIdState> &
  Unless<O, 'traceContext', TraceState>

/** `State`, unless the part is, or may be, switched off. */
type Unless<O, Part extends string, State> = Part extends keyof O
  ? false extends O[Part]
    ? object
    : State
  : State

/**
 * The safe defaults, in this order: `health`, `securityHeaders`, `requestId`, `traceContext`, `uriLength`, `methods`,
 * `headerLimits`, `earlyData`, `hostAllowList` (only with `hosts`), `bodyLimit`. Probes come first, so that nothing
 * refuses them; then what also a refusal should carry; then the refusals, the cheapest first.
 * @example pipeline().use(baseline({ hosts: ['example.com'], bodyLimit: { max: 10 << 20 } }))
 * @throws ConfigError for options that a part does not accept.
 */
export function baseline<const O extends BaselineOptions = object>(
  options: O = {} as O,
): Filter<object, BaselineState<O>> {
  const faults: ConfigFault[] = []
  const given: BaselineOptions = readOptions<BaselineOptions>('baseline', options, RULES, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const parts: Filter[] = []
  // The types of what the parts add are worked out by BaselineState.
  const add = (filter: unknown): void => void parts.push(filter as Filter)
  if (given.health !== false) add(health(given.health))
  if (given.securityHeaders !== false) add(securityHeaders(given.securityHeaders))
  if (given.requestId !== false) add(requestId(given.requestId))
  if (given.traceContext !== false) add(traceContext(given.traceContext))
  if (given.uriLength !== false) add(uriLength(given.uriLength))
  if (given.methods !== false) add(methods(given.methods))
  if (given.headerLimits !== false) add(headerLimits(given.headerLimits))
  if (given.earlyData !== false) add(earlyData())
  if (given.hosts !== undefined) add(hostAllowList({ hosts: given.hosts }))
  if (given.bodyLimit !== false) add(bodyLimit(given.bodyLimit))
  return bundle('baseline', ...parts) as unknown as Filter<object, BaselineState<O>>
}
