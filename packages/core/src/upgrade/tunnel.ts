/** Tunnels to an upstream: joined ends, a limit on silence. */
import type { Duplex } from 'node:stream'
import { ProxyError } from '../errors.ts'
import type { Flow, Sink, Source } from '../pipeline/contract.ts'
import { type Deadline, Deadlines, noDeadline } from '../proxy/deadlines.ts'
import type { UpstreamTunnel } from '../upstream/connector.ts'
import { DuplexEnd } from './duplex.ts'

/** Silence allowed once one side has ended, in ms: an end that never answers a FIN would stay for ever. */
const HALF_CLOSED_IDLE = 60_000

/** How long tunnels may be silent. One for all tunnels to a target. */
export class TunnelClock {
  readonly idle: Deadlines | null
  readonly halfClosed: Deadlines = new Deadlines(HALF_CLOSED_IDLE)

  /** `idle` in ms; 0 for no limit. A silent tunnel ends after one to two times that long. */
  constructor(idle: number) {
    this.idle = idle > 0 ? new Deadlines(idle) : null
  }
}

/** A tunnel whose far end is a duplex. */
export function tunnelTo(duplex: Duplex, protocol: string, clock: TunnelClock): UpstreamTunnel {
  return new DuplexTunnel(duplex, protocol, clock)
}

class DuplexTunnel implements UpstreamTunnel, Deadline {
  readonly deadline: Deadline['deadline'] = noDeadline()
  readonly protocol: string
  readonly #far: DuplexEnd
  readonly #clock: TunnelClock
  #sink: Sink | null = null
  #waiting: Deadlines | null = null

  constructor(duplex: Duplex, protocol: string, clock: TunnelClock) {
    this.protocol = protocol
    this.#clock = clock
    this.#far = new DuplexEnd(duplex, 'upstream')
    this.onClose(() => this.#waiting?.remove(this))
    this.#wait()
  }

  onClose(listener: () => void): void {
    const far = this.#far
    const before = far.onClose
    if (far.closed) listener()
    else {
      far.onClose = () => {
        before?.()
        listener()
      }
    }
  }

  splice(client: Source, toClient: Sink): Flow {
    const far = this.#far
    this.#sink = toClient
    far.feeder = client.start(far)
    return far.start(toClient)
  }

  onDeadline(): void {
    const far = this.#far
    if (far.active || (far.halfClosed && this.#waiting === this.#clock.idle)) {
      far.active = false
      this.#wait()
      return
    }
    this.#waiting = null
    const error = new ProxyError({ source: 'proxy', phase: 'tunnel', code: 'idle-timeout' })
    far.feeder?.cancel(error)
    far.cancel(error)
    this.#sink?.fail(error)
  }

  #wait(): void {
    this.#waiting = this.#far.halfClosed ? this.#clock.halfClosed : this.#clock.idle
    if (!this.#far.closed) this.#waiting?.add(this)
  }
}
