/** A named group of interchangeable servers. */
import { assertMilliseconds } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context } from '../pipeline/contract.ts'
import { checkBalance, checkConnect, checkDns, checkSticky, onlyKnown } from './check-options.ts'
import type { GroupStats } from './events.ts'
import { Group, MOST_TARGETS } from './group.ts'
import { systemClock } from './health/breaker.ts'
import { checkHealth } from './health/check-options.ts'
import type { UpstreamOptions } from './options.ts'
import type { Affinity } from './sticky.ts'
import type { Target } from './target.ts'
import { readTarget, type TargetOptions, type TargetSpec } from './target-url.ts'

/** A group of targets. Made by {@link upstream}. */
export interface Upstream {
  readonly name: string
  /** Every target, also one that gets no requests now. */
  readonly targets: readonly Target[]
  /** Milliseconds for the whole exchange; 0 for none. */
  readonly totalTimeout: number
  /** Keeps clients with their targets, or `null`. */
  readonly affinity: Affinity | null
  /** The target for this request that is none of `tried`; `null` when there is none. */
  pick(cx: Context | null, tried: readonly Target[] | null): Target | null
  /**
   * Adds a target.
   * @throws ConfigError when it is there already, is no target, or the group is closed or full.
   */
  add(target: string | TargetOptions): void
  /**
   * Takes a target out, named as it was given. It gets no new request from now on; what runs may finish within
   * `drainTimeout`, then it is cut. Settles when its connections are closed.
   * @throws ConfigError when there is no such target.
   */
  remove(target: string): Promise<void>
  /**
   * Gives a target no new requests, but keeps it. Settles when nothing runs there; nothing is cut.
   * @throws ConfigError when there is no such target.
   */
  drain(target: string): Promise<void>
  /**
   * Gives a drained target requests again.
   * @throws ConfigError when there is no such target.
   */
  restore(target: string): void
  /** Numbers for metrics. */
  stats(): GroupStats
  /** Waits for what runs, then closes all connections. */
  close(): Promise<void>
  /** Closes all connections at once. */
  destroy(): Promise<void>
}

const OPTIONS = [
  ...[
    'name',
    'targets',
    'balance',
    'sticky',
    'slowStart',
    'health',
    'dns',
    'onChange',
    'connections',
    'warm',
  ],
  ...['queue', 'keepAlive', 'drainTimeout', 'timeouts', 'tls', 'protocol', 'http2', 'tunnels'],
]

/**
 * Makes a group of targets. HTTP/1.1 or HTTP/2, with verified certificates for `https:`. See docs/upstreams.md,
 * docs/health.md and docs/protocols.md.
 * @example const api = upstream({ name: 'api', targets: ['http://127.0.0.1:3000'] })
 * @throws ConfigError with every fault.
 */
export function upstream(options: UpstreamOptions): Upstream {
  const faults: ConfigFault[] = []
  const place = `upstream ${options.name}`
  onlyKnown(place, options, OPTIONS, faults)
  if (typeof options.name !== 'string' || options.name === '') {
    faults.push({ place: 'upstream.name', problem: 'it is empty', fix: 'Give the group a name.' })
  }
  const specs = readTargets(options, place, faults)
  const { slowStart = 0, onChange } = options
  assertMilliseconds(`${place}.slowStart`, slowStart, 0, faults)
  if (onChange !== undefined && typeof onChange !== 'function') {
    faults.push({
      place: `${place}.onChange`,
      problem: 'it is no function',
      fix: 'Write for example event => log(event).',
    })
  }
  const hasWeights = specs.some(spec => spec.weight !== 1)
  const settings = {
    name: options.name,
    totalTimeout: assertMilliseconds(`${place}.timeouts.total`, options.timeouts?.total ?? 30_000, 0, faults),
    drainTimeout: assertMilliseconds(`${place}.drainTimeout`, options.drainTimeout ?? 30_000, 1, faults),
    slowStart,
    connect: checkConnect(options, place, faults),
    balancer: checkBalance(options.balance, place, hasWeights, slowStart > 0, faults),
    measured: options.balance === 'peak-ewma',
    affinity: checkSticky(options.sticky, place, faults),
    health: checkHealth(options.health, place, faults),
    dns: checkDns(options.dns, place, faults),
    onChange: onChange ?? null,
    clock: systemClock,
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return new Group(settings, specs)
}

function readTargets(options: UpstreamOptions, place: string, faults: ConfigFault[]): TargetSpec[] {
  const { targets } = options
  const add = (problem: string, fix: string): void =>
    void faults.push({ place: `${place}.targets`, problem, fix })
  if (!Array.isArray(targets) || targets.length === 0) {
    add('there are none', "Write targets: ['http://127.0.0.1:3000'].")
    return []
  }
  if (targets.length > MOST_TARGETS) add(`there are ${targets.length}`, `Write ${MOST_TARGETS} at most.`)
  const specs = new Map<string, TargetSpec>()
  for (const target of targets as UpstreamOptions['targets']) {
    const spec = readTarget(target, place, faults)
    if (spec === null) continue
    if (specs.has(spec.id))
      add(`${spec.id} is there twice`, 'Write it once, with a weight if it shall get more.')
    specs.set(spec.id, spec)
  }
  return [...specs.values()]
}
