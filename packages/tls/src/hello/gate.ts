/** Lets connections in by the fingerprint of their ClientHello, before the handshake costs anything. */
import { addressKey, ConfigError, type ConfigFault, memoryRateStore } from '@postern/core'
import { assertChoice, assertKnown, assertWhole, shown } from '../config.ts'
import type { HelloFacts } from './facts.ts'

/** Decides about a connection. `address` is the client's, a trusted PROXY header counted in. */
export type HelloGate = (hello: HelloFacts, address: string) => boolean

/** Options of {@link fingerprints}. */
export interface FingerprintOptions {
  /** JA4 or JA3 of clients that may come in; a `*` at the end takes any rest (`t13d1516h2_8daaf6152771_*`). Default: all. */
  allow?: readonly string[]
  /** Those that may not; wins over `allow`. */
  deny?: readonly string[]
  /** Handshakes a second; default no limit. */
  perSecond?: number
  /** Handshakes at once before the rate counts; default `perSecond`, at least 1. */
  burst?: number
  /** Whose rate it is: `'client'`, one fingerprint at one address (default), or `'fingerprint'`, wherever it comes from. */
  per?: 'client' | 'fingerprint'
  /** Buckets that are remembered; default 50 000. */
  maxClients?: number
  /** Milliseconds, growing; default `performance.now`. */
  clock?: () => number
}

const OPTIONS = ['allow', 'deny', 'perSecond', 'burst', 'per', 'maxClients', 'clock']
const JA4 = /^[tqd][0-9sd][0-9][di]\d{4}[0-9a-zA-Z]{2}_[0-9a-f]{12}_[0-9a-f]{12}$/
const JA3 = /^[0-9a-f]{32}$/
const PREFIX = /^[0-9a-zA-Z_]{4,35}\*$/

/**
 * A gate for `listen()` and `inspect()`: refused connections are reset. A fingerprint says what software shakes hands, not who; a client
 * that wants to look like another one can. To limit requests instead, use `rateLimit({ by: cx => tlsOf(cx)?.hello?.ja4 ?? null })`.
 * @example listen(tls, app, { port: 443, gate: fingerprints({ deny: ['t13i190900_9dc949149365_97f8aa674fd9'], perSecond: 50 }) })
 * @throws ConfigError for what is no fingerprint, and for limits out of range.
 */
export function fingerprints(options: FingerprintOptions): HelloGate {
  const faults: ConfigFault[] = []
  assertKnown('fingerprints', options, OPTIONS, faults)
  const { perSecond, per = 'client', clock = () => performance.now() } = options
  const allowed = options.allow && matcher(options.allow, 'fingerprints.allow', faults)
  const denied = matcher(options.deny ?? [], 'fingerprints.deny', faults)
  assertChoice('fingerprints.per', per, ['client', 'fingerprint'], faults)
  const most = assertWhole('fingerprints.maxClients', options.maxClients ?? 50_000, 1, 10_000_000, faults)
  if (perSecond !== undefined && !(perSecond >= 0.001 && perSecond <= 1_000_000)) {
    const fix = 'Write handshakes a second.'
    faults.push({
      place: 'fingerprints.perSecond',
      problem: `${shown(perSecond)} is no number from 0.001 to 1000000`,
      fix,
    })
  }
  const burst = options.burst ?? Math.max(1, Math.ceil(perSecond ?? 1))
  assertWhole('fingerprints.burst', burst, 1, 10_000_000, faults)
  if (faults.length > 0) throw new ConfigError(faults)

  const store = perSecond === undefined ? null : memoryRateStore(most)
  const bucket = { perSecond: perSecond ?? 1, burst }
  return (hello, address) => {
    if (denied(hello) || (allowed && !allowed(hello))) return false
    if (store === null) return true
    // IPv6 by its network: one site has 2^64 addresses.
    const key = per === 'client' ? `${hello.ja4} ${addressKey(address)}` : hello.ja4
    const decision = store.take(key, bucket, clock())
    return decision instanceof Promise || decision.allowed
  }
}

function matcher(
  list: readonly string[],
  place: string,
  faults: ConfigFault[],
): (hello: HelloFacts) => boolean {
  const whole4 = new Set<string>()
  const whole3 = new Set<string>()
  const prefixes: string[] = []
  for (const entry of list) {
    if (typeof entry !== 'string' || !(JA4.test(entry) || JA3.test(entry) || PREFIX.test(entry))) {
      const fix = 'Write a JA4, the start of one with a *, or a JA3.'
      faults.push({ place, problem: `${shown(entry)} is no fingerprint`, fix })
    } else if (JA3.test(entry)) whole3.add(entry)
    else if (entry.endsWith('*')) prefixes.push(entry.slice(0, -1))
    else whole4.add(entry)
  }
  const needs4 = whole4.size + prefixes.length > 0
  return hello =>
    (needs4 && (whole4.has(hello.ja4) || prefixes.some(prefix => hello.ja4.startsWith(prefix)))) ||
    (whole3.size > 0 && whole3.has(hello.ja3))
}
