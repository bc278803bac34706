/** How many connections one client may hold, and all of them, decided where they are accepted. */
import type { Socket } from 'node:net'
import { readOptions } from '../../config/check.ts'
import { ConfigError, type ConfigFault } from '../../errors.ts'
import { addressKey, canonicalAddress } from '../../net/address.ts'
import { CLIENT_RULES, type ClientLimits, type ClientSettings, clientSettings } from './options.ts'

/** Connections of a server, and those that it did not take. */
export interface ConnectionCounts {
  /** Open now. */
  open: number
  /** Reset because of `maxConnections`. */
  refusedTotal: number
  /** Reset because of `maxConnectionsPerClient`. */
  refusedPerClient: number
}

type CapSettings = Pick<ClientSettings, 'connections' | 'perClient' | 'exempt'>

/** Counts by client. The map holds clients with open connections only, so it is no larger than their number. */
export class ConnectionCap {
  readonly counts: ConnectionCounts = { open: 0, refusedTotal: 0, refusedPerClient: 0 }
  readonly #settings: CapSettings
  readonly #trusts: (address: string) => boolean
  readonly #open = new Map<string, number>()
  #warned = false

  /** `trusts` knows peers that carry many clients. */
  constructor(settings: CapSettings, trusts: (address: string) => boolean) {
    this.#settings = settings
    this.#trusts = trusts
  }

  /** False: the connection is one too many, and has been reset. */
  admit(socket: Socket): boolean {
    const { counts } = this
    const { connections, perClient } = this.#settings
    if (connections > 0 && counts.open >= connections) {
      counts.refusedTotal++
      this.#warn(connections)
      return reset(socket)
    }
    const key = perClient > 0 ? this.#keyOf(socket) : null
    if (key !== null) {
      const held = this.#open.get(key) ?? 0
      if (held >= perClient) {
        counts.refusedPerClient++
        return reset(socket)
      }
      this.#open.set(key, held + 1)
    }
    counts.open++
    socket.once('close', () => this.#left(key))
    return true
  }

  /** Clients that are counted. */
  get clients(): number {
    return this.#open.size
  }

  #keyOf(socket: Socket): string | null {
    const address = canonicalAddress(socket.remoteAddress ?? '') ?? ''
    if (this.#settings.exempt(address) || this.#trusts(address === '' ? 'unix' : address)) return null
    return addressKey(address)
  }

  #left(key: string | null): void {
    this.counts.open--
    if (key === null) return
    const held = this.#open.get(key)! - 1
    if (held > 0) this.#open.set(key, held)
    else this.#open.delete(key)
  }

  /** Whoever meets the limit on all connections without an attack wants to know why clients are turned away. */
  #warn(connections: number): void {
    if (this.#warned) return
    this.#warned = true
    process.emitWarning(
      `${connections} connections are open (maxConnections): more are reset`,
      'PosternConnectionsWarning',
    )
  }
}

/** Which options a cap has. */
export type ConnectionCapOptions = Pick<
  ClientLimits,
  'maxConnections' | 'maxConnectionsPerClient' | 'exemptClients'
>

/**
 * The cap that `attach()` has, for a server of the host's own in front of it. `admit(socket)` says false for a connection that it has reset.
 * `trusts` knows peers that carry many clients.
 * @throws ConfigError for options that cannot work.
 */
export function connectionCap(
  options: ConnectionCapOptions = {},
  trusts: (address: string) => boolean = () => false,
): ConnectionCap {
  const faults: ConfigFault[] = []
  const { maxConnections, maxConnectionsPerClient, exemptClients } = CLIENT_RULES
  const rules = { maxConnections, maxConnectionsPerClient, exemptClients }
  const given = readOptions<ConnectionCapOptions>('connectionCap', options, rules, faults)
  const settings = clientSettings('connectionCap', given, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return new ConnectionCap(settings, trusts)
}

/** An RST and no answer: it costs nothing, and leaves no state behind on this side. */
function reset(socket: Socket): false {
  socket.on('error', () => {})
  socket.resetAndDestroy()
  return false
}
