/** Checks the options of health and fills in the defaults. */
import { assertMilliseconds, assertWhole } from '../../config/check.ts'
import type { ConfigFault } from '../../errors.ts'
import { readTarget } from '../../headers/target.ts'
import { checkHost, onlyKnown } from '../check-options.ts'
import type { CheckOptions, PassiveOptions, UpstreamHealthOptions } from '../options.ts'
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

export function checkHealth(
  options: UpstreamHealthOptions | undefined,
  place: string,
  faults: ConfigFault[],
): GroupHealthSettings {
  const here = `${place}.health`
  const given = options ?? {}
  onlyKnown(here, given, ['check', 'passive', 'panic'], faults)
  const { check, passive = true, panic = 0 } = given
  if (panic !== false && !(typeof panic === 'number' && panic >= 0 && panic <= 1)) {
    faults.push({
      place: `${here}.panic`,
      problem: `${String(panic)} is not from 0 to 1`,
      fix: 'Choose a share, or false.',
    })
  }
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

const ACTIVE = ['path', 'method', 'host', 'interval', 'timeout', 'rise', 'fall', 'initial', 'status']

function checkActive(
  options: CheckOptions,
  place: string,
  faults: ConfigFault[],
): { settings: CheckSettings; thresholds: HealthSettings['checks'] } {
  const here = `${place}.check`
  onlyKnown(here, options, ACTIVE, faults)
  const { path = '/', method = 'GET', host, initial = 'up', status } = options
  if (typeof path !== 'string' || !path.startsWith('/') || typeof readTarget('GET', path) === 'string') {
    faults.push({ place: `${here}.path`, problem: 'it is no path', fix: "Write for example '/healthz'." })
  }
  if (method !== 'GET' && method !== 'HEAD') {
    faults.push({
      place: `${here}.method`,
      problem: 'it is neither GET nor HEAD',
      fix: 'Choose one of them.',
    })
  }
  if (initial !== 'up' && initial !== 'down') {
    faults.push({ place: `${here}.initial`, problem: 'it is unknown', fix: "Write 'up' or 'down'." })
  }
  checkHost(`${here}.host`, host, faults)
  const wanted = status === undefined ? null : new Set([status].flat())
  for (const one of wanted ?? []) assertWhole(`${here}.status`, one, 200, 599, faults)
  return {
    settings: {
      path,
      method,
      host: host ?? null,
      interval: assertMilliseconds(`${here}.interval`, options.interval ?? 10_000, 1, faults),
      timeout: assertMilliseconds(`${here}.timeout`, options.timeout ?? 2000, 1, faults),
      expects: wanted === null ? one => one >= 200 && one < 300 : one => wanted.has(one),
    },
    thresholds: {
      rise: assertWhole(`${here}.rise`, options.rise ?? 2, 1, 1000, faults),
      fall: assertWhole(`${here}.fall`, options.fall ?? 3, 1, 1000, faults),
      initiallyUp: initial === 'up',
    },
  }
}

const PASSIVE = [
  ...['consecutive', 'errorRate', 'slow', 'statuses', 'backoff', 'maxBackoff', 'probes', 'successes'],
]

function checkPassive(
  options: PassiveOptions,
  place: string,
  faults: ConfigFault[],
): HealthSettings['passive'] {
  const here = `${place}.passive`
  onlyKnown(here, options, PASSIVE, faults)
  const { consecutive = 5, errorRate, slow, statuses = [502, 503, 504] } = options
  const share = (name: string, value: number, test: boolean, fix: string): void => {
    if (!test) faults.push({ place: `${here}.${name}`, problem: `${String(value)} cannot work`, fix })
  }
  if (errorRate) {
    onlyKnown(`${here}.errorRate`, errorRate, ['share', 'window', 'atLeast'], faults)
    share(
      'errorRate.share',
      errorRate.share,
      errorRate.share > 0 && errorRate.share <= 1,
      'Choose above 0, up to 1.',
    )
  }
  if (slow) {
    onlyKnown(`${here}.slow`, slow, ['factor', 'atLeast', 'requests'], faults)
    share('slow.factor', slow.factor, slow.factor > 1 && slow.factor < 1e6, 'Choose above 1.')
  }
  for (const one of statuses) assertWhole(`${here}.statuses`, one, 400, 599, faults)
  const first = assertMilliseconds(`${here}.backoff`, options.backoff ?? 5000, 1, faults)
  return {
    consecutive:
      consecutive === false ? null : assertWhole(`${here}.consecutive`, consecutive, 1, 1000, faults),
    errorRate: errorRate
      ? {
          share: errorRate.share,
          window: assertMilliseconds(`${here}.errorRate.window`, errorRate.window ?? 10_000, 10, faults),
          atLeast: assertWhole(`${here}.errorRate.atLeast`, errorRate.atLeast ?? 20, 1, 1_000_000, faults),
        }
      : null,
    slow: slow
      ? {
          factor: slow.factor,
          atLeast: assertMilliseconds(`${here}.slow.atLeast`, slow.atLeast ?? 100, 0, faults),
          requests: assertWhole(`${here}.slow.requests`, slow.requests ?? 20, 1, 1_000_000, faults),
        }
      : null,
    statuses: new Set(statuses),
    breaker: {
      backoff: first,
      maxBackoff: assertMilliseconds(
        `${here}.maxBackoff`,
        options.maxBackoff ?? Math.max(60_000, first),
        first,
        faults,
      ),
      probes: assertWhole(`${here}.probes`, options.probes ?? 1, 1, 1000, faults),
      successes: assertWhole(`${here}.successes`, options.successes ?? 2, 1, 1000, faults),
    },
  }
}
