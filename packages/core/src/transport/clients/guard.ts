/** The limits on clients of one server at work. */
import { ConnectionCap, type ConnectionCounts } from './connection-cap.ts'
import { MinimumRate } from './minimum-rate.ts'
import type { ClientSettings } from './options.ts'

/** Clients that were ended because they were too slow. */
export interface SlowCounts {
  heads: number
  bodies: number
  handshakes: number
}

/** What a server says of itself. */
export interface ServerStats {
  readonly connections: Readonly<ConnectionCounts>
  readonly slow: Readonly<SlowCounts>
  /** WebSockets and other tunnels that are open. */
  readonly tunnels: number
}

/** Made once a server; transports ask it. */
export class ClientGuard {
  readonly settings: ClientSettings
  readonly cap: ConnectionCap
  /** For connections that are in a head; `null` for no limit. */
  readonly heads: MinimumRate | null
  /** For bodies that are waited for; `null` for no limit. */
  readonly bodies: MinimumRate | null
  readonly slow: SlowCounts = { heads: 0, bodies: 0, handshakes: 0 }

  constructor(settings: ClientSettings, trusts: (address: string) => boolean) {
    const { headerRate, bodyRate, grace } = settings
    this.settings = settings
    this.cap = new ConnectionCap(settings, trusts)
    this.heads = headerRate > 0 ? new MinimumRate(headerRate, grace) : null
    this.bodies = bodyRate > 0 ? new MinimumRate(bodyRate, grace) : null
  }

  stats(tunnels: number): ServerStats {
    return { connections: { ...this.cap.counts }, slow: { ...this.slow }, tunnels }
  }
}
