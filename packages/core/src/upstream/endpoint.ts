/** One server of a group: an address to connect to, what runs there, and how it fares. */
import type { Candidate } from './balance/balancer.ts'
import { seedOf } from './balance/hash.ts'
import { PeakEwma } from './balance/peak-ewma.ts'
import type { Connector } from './connector.ts'
import type { ActiveCheck } from './health/active-check.ts'
import type { TargetHealth } from './health/target-health.ts'
import type { Target, Verdict } from './target.ts'
import type { TargetSpec } from './target-url.ts'

/** What a failure counts as in the latency, at least: one that fails quickly must not look quick. Milliseconds. */
const FAILURE = 1000
/** Share of a target that has just come, before it grows. */
const COLD = 0.1

/** A target in use. */
export class Endpoint implements Target, Candidate {
  readonly spec: TargetSpec
  /** The address of a name that this is, or `null` for the name itself. */
  readonly address: string | null
  readonly id: string
  readonly seed: number
  readonly label: string
  readonly authority: string
  readonly basePath: string
  readonly connector: Connector
  readonly latency: PeakEwma = new PeakEwma()
  readonly weight: number
  credit = 0
  inFlight = 0
  requests = 0
  failures = 0
  health: TargetHealth | null = null
  check: ActiveCheck | null = null
  /** Connections of the checks. */
  checkConnector: Connector | null = null
  draining = false
  /** Keep the latency; only some ways of balancing ask for it. */
  measured = false
  #warmFrom = 0
  #warmFor = 0
  #idle: (() => void)[] | null = null

  constructor(spec: TargetSpec, address: string | null, connector: Connector) {
    this.spec = spec
    this.address = address
    this.id = address === null ? spec.id : `${spec.id}#${address}`
    this.seed = seedOf(this.id)
    this.label = this.id
    this.authority = spec.authority
    this.basePath = spec.basePath
    this.weight = spec.weight
    this.connector = connector
  }

  /** From now on its share grows for so many ms. */
  warmUp(milliseconds: number): void {
    this.#warmFrom = performance.now()
    this.#warmFor = milliseconds
  }

  share(): number {
    if (this.#warmFor === 0) return this.weight
    const warm = (performance.now() - this.#warmFrom) / this.#warmFor
    if (warm < 1) return this.weight * Math.max(COLD, warm)
    this.#warmFor = 0
    return this.weight
  }

  /** May it be given a request now? */
  get usable(): boolean {
    return !this.draining && (this.health === null || this.health.usable)
  }

  enter(): number {
    this.inFlight++
    this.requests++
    return this.health === null ? 0 : this.health.started()
  }

  headed(ticket: number, milliseconds: number, status: number): number {
    if (this.measured) {
      const bad = status >= 502 && status <= 504
      this.latency.observe(bad ? Math.max(milliseconds, FAILURE) : milliseconds, performance.now())
    }
    return this.health === null ? 0 : this.health.headed(ticket, milliseconds, status)
  }

  leave(ticket: number, verdict: Verdict): void {
    this.inFlight--
    if (verdict === 'failed') {
      this.failures++
      if (this.measured) this.latency.observe(Math.max(this.latency.last, FAILURE), performance.now())
    }
    if (ticket !== 0) this.health!.finished(ticket, verdict)
    if (this.#idle !== null && this.inFlight === 0) {
      for (const done of this.#idle) done()
      this.#idle = null
    }
  }

  /** Settles when nothing runs here. */
  idle(): Promise<void> {
    if (this.inFlight === 0) return Promise.resolve()
    return new Promise(resolve => {
      this.#idle ??= []
      this.#idle.push(resolve)
    })
  }

  /** Checks and timers end; what runs goes on. */
  stop(): void {
    this.check?.stop()
    this.health?.stop()
    void this.checkConnector?.destroy().catch(() => {})
  }
}
