/** What requests may know of the ClientHello. Fingerprints are worked out when somebody asks, once a connection. */
import { ja3, ja4 } from './fingerprint.ts'
import type { ClientHello } from './parse.ts'

const ENCRYPTED_HELLO = 0xfe0d

/** A client as its ClientHello shows it. */
export interface HelloFacts {
  /** JA4 over TCP, for example `t13d1516h2_8daaf6152771_e5627efa2ab1`. */
  readonly ja4: string
  /** JA3, 32 hex digits. Differs on every connection of a browser that shuffles. */
  readonly ja3: string
  /** Server name, lower case; `null` without one. */
  readonly serverName: string | null
  /** Protocols of ALPN, in order. */
  readonly protocols: readonly string[]
  /** True when the client sent Encrypted Client Hello, or GREASE in its place: browsers always do. */
  readonly encryptedHello: boolean
  /** The lists as they were sent. */
  readonly raw: ClientHello
}

/** Wraps a hello. */
export class Hello implements HelloFacts {
  readonly raw: ClientHello
  #ja4: string | null = null
  #ja3: string | null = null

  constructor(raw: ClientHello) {
    this.raw = raw
  }

  get ja4(): string {
    this.#ja4 ??= ja4(this.raw)
    return this.#ja4
  }

  get ja3(): string {
    this.#ja3 ??= ja3(this.raw)
    return this.#ja3
  }

  get serverName(): string | null {
    return this.raw.serverName
  }

  get protocols(): readonly string[] {
    return this.raw.protocols
  }

  get encryptedHello(): boolean {
    return this.raw.extensions.includes(ENCRYPTED_HELLO)
  }
}
