/** Checks the options of health and fills in the defaults. */
import {
  milliseconds,
  needed,
  oneOf,
  type Rule,
  readOptions,
  something,
  type Table,
  whole,
} from '../../config/check.ts'
import type { ConfigFault } from '../../errors.ts'
import { normaliseAuthority } from '../../headers/authority.ts'
import { readTarget } from '../../headers/target.ts'
import type { CheckOptions, PassiveOptions, UpstreamHealthOptions } from '../options.ts'
import { object, statuses } from '../rules.ts'
import type { HealthSettings } from './target-health.ts'

/** Everything about the health of a group. */
export interface GroupHealthSettings extends HealthSettings {
  readonly check: CheckSettings | null
  /** All targets are used when the share of usable ones is this or less; `null` for never. */
  readonly panic: number | null
  /** Also a target without another beside it: nothing could take its place, so by default nobody looks. */
  readonly watchAlone: boolean
}

/** What checks ask. */
export interface CheckSettings {
  readonly path: string
  readonly method: 'GET' | 'HEAD'
  readonly host: string | null
  readonly interval: number
  readonly timeout: number
  readonly expects: (status: number) => boolean
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const HEALTH: Table<UpstreamHealthOptions> = {
  check: something('a path or options', value => typeof value === 'string' || isObject(value)),
  passive: something('true, false or options', value => typeof value === 'boolean' || isObject(value)),
  panic: something(
    'a share from 0 to 1, or false',
    value => value === false || (typeof value === 'number' && value >= 0 && value <= 1),
  ),
}

const CHECK: Table<CheckOptions> = {
  path: something(
    'a path',
    value =>
      typeof value === 'string' && value.startsWith('/') && typeof readTarget('GET', value) === 'object',
    "Write for example '/healthz'.",
  ),
  method: oneOf('GET', 'HEAD'),
  host: something(
    'host[:port]',
    value => typeof value === 'string' && normaliseAuthority(value, 'http') !== null,
    'Write the name that the server expects.',
  ),
  interval: milliseconds(1),
  timeout: milliseconds(1),
  rise: whole(1, 1000),
  fall: whole(1, 1000),
  initial: oneOf('up', 'down'),
  status: something('a status from 200 to 599, or an array of them', value => {
    const list = [value].flat() as number[]
    return list.length > 0 && list.every(one => Number.isInteger(one) && one >= 200 && one <= 599)
  }),
}

/** A number in an open or half-open range. */
function share(what: string, test: (value: number) => boolean): Rule {
  return something(what, value => typeof value === 'number' && test(value))
}

const PASSIVE: Table<PassiveOptions> = {
  consecutive: something(
    'a whole number from 1 to 1000, or false',
    value =>
      value === false || (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000),
  ),
  errorRate: object,
  slow: object,
  statuses,
  backoff: milliseconds(1),
  maxBackoff: milliseconds(1),
  probes: whole(1, 1000),
  successes: whole(1, 1000),
}

type ErrorRate = NonNullable<PassiveOptions['errorRate']>
const ERROR_RATE: Table<ErrorRate> = {
  share: needed(share('a share above 0, up to 1', value => value > 0 && value <= 1)),
  window: milliseconds(10),
  atLeast: whole(1, 1_000_000),
}

type Slow = NonNullable<PassiveOptions['slow']>
const SLOW: Table<Slow> = {
  factor: needed(share('a factor above 1', value => value > 1 && value < 1e6)),
  atLeast: milliseconds(0),
  requests: whole(1, 1_000_000),
}

/** Settings of a group's health. */
export function checkHealth(
  options: UpstreamHealthOptions | undefined,
  place: string,
  faults: ConfigFault[],
): GroupHealthSettings {
  const here = `${place}.health`
  const {
    check,
    passive = true,
    panic = 0,
  } = readOptions<UpstreamHealthOptions>(here, options, HEALTH, faults)
  const active =
    check === undefined
      ? null
      : checkActive(typeof check === 'string' ? { path: check } : check, here, faults)
  return {
    passive: passive === false ? null : checkPassive(passive === true ? {} : passive, here, faults),
    checks: active?.thresholds ?? null,
    check: active?.settings ?? null,
    panic: panic === false ? null : panic,
    watchAlone: options !== undefined,
  }
}

function checkActive(
  given: CheckOptions,
  place: string,
  faults: ConfigFault[],
): { settings: CheckSettings; thresholds: HealthSettings['checks'] } {
  const options = readOptions<CheckOptions>(`${place}.check`, given, CHECK, faults)
  const { path = '/', method = 'GET', host = null, interval = 10_000, timeout = 2000, status } = options
  const { rise = 2, fall = 3, initial = 'up' } = options
  const wanted = status === undefined ? null : new Set([status].flat())
  const expects = (one: number): boolean => (wanted === null ? one >= 200 && one < 300 : wanted.has(one))
  return {
    settings: { path, method, host, interval, timeout, expects },
    thresholds: { rise, fall, initiallyUp: initial === 'up' },
  }
}

function checkPassive(
  given: PassiveOptions,
  place: string,
  faults: ConfigFault[],
): HealthSettings['passive'] {
  const here = `${place}.passive`
  const options = readOptions<PassiveOptions>(here, given, PASSIVE, faults)
  const { consecutive = 5, errorRate, slow, backoff = 5000, probes = 1, successes = 2 } = options
  const { statuses: bad = [502, 503, 504], maxBackoff = Math.max(60_000, backoff) } = options
  if (maxBackoff < backoff) {
    const fix = 'Choose a longer time, or a shorter backoff.'
    faults.push({ place: `${here}.maxBackoff`, problem: `${maxBackoff} is less than the backoff`, fix })
  }
  return {
    consecutive: consecutive === false ? null : consecutive,
    errorRate: errorRate ? checkErrorRate(errorRate, `${here}.errorRate`, faults) : null,
    slow: slow ? checkSlow(slow, `${here}.slow`, faults) : null,
    statuses: new Set(bad),
    breaker: { backoff, maxBackoff, probes, successes },
  }
}

function checkErrorRate(given: ErrorRate, place: string, faults: ConfigFault[]): Required<ErrorRate> {
  const {
    share: of = 1,
    window = 10_000,
    atLeast = 20,
  } = readOptions<ErrorRate>(place, given, ERROR_RATE, faults)
  return { share: of, window, atLeast }
}

function checkSlow(given: Slow, place: string, faults: ConfigFault[]): Required<Slow> {
  const { factor = 2, atLeast = 100, requests = 20 } = readOptions<Slow>(place, given, SLOW, faults)
  return { factor, atLeast, requests }
}
