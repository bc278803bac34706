/** Options of `listen()`, checked. */
import { type App, type AttachOptions, ConfigError, type ConfigFault, cidrMatcher } from '@postern/core'
import { assertFunction, assertKnown, assertMilliseconds, assertWhole, shown } from '../config.ts'
import type { HelloGate } from '../hello/gate.ts'
import { Relays, type RelayTable } from './relay.ts'

/** Options of {@link listen}. */
export interface ListenOptions {
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
  /** Decides about each ClientHello, for example `fingerprints()`; refused connections are reset. */
  gate?: HelloGate
  /**
   * Peers that speak the PROXY protocol, version 1 or 2: addresses, blocks, `'private'`, `'loopback'`, `'unix'`. From these
   * the header is required, from others it is rubbish. Their clients' addresses become `peer.address`.
   */
  proxyProtocol?: { trust: readonly string[] }
  /** Server names whose connections are passed on unopened. `*`: names that the store has no certificate for. */
  relay?: RelayTable
  /** Time for the first bytes: PROXY header and whole ClientHello, in ms; default 10 000. The handshake has its own. */
  helloTimeout?: number
  /** Time for the head of an HTTP/1.1 request, in ms; default 60 000, as Node's own. */
  headersTimeout?: number
  /** Time for a whole HTTP/1.1 request, in ms; default 300 000, as Node's own. */
  requestTimeout?: number
  /** Time to reach a relay target, in ms; default 5000. */
  connectTimeout?: number
  /** Silence after which a relayed connection is closed, in ms; default 300 000. */
  relayIdle?: number
  /** Passed to `attach`. */
  attach?: AttachOptions
}

const NAMES = [
  ...['port', 'host', 'cleartext', 'redirectPort', 'gate', 'proxyProtocol', 'relay'],
  ...['helloTimeout', 'headersTimeout', 'requestTimeout', 'connectTimeout', 'relayIdle', 'attach'],
]

/** Options with their defaults. */
export interface ListenSettings {
  readonly port: number
  readonly host: string | undefined
  readonly cleartext: 'redirect' | 'refuse' | App
  readonly redirectPort: number
  readonly gate: HelloGate | null
  readonly proxyTrust: readonly string[]
  readonly relays: Relays
  readonly helloTimeout: number
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
  const { cleartext = 'redirect', proxyProtocol } = options
  if (cleartext !== 'redirect' && cleartext !== 'refuse' && typeof (cleartext as App)?.open !== 'function') {
    const fix = "Write 'redirect', 'refuse', or pass an app."
    faults.push({ place: 'listen.cleartext', problem: `${shown(cleartext)} is no choice`, fix })
  }
  assertFunction('listen.gate', options.gate, faults)
  if (proxyProtocol !== undefined) {
    assertKnown('listen.proxyProtocol', proxyProtocol, ['trust'], faults)
    const { trust } = proxyProtocol
    if (!Array.isArray(trust) || trust.length === 0) {
      const fix = "Write for example { trust: ['10.0.0.0/8'] }."
      faults.push({ place: 'listen.proxyProtocol.trust', problem: 'it names no peer', fix })
    } else
      cidrMatcher(
        trust.filter(entry => entry !== 'unix'),
        'listen.proxyProtocol.trust',
        faults,
      )
  }
  const settings: ListenSettings = {
    port: assertWhole('listen.port', options.port, 0, 65_535, faults),
    host: options.host,
    cleartext,
    redirectPort: assertWhole('listen.redirectPort', options.redirectPort ?? 443, 1, 65_535, faults),
    gate: options.gate ?? null,
    proxyTrust: proxyProtocol?.trust ?? [],
    relays: new Relays(options.relay ?? {}, 'listen.relay', faults),
    helloTimeout: assertMilliseconds('listen.helloTimeout', options.helloTimeout ?? 10_000, 1, faults),
    headersTimeout: assertMilliseconds('listen.headersTimeout', options.headersTimeout ?? 60_000, 1, faults),
    requestTimeout: assertMilliseconds('listen.requestTimeout', options.requestTimeout ?? 300_000, 1, faults),
    connectTimeout: assertMilliseconds('listen.connectTimeout', options.connectTimeout ?? 5000, 1, faults),
    relayIdle: assertMilliseconds('listen.relayIdle', options.relayIdle ?? 300_000, 1, faults),
    attach: options.attach ?? {},
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return settings
}
