/** What connectors need to know of their target. */
import type { TlsOptions } from './options.ts'

/** A target, and the bounds of its connections. Milliseconds. */
export interface Http1Options {
  readonly origin: string
  /** Name for SNI and certificate check: the target's, whatever `Host` says. `null` for addresses and plain HTTP. */
  readonly serverName: string | null
  readonly connections: number
  readonly queue: number
  readonly keepAlive: number
  readonly connectTimeout: number
  readonly headTimeout: number
  readonly idleTimeout: number
  readonly tls: TlsOptions
  /** Address to connect to instead of asking for the host name; `null` to ask. */
  readonly address: string | null
  /** Path of a Unix socket to connect to, or `null`. */
  readonly socketPath: string | null
  /** Connections that are opened at once. */
  readonly warm: number
}
