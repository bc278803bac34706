/** What connectors need to know of their target. */
import type { TlsOptions } from './options.ts'

/** Times and sizes of the connections to a target. Milliseconds. */
export interface ConnectionBounds {
  readonly connections: number
  readonly queue: number
  readonly keepAlive: number
  readonly connectTimeout: number
  readonly headTimeout: number
  readonly idleTimeout: number
  /** Connections that are opened at once. */
  readonly warm: number
  readonly tls: TlsOptions
}

/** A target, and the bounds of its connections. */
export interface Http1Options extends ConnectionBounds {
  readonly origin: string
  /** Name for SNI and certificate check: the target's, whatever `Host` says. `null` for addresses and plain HTTP. */
  readonly serverName: string | null
  /** Address to connect to instead of asking for the host name; `null` to ask. */
  readonly address: string | null
  /** Path of a Unix socket to connect to, or `null`. */
  readonly socketPath: string | null
}
