/** A named group of interchangeable servers. */
import { readOptions } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context } from '../pipeline/contract.ts'
import { checkBalance } from './balance/check.ts'
import { checkConnect } from './check-connect.ts'
import { checkSticky } from './check-sticky.ts'
import { checkDns } from './dns/check.ts'
import type { GroupStats } from './events.ts'
import { Group, MOST_TARGETS } from './group.ts'
import { systemClock } from './health/breaker.ts'
import { checkHealth } from './health/check-options.ts'
import type { UpstreamOptions } from './options.ts'
import { RULES } from './rules.ts'
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

/**
 * Makes a group of targets. HTTP/1.1 or HTTP/2, with verified certificates for `https:`. See docs/upstreams.md,
 * docs/health.md and docs/protocols.md.
 * @example const api = upstream({ name: 'api', targets: ['http://127.0.0.1:3000'] })
 * @throws ConfigError with every fault.
 */
export function upstream(options: UpstreamOptions): Upstream {
  const faults: ConfigFault[] = []
  const named: unknown = (options as UpstreamOptions | null | undefined)?.name
  const place = typeof named === 'string' ? `upstream ${named}` : 'upstream'
  // What breaks its rule is left out here: the parts below see sound options only.
  const given = readOptions<UpstreamOptions>(place, options, RULES, faults) as UpstreamOptions
  const specs = readTargets(given.targets ?? [], place, faults)
  const { slowStart = 0 } = given
  const hasWeights = specs.some(spec => spec.weight !== 1)
  const settings = {
    name: given.name,
    drainTimeout: given.drainTimeout ?? 30_000,
    slowStart,
    ...checkConnect(given, place, faults),
    balancer: checkBalance(given.balance, place, hasWeights, slowStart > 0, faults),
    measured: given.balance === 'peak-ewma',
    affinity: checkSticky(given.sticky, place, faults),
    health: checkHealth(given.health, place, faults),
    dns: checkDns(given.dns, place, faults),
    onChange: given.onChange ?? null,
    clock: systemClock,
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return new Group(settings, specs)
}

function readTargets(
  targets: UpstreamOptions['targets'],
  place: string,
  faults: ConfigFault[],
): TargetSpec[] {
  const add = (problem: string, fix: string): void =>
    void faults.push({ place: `${place}.targets`, problem, fix })
  if (targets.length > MOST_TARGETS) add(`there are ${targets.length}`, `Write ${MOST_TARGETS} at most.`)
  const specs = new Map<string, TargetSpec>()
  for (const target of targets) {
    const spec = readTarget(target, place, faults)
    if (spec === null) continue
    if (specs.has(spec.id))
      add(`${spec.id} is there twice`, 'Write it once, with a weight if it shall get more.')
    specs.set(spec.id, spec)
  }
  return [...specs.values()]
}
