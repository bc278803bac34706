/** Receives connections: waits for their first bytes, closes what takes too long or is nothing, and asks the gate. */
import type { Socket } from 'node:net'
import { type ConfigFault, canonicalAddress, cidrMatcher } from '@postern/core'
import { assertFunction, assertKnown, assertMilliseconds } from '../config.ts'
import type { HelloGate } from '../hello/gate.ts'
import { setRawFacts } from '../server/raw.ts'
import { SocketDeadlines } from './deadlines.ts'
import { type Opening, peek } from './peek.ts'

/** What is looked at before a connection is served. */
export interface ReceptionOptions {
  /** Decides about each ClientHello, for example `fingerprints()`; refused connections are reset. */
  gate?: HelloGate
  /**
   * Peers that speak the PROXY protocol, version 1 or 2: addresses, blocks, `'private'`, `'loopback'`, `'unix'`. From these
   * the header is required, from others it is rubbish. Their clients' addresses become `peer.address`.
   */
  proxyProtocol?: { trust: readonly string[] }
  /** Time for the first bytes: PROXY header and whole ClientHello, in ms; default 10 000. The handshake has its own. */
  helloTimeout?: number
}

/** Counts of connections. */
export interface ReceptionCounts {
  accepted: number
  /** Refused by the gate. */
  denied: number
  /** Closed because of their first bytes. */
  malformed: number
  /** Closed because their first bytes took too long. */
  timedOut: number
}

/** Options with their defaults. */
export interface ReceptionSettings {
  readonly gate: HelloGate | null
  /** True for a peer that has to begin with a PROXY header. */
  readonly expectsProxy: (socket: Socket) => boolean
  readonly helloTimeout: number
  /** Peers that speak the PROXY protocol, as they were written: each carries many clients. */
  readonly proxies: readonly string[]
}

/** Reads options; faults go to `faults`. */
export function readReception(
  place: string,
  options: ReceptionOptions,
  faults: ConfigFault[],
): ReceptionSettings {
  const { proxyProtocol } = options
  assertFunction(`${place}.gate`, options.gate, faults)
  let trust: readonly string[] = []
  if (proxyProtocol !== undefined) {
    assertKnown(`${place}.proxyProtocol`, proxyProtocol, ['trust'], faults)
    trust = Array.isArray(proxyProtocol?.trust) ? proxyProtocol.trust : []
    if (trust.length === 0) {
      const fix = "Write for example { trust: ['10.0.0.0/8'] }."
      faults.push({ place: `${place}.proxyProtocol.trust`, problem: 'it names no peer', fix })
    }
  }
  const addresses = trust.filter(entry => entry !== 'unix')
  const trusts = cidrMatcher(addresses, `${place}.proxyProtocol.trust`, faults)
  const trustsUnix = trust.includes('unix')
  return {
    gate: options.gate ?? null,
    proxies: trust,
    expectsProxy: ({ remoteAddress }) => (remoteAddress === undefined ? trustsUnix : trusts(remoteAddress)),
    helloTimeout: assertMilliseconds(`${place}.helloTimeout`, options.helloTimeout ?? 10_000, 1, faults),
  }
}

/** Takes sockets, and passes on those that have said what they are. */
export class Reception {
  readonly #settings: ReceptionSettings
  readonly #counts: ReceptionCounts
  readonly #pass: (socket: Socket, opening: Opening, bytes: Buffer) => void
  readonly #deadlines: SocketDeadlines

  /** `pass` gets the socket with `bytes` read of it, which belong in front of the rest. */
  constructor(
    settings: ReceptionSettings,
    counts: ReceptionCounts,
    pass: (socket: Socket, opening: Opening, bytes: Buffer) => void,
  ) {
    this.#settings = settings
    this.#counts = counts
    this.#pass = pass
    this.#deadlines = new SocketDeadlines(settings.helloTimeout, () => counts.timedOut++)
  }

  take(socket: Socket): void {
    const deadlines = this.#deadlines
    this.#counts.accepted++
    deadlines.add(socket)
    const early = (): void => {
      socket.destroy()
    }
    const gone = (): void => deadlines.delete(socket)
    socket.on('error', early)
    // Gone before it said anything; allowHalfOpen would leave it open.
    socket.on('end', early)
    socket.once('close', gone)
    peek(socket, this.#settings.expectsProxy(socket), (opening, bytes) => {
      deadlines.delete(socket)
      socket.off('error', early)
      socket.off('end', early)
      socket.off('close', gone)
      if (typeof opening === 'string') {
        this.#counts.malformed++
        return reset(socket)
      }
      const hello = opening.kind === 'tls' ? opening.hello : null
      setRawFacts(socket, { hello, addresses: opening.addresses })
      const { gate } = this.#settings
      if (hello && gate && !gate(hello, canonicalAddress(socket.remoteAddress ?? '') ?? '')) {
        this.#counts.denied++
        return reset(socket)
      }
      this.#pass(socket, opening, bytes)
    })
  }

  /** Closes the sockets that have not said anything yet. */
  close(): void {
    this.#deadlines.close()
  }
}

/** Ends a connection without a word. */
export function reset(socket: Socket): void {
  socket.on('error', () => {})
  socket.resetAndDestroy()
}
