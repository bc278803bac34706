/** The targets of an upstream while it runs: who is there, who is fit, who is next. */
import { isIP } from 'node:net'
import type { ConfigFault } from '../errors.ts'
import { ConfigError } from '../errors.ts'
import type { Context } from '../pipeline/contract.ts'
import type { Balancer } from './balance/balancer.ts'
import type { ConnectSettings } from './check-connect.ts'
import type { Connector } from './connector.ts'
import { NameWatch, type NameWatchSettings } from './dns/watch.ts'
import { Endpoint } from './endpoint.ts'
import type { ChangeReason, GroupEvent, GroupStats, TargetState } from './events.ts'
import { ActiveCheck } from './health/active-check.ts'
import type { Clock } from './health/breaker.ts'
import type { GroupHealthSettings } from './health/check-options.ts'
import { httpProbe } from './health/http-probe.ts'
import { TargetHealth } from './health/target-health.ts'
import { connectorFor } from './protocol.ts'
import { Retired } from './retired.ts'
import type { Affinity } from './sticky.ts'
import type { Target } from './target.ts'
import { readTarget, type TargetOptions, type TargetSpec } from './target-url.ts'
import type { Upstream } from './upstream.ts'
import { warn } from './warn.ts'

/** Targets of a group at most, as they are written. */
export const MOST_TARGETS = 1024

/** Checked options of a group. */
export interface GroupSettings {
  readonly name: string
  readonly totalTimeout: number
  readonly drainTimeout: number
  readonly slowStart: number
  readonly connect: ConnectSettings
  readonly balancer: Balancer
  readonly measured: boolean
  readonly affinity: Affinity | null
  readonly health: GroupHealthSettings
  readonly dns: NameWatchSettings | null
  readonly onChange: ((event: GroupEvent) => void) | null
  readonly clock: Clock
}

/** A target as it was written, and the endpoints that it stands for. */
interface Member {
  readonly spec: TargetSpec
  endpoints: Endpoint[]
  watch: NameWatch | null
}

/** A group of targets. */
export class Group implements Upstream {
  readonly name: string
  readonly totalTimeout: number
  readonly affinity: Affinity | null
  readonly #settings: GroupSettings
  readonly #members = new Map<string, Member>()
  readonly #retired: Retired
  /** All that are not draining. */
  #all: Endpoint[] = []
  /** Those that get requests: the usable ones, or all of them in a panic. */
  #ready: Endpoint[] = []
  #panic = false
  #closed = false

  constructor(settings: GroupSettings, specs: readonly TargetSpec[]) {
    this.name = settings.name
    this.totalTimeout = settings.totalTimeout
    this.affinity = settings.affinity
    this.#settings = settings
    this.#retired = new Retired(settings.drainTimeout, settings.clock)
    for (const spec of specs) this.#join(spec, false)
    this.#refresh()
  }

  get targets(): readonly Target[] {
    return this.#endpoints()
  }

  pick(cx: Context | null, tried: readonly Target[] | null): Target | null {
    const ready = tried === null ? this.#ready : this.#ready.filter(one => !tried.includes(one))
    if (ready.length <= 1) return ready[0] ?? null
    if (this.affinity !== null && cx !== null) {
      const known = this.affinity.find(cx, ready)
      if (known !== null) return known
    }
    return this.#settings.balancer.pick(ready, cx)
  }

  add(target: string | TargetOptions): void {
    const faults: ConfigFault[] = []
    const spec = readTarget(target, `upstream ${this.name}`, faults)
    const add = (problem: string, fix: string): void =>
      void faults.push({ place: `upstream ${this.name}.add`, problem, fix })
    if (this.#closed) add('the group is closed', 'Make a new one.')
    if (spec && this.#members.has(spec.id)) add(`${spec.id} is there already`, 'Remove it first.')
    if (this.#members.size >= MOST_TARGETS) add(`there are ${MOST_TARGETS} targets`, 'Remove some first.')
    if (spec === null || faults.length > 0) throw new ConfigError(faults)
    this.#join(spec, true)
    this.#refresh()
  }

  remove(target: string): Promise<void> {
    const member = this.#member(target)
    this.#members.delete(member.spec.id)
    member.watch?.stop()
    const gone = member.endpoints.map(endpoint => this.#retire(endpoint, 'removed'))
    this.#refresh()
    return Promise.all(gone).then(() => {})
  }

  drain(target: string): Promise<void> {
    const { endpoints } = this.#member(target)
    for (const endpoint of endpoints) this.#drained(endpoint, true)
    this.#refresh()
    return Promise.all(endpoints.map(endpoint => endpoint.idle())).then(() => {})
  }

  restore(target: string): void {
    for (const endpoint of this.#member(target).endpoints) this.#drained(endpoint, false)
    this.#refresh()
  }

  stats(): GroupStats {
    const ready = new Set(this.#ready)
    return {
      name: this.name,
      panic: this.#panic,
      targets: this.#endpoints().map(endpoint => ({
        target: endpoint.label,
        state: stateOf(endpoint),
        used: ready.has(endpoint),
        weight: endpoint.weight,
        inFlight: endpoint.inFlight,
        requests: endpoint.requests,
        failures: endpoint.failures,
        connections: endpoint.connector.connections?.() ?? null,
      })),
    }
  }

  async close(): Promise<void> {
    this.#stop()
    const connectors = this.#endpoints().map(endpoint => endpoint.connector.close())
    await Promise.all([...connectors, this.#retired.close()])
  }

  async destroy(): Promise<void> {
    this.#stop()
    const connectors = this.#endpoints().map(endpoint => endpoint.connector.destroy())
    await Promise.all([...connectors, this.#retired.destroy()])
  }

  #stop(): void {
    this.#closed = true
    for (const member of this.#members.values()) {
      member.watch?.stop()
      for (const endpoint of member.endpoints) endpoint.stop()
    }
    this.#all = this.#ready = []
  }

  #endpoints(): Endpoint[] {
    return [...this.#members.values()].flatMap(member => member.endpoints)
  }

  /** By the text that it was written with. */
  #member(target: string): Member {
    const spec = readTarget(target, `upstream ${this.name}`, [])
    const member = spec === null ? undefined : this.#members.get(spec.id)
    if (member) return member
    throw new ConfigError([
      {
        place: `upstream ${this.name}`,
        problem: 'there is no such target',
        fix: 'Name one as it was given, without its weight.',
      },
    ])
  }

  #join(spec: TargetSpec, late: boolean): void {
    const { dns, clock } = this.#settings
    const member: Member = { spec, endpoints: [], watch: null }
    this.#members.set(spec.id, member)
    // Until its addresses are known, the name itself is the target: nobody has to wait.
    member.endpoints.push(this.#open(spec, null, late, late ? 'added' : null))
    if (dns === null || !spec.named) return
    member.watch = new NameWatch(
      spec.hostname,
      dns,
      {
        addresses: addresses => this.#resolved(member, addresses),
        failed: () =>
          this.#tell({
            kind: 'dns-failed',
            group: this.name,
            target: spec.id,
            failures: member.watch?.failures ?? 1,
          }),
      },
      clock,
    )
    member.watch.start()
  }

  /** The endpoints of addresses that stay are the same ones, with all that runs and is known of them. */
  #resolved(member: Member, addresses: readonly string[]): void {
    const before = new Map(member.endpoints.map(endpoint => [endpoint.id, endpoint]))
    const draining = member.endpoints.every(endpoint => endpoint.draining)
    const first = before.has(member.spec.id)
    member.endpoints = addresses.map(address => {
      const id = `${member.spec.id}#${address}`
      const known = before.get(id)
      before.delete(id)
      if (known) return known
      const endpoint = this.#open(member.spec, address, !first, 'name-resolved')
      endpoint.draining = draining
      return endpoint
    })
    for (const endpoint of before.values()) void this.#retire(endpoint, 'name-resolved')
    this.#refresh()
  }

  #open(spec: TargetSpec, address: string | null, late: boolean, reason: ChangeReason | null): Endpoint {
    const { connect, measured, slowStart } = this.#settings
    const endpoint = new Endpoint(spec, address, connectorTo(spec, address, connect))
    endpoint.measured = measured
    if (late && slowStart > 0) endpoint.warmUp(slowStart)
    if (reason !== null) this.#changed(endpoint, 'absent', stateOf(endpoint), reason)
    return endpoint
  }

  #watch(endpoint: Endpoint): void {
    const { health, clock, slowStart, connect } = this.#settings
    const { spec, address } = endpoint
    if (health.passive === null && health.checks === null) return
    const peers = () => this.#all.flatMap(one => one.health?.passive ?? [])
    endpoint.health = new TargetHealth(health, clock, peers, (from, to, reason) => {
      if (from !== to) {
        if (to === 'up' && from !== 'unknown' && slowStart > 0) endpoint.warmUp(slowStart)
        if (!endpoint.draining) this.#changed(endpoint, from, to, reason)
      }
      if (!this.#closed) this.#refresh()
    })
    const { check } = health
    if (check === null) return
    const connector = connectorTo(spec, address, {
      ...connect,
      connections: 2,
      queue: 0,
      warm: 0,
      connectTimeout: check.timeout,
      headTimeout: check.timeout,
    })
    const probe = httpProbe(connector, {
      method: check.method,
      target: spec.basePath + check.path,
      headers: ['Host', check.host ?? spec.authority, 'User-Agent', 'postern-health-check'],
      expects: check.expects,
    })
    endpoint.check = new ActiveCheck(probe, check, clock, ok => endpoint.health!.checked(ok))
    endpoint.checkConnector = connector
    // After the constructor: a check that fails at once must find the group whole.
    queueMicrotask(() => endpoint.check?.start())
  }

  #retire(endpoint: Endpoint, reason: ChangeReason): Promise<void> {
    const before = stateOf(endpoint)
    endpoint.draining = true
    endpoint.stop()
    this.#changed(endpoint, before, 'absent', reason)
    return this.#retired.add(endpoint.connector)
  }

  #drained(endpoint: Endpoint, draining: boolean): void {
    if (endpoint.draining === draining) return
    const before = stateOf(endpoint)
    endpoint.draining = draining
    if (!draining && this.#settings.slowStart > 0) endpoint.warmUp(this.#settings.slowStart)
    this.#changed(endpoint, before, stateOf(endpoint), draining ? 'drained' : 'restored')
  }

  /** Decides anew who gets requests; called when a state changes, never for a request. */
  #refresh(): void {
    const { health } = this.#settings
    const { panic } = health
    const endpoints = this.#endpoints()
    if (endpoints.length > 1 || health.watchAlone) {
      for (const endpoint of endpoints) if (endpoint.health === null) this.#watch(endpoint)
    }
    const all = endpoints.filter(endpoint => !endpoint.draining)
    const usable = all.filter(endpoint => endpoint.usable)
    const panics =
      panic !== null && all.length > 0 && usable.length <= panic * all.length && usable.length < all.length
    this.#all = all
    this.#ready = panics ? all : usable
    if (panics === this.#panic) return
    this.#panic = panics
    this.#tell({ kind: 'panic', group: this.name, on: panics })
  }

  #changed(endpoint: Endpoint, from: TargetState, to: TargetState, reason: ChangeReason): void {
    if (from !== to)
      this.#tell({ kind: 'target', group: this.name, target: endpoint.label, from, to, reason })
  }

  #tell(event: GroupEvent): void {
    try {
      this.#settings.onChange?.(event)
    } catch (cause) {
      warn('a listener of onChange throws', cause)
    }
  }
}

function connectorTo(spec: TargetSpec, address: string | null, settings: ConnectSettings): Connector {
  const name = settings.tls.servername ?? (isIP(spec.hostname) === 0 ? spec.hostname : null)
  return connectorFor({
    ...settings,
    origin: spec.origin,
    serverName: spec.secure ? name : null,
    address,
    socketPath: spec.socketPath,
  })
}

function stateOf(endpoint: Endpoint): TargetState {
  return endpoint.draining ? 'draining' : (endpoint.health?.state ?? 'up')
}
