/** Tunnels to an upstream: joined ends, a limit on silence. */
import type { Duplex } from 'node:stream'
import { ProxyError } from '../errors.ts'
import type { Flow, Sink, Source, Tunnel } from '../pipeline/contract.ts'
import { type Deadline, Deadlines, noDeadline } from '../proxy/deadlines.ts'
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

/** A tunnel whose far end is a duplex. `onClose` is called once, when the far end is gone. */
export function tunnelTo(
  duplex: Duplex,
  protocol: string,
  clock: TunnelClock,
  onClose: () => void = () => {},
): Tunnel {
  return new DuplexTunnel(duplex, protocol, clock, onClose)
}

class DuplexTunnel implements Tunnel, Deadline {
  readonly deadline: Deadline['deadline'] = noDeadline()
  readonly protocol: string
  readonly #far: DuplexEnd
  readonly #clock: TunnelClock
  #sink: Sink | null = null
  #waiting: Deadlines | null = null

  constructor(duplex: Duplex, protocol: string, clock: TunnelClock, onClose: () => void) {
    this.protocol = protocol
    this.#clock = clock
    this.#far = new DuplexEnd(duplex, 'upstream')
    this.#far.onClose = () => {
      this.#waiting?.remove(this)
      onClose()
    }
    this.#wait()
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
    far.cancel()
    this.#sink?.fail(error)
  }

  #wait(): void {
    this.#waiting = this.#far.halfClosed ? this.#clock.halfClosed : this.#clock.idle
    if (!this.#far.closed) this.#waiting?.add(this)
  }
}

/** Ends a tunnel that nobody will use. */
export function dropTunnel(tunnel: Tunnel, error: ProxyError): void {
  const nothing: Source = { length: null, start: () => ({ pause() {}, resume() {}, cancel() {} }) }
  tunnel.splice(nothing, { write: () => true, end() {}, fail() {} }).cancel(error)
}
