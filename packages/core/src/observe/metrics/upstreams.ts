/** What groups of targets say of themselves, read when it is asked for. */
import type { GroupEvent, GroupStats, TargetStats } from '../../upstream/events.ts'
import type { Upstream } from '../../upstream/upstream.ts'
import type { Exposition } from './exposition.ts'
import { LabelCounter } from './label-counter.ts'

/** Families of each target: name, type, help, value. */
const FAMILIES: readonly (readonly [
  string,
  'counter' | 'gauge',
  string,
  (target: TargetStats) => number | null,
])[] = [
  [
    'target_requests_total',
    'counter',
    'Requests sent to a target, each attempt counted.',
    target => target.requests,
  ],
  ['target_failures_total', 'counter', 'Requests that a target failed.', target => target.failures],
  ['target_requests_in_flight', 'gauge', 'Requests under way at a target.', target => target.inFlight],
  ['target_used', 'gauge', '1 for a target that gets requests.', target => (target.used ? 1 : 0)],
  ['target_weight', 'gauge', 'Weight of a target.', target => target.weight],
  [
    'target_connections',
    'gauge',
    'Open connections to a target.',
    target => target.connections?.open ?? null,
  ],
  [
    'target_connections_idle',
    'gauge',
    'Open connections that carry nothing.',
    target => target.connections?.idle ?? null,
  ],
  [
    'target_requests_waiting',
    'gauge',
    'Requests that wait for a connection.',
    target => target.connections?.waiting ?? null,
  ],
]
const STATES = ['unknown', 'up', 'down', 'open', 'half-open', 'draining'] as const
/** Combinations of labels for changes. */
const MOST = 2000

/** Numbers of groups. */
export class UpstreamMetrics {
  readonly #prefix: string
  readonly #groups = new Set<Upstream>()
  readonly #changes = new LabelCounter(4, MOST)

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** Tells this group's numbers too. */
  track(group: Upstream): void {
    this.#groups.add(group)
  }

  /** No longer. */
  untrack(group: Upstream): void {
    this.#groups.delete(group)
  }

  /** Counts a change of a group. */
  record(event: GroupEvent): void {
    const { kind, group } = event
    if (kind === 'target') this.#changes.add([group, event.target, event.to, event.reason])
    else if (kind === 'panic') this.#changes.add([group, '', event.on ? 'panic' : 'no-panic', ''])
    else this.#changes.add([group, event.target, 'dns-failed', ''])
  }

  write(out: Exposition): void {
    const stats = Array.from(this.#groups, group => group.stats())
    for (const [family, type, help, read] of FAMILIES) {
      const name = `${this.#prefix}_upstream_${family}`
      out.family(name, type, help)
      each(stats, (labels, target) => {
        const value = read(target)
        if (value !== null) out.sample(name, labels, value)
      })
    }
    const state = `${this.#prefix}_upstream_target_state`
    out.family(state, 'gauge', '1 for the state that a target is in.')
    each(stats, (labels, target) => {
      for (const one of STATES) out.sample(state, [...labels, ['state', one]], target.state === one ? 1 : 0)
    })
    const panic = `${this.#prefix}_upstream_panic`
    out.family(panic, 'gauge', '1 while all targets are used because too few are fit.')
    for (const { name, panic: on } of stats) out.sample(panic, [['upstream', name]], on ? 1 : 0)
    const changes = `${this.#prefix}_upstream_changes_total`
    out.family(changes, 'counter', 'Changes of state, by what it became and why.')
    for (const { values, count } of this.#changes) {
      const [upstream = '', target = '', to = '', reason = ''] = values
      out.sample(
        changes,
        [
          ['upstream', upstream],
          ['target', target],
          ['to', to],
          ['reason', reason],
        ],
        count,
      )
    }
  }
}

function each(
  stats: readonly GroupStats[],
  run: (labels: readonly (readonly [string, string])[], target: TargetStats) => void,
): void {
  for (const { name, targets } of stats) {
    for (const target of targets)
      run(
        [
          ['upstream', name],
          ['target', target.target],
        ],
        target,
      )
  }
}
