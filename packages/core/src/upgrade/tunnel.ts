/** Tunnels to an upstream: joined ends, a limit on silence. */
import type { Duplex } from 'node:stream'
import { ProxyError } from '../errors.ts'
import type { Flow, Sink, Source } from '../pipeline/contract.ts'
import { type Deadline, Deadlines, noDeadline } from '../proxy/deadlines.ts'
import type { UpstreamTunnel } from '../upstream/connector.ts'
import { DuplexEnd } from './duplex.ts'
import { FrameTracker, GOING_AWAY, GOING_AWAY_MASKED } from './frames.ts'

/** Silence allowed once one side has ended, in ms: an end that never answers a FIN would stay for ever. */
const HALF_CLOSED_IDLE = 60_000
/** How long both ends of a WebSocket have to answer a farewell, in ms. */
export const FAREWELL: number = 1000

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

class DuplexTunnel implements UpstreamTunnel, Flow, Deadline {
  readonly deadline: Deadline['deadline'] = noDeadline()
  readonly protocol: string
  readonly #far: DuplexEnd
  readonly #clock: TunnelClock
  #sink: Sink | null = null
  #waiting: Deadlines | null = null
  #farewell: NodeJS.Timeout | null = null

  constructor(duplex: Duplex, protocol: string, clock: TunnelClock) {
    this.protocol = protocol
    this.#clock = clock
    this.#far = new DuplexEnd(duplex, 'upstream')
    if (protocol === 'websocket') {
      this.#far.reads = new FrameTracker()
      this.#far.writes = new FrameTracker()
    }
    this.onClose(() => {
      this.#waiting?.remove(this)
      if (this.#farewell) clearTimeout(this.#farewell)
    })
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
    far.start(toClient)
    return this
  }

  pause(): void {
    this.#far.pause()
  }

  resume(): void {
    this.#far.resume()
  }

  /** Cuts it; a WebSocket that ends because a server or a target is leaving is told so first. */
  cancel(error: ProxyError): void {
    if (error.code === 'draining' && this.#far.reads !== null && this.#sink !== null) this.#goAway(error)
    else this.#far.cancel(error)
  }

  leave(): void {
    this.cancel(new ProxyError({ source: 'proxy', phase: 'tunnel', code: 'draining' }))
  }

  #goAway(error: ProxyError): void {
    const far = this.#far
    if (far.closed || this.#farewell !== null) return
    this.#farewell = setTimeout(() => this.#cut(error), FAREWELL).unref()
    const toClient = far.reads!
    const toTarget = far.writes!
    if (!toClient.between || !toTarget.between) return this.#cut(error)
    if (!toClient.closing) this.#sink!.write(GOING_AWAY)
    this.#sink!.end()
    if (!toTarget.closing) far.write(GOING_AWAY_MASKED)
    far.end()
  }

  onDeadline(): void {
    const far = this.#far
    if (far.active || (far.halfClosed && this.#waiting === this.#clock.idle)) {
      far.active = false
      this.#wait()
      return
    }
    this.#waiting = null
    this.#cut(new ProxyError({ source: 'proxy', phase: 'tunnel', code: 'idle-timeout' }))
  }

  #cut(error: ProxyError): void {
    const far = this.#far
    far.feeder?.cancel(error)
    far.cancel(error)
    this.#sink?.fail(error)
  }

  #wait(): void {
    this.#waiting = this.#far.halfClosed ? this.#clock.halfClosed : this.#clock.idle
    if (!this.#far.closed) this.#waiting?.add(this)
  }
}
