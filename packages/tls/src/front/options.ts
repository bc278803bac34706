/** Options of `listen()`, checked. */
import { type App, type AttachOptions, ConfigError, type ConfigFault } from '@postern/core'
import { assertKnown, assertMilliseconds, assertWhole, shown } from '../config.ts'
import { type ReceptionOptions, type ReceptionSettings, readReception } from './reception.ts'
import { Relays, type RelayTable } from './relay.ts'

/** Options of {@link listen}. */
export interface ListenOptions extends ReceptionOptions {
  /** TCP port; 0 takes a free one. */
  port: number
  /** Address to listen on; default all. */
  host?: string
  /**
   * Clients without TLS on this port, HTTP/1.1 and h2c: `'redirect'` answers 308 to `https:` (default), `'refuse'` closes, an
   * app serves them.
   */
  cleartext?: 'redirect' | 'refuse' | App
  /** Port in redirects, as clients reach it; default 443. */
  redirectPort?: number
  /** Server names whose connections are passed on unopened. `*`: names that the store has no certificate for. */
  relay?: RelayTable
  /** Time for the head of an HTTP/1.1 request, in ms; default 60 000, as Node's own. */
  headersTimeout?: number
  /** Time for a whole HTTP/1.1 request, in ms; default 300 000, as Node's own. */
  requestTimeout?: number
  /** Time to reach a relay target, in ms; default 5000. */
  connectTimeout?: number
  /** Silence after which a relayed connection is closed, in ms; default 300 000. */
  relayIdle?: number
  /** Serves HTTP/1.1 on raw sockets: the option `wire` of `attach()`. Default false. */
  wire?: boolean
  /** Options of `attach()`, all of them; each connection is served under them once its first bytes are known. */
  attach?: AttachOptions
}

const NAMES = [
  ...['port', 'host', 'cleartext', 'redirectPort', 'gate', 'proxyProtocol', 'relay'],
  ...['helloTimeout', 'headersTimeout', 'requestTimeout', 'connectTimeout', 'relayIdle', 'wire', 'attach'],
]

/** Options with their defaults. */
export interface ListenSettings {
  readonly port: number
  readonly host: string | undefined
  readonly cleartext: 'redirect' | 'refuse' | App
  readonly redirectPort: number
  readonly reception: ReceptionSettings
  readonly relays: Relays
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly connectTimeout: number
  readonly relayIdle: number
  readonly attach: AttachOptions
}

/** Reads options. @throws ConfigError with every fault. */
export function readListenOptions(options: ListenOptions): ListenSettings {
  const faults: ConfigFault[] = []
  assertKnown('listen', options, NAMES, faults)
  const { cleartext = 'redirect' } = options
  if (cleartext !== 'redirect' && cleartext !== 'refuse' && typeof (cleartext as App)?.open !== 'function') {
    const fix = "Write 'redirect', 'refuse', or pass an app."
    faults.push({ place: 'listen.cleartext', problem: `${shown(cleartext)} is no choice`, fix })
  }
  if (options.wire !== undefined && typeof options.wire !== 'boolean') {
    const problem = `${shown(options.wire)} is no choice`
    faults.push({ place: 'listen.wire', problem, fix: 'Write true or false.' })
  }
  const settings: ListenSettings = {
    port: assertWhole('listen.port', options.port, 0, 65_535, faults),
    host: options.host,
    cleartext,
    redirectPort: assertWhole('listen.redirectPort', options.redirectPort ?? 443, 1, 65_535, faults),
    reception: readReception('listen', options, faults),
    relays: new Relays(options.relay ?? {}, 'listen.relay', faults),
    headersTimeout: assertMilliseconds('listen.headersTimeout', options.headersTimeout ?? 60_000, 1, faults),
    requestTimeout: assertMilliseconds('listen.requestTimeout', options.requestTimeout ?? 300_000, 1, faults),
    connectTimeout: assertMilliseconds('listen.connectTimeout', options.connectTimeout ?? 5000, 1, faults),
    relayIdle: assertMilliseconds('listen.relayIdle', options.relayIdle ?? 300_000, 1, faults),
    attach: options.wire === undefined ? (options.attach ?? {}) : { ...options.attach, wire: options.wire },
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return settings
}
