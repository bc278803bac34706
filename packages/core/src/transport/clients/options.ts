/** What clients may cost a server in connections and in time, the same for every transport. */
import { milliseconds, something, type Table, whole } from '../../config/check.ts'
import type { ConfigFault } from '../../errors.ts'
import { cidrMatcher } from '../../net/cidr.ts'

/** Limits on clients that hold connections, and on those that send slowly. */
export interface ClientLimits {
  /**
   * Bytes a second in which a head has to come, once `rateGrace` is used up. A client that is slower is answered 408 and its
   * connection closed. Default 500; 0 for no limit. HTTP/2 heads come in one piece: there, a session that has not begun within
   * `rateGrace` ends, and bytes that make up no frame do not keep an idle one alive.
   */
  minHeaderRate?: number
  /**
   * Bytes a second in which a body has to come while the edge waits for it and has not begun to answer, once `rateGrace` is
   * used up: 408. Default 500; 0 for no limit. Routes whose clients may pause as they like have the `slowUploads` filter.
   */
  minBodyRate?: number
  /** Time that a sender may be behind its rate, in ms; bytes at the rate earn it again. Default 20 000. */
  rateGrace?: number
  /** How long a TLS handshake may take, in ms. Default 20 000. Node's own limit on the server (120 s) counts too. */
  handshakeTimeout?: number
  /** Open connections of the server; more are reset as they are accepted. Default 16 384; 0 for no limit. */
  maxConnections?: number
  /**
   * Open connections of one client, an IPv4 address or an IPv6 /64; more are reset as they are accepted. Default 1024; 0 for no
   * limit. Peers that the app trusts with `X-Forwarded-*` carry many clients and are exempt.
   */
  maxConnectionsPerClient?: number
  /**
   * Clients that `maxConnectionsPerClient` does not count for: addresses, CIDR blocks, `'private'`, `'loopback'`, `'unix'`.
   * Default `['loopback', 'unix']`.
   */
  exemptClients?: readonly string[]
}

/** Limits with their defaults; 0 stands for none. */
export interface ClientSettings {
  readonly headerRate: number
  readonly bodyRate: number
  readonly grace: number
  readonly handshake: number
  readonly connections: number
  readonly perClient: number
  readonly exempt: (address: string) => boolean
}

/** Rules of the options, for the table of a transport. */
export const CLIENT_RULES: Table<ClientLimits> = {
  minHeaderRate: whole(0, 1_000_000),
  minBodyRate: whole(0, 1_000_000),
  rateGrace: milliseconds(1),
  handshakeTimeout: milliseconds(1),
  maxConnections: whole(0, 10_000_000),
  maxConnectionsPerClient: whole(0, 10_000_000),
  exemptClients: something(
    'an array of addresses',
    value => Array.isArray(value) && value.every(one => typeof one === 'string'),
    "Write for example ['10.0.0.0/8'].",
  ),
}

/** Options that kept their rules, completed. Entries of `exemptClients` that are no addresses are added to `faults`. */
export function clientSettings(place: string, given: ClientLimits, faults: ConfigFault[]): ClientSettings {
  const list = given.exemptClients ?? ['loopback', 'unix']
  const unix = list.includes('unix')
  const addresses = list.filter(entry => entry !== 'unix')
  const matches = cidrMatcher(addresses, `${place}.exemptClients`, faults)
  return {
    headerRate: given.minHeaderRate ?? 500,
    bodyRate: given.minBodyRate ?? 500,
    grace: given.rateGrace ?? 20_000,
    handshake: given.handshakeTimeout ?? 20_000,
    connections: given.maxConnections ?? 16_384,
    perClient: given.maxConnectionsPerClient ?? 1024,
    exempt: address => (address === '' ? unix : matches(address)),
  }
}
