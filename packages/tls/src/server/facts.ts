/** What requests may know of their TLS connection. */
import type { TLSSocket } from 'node:tls'
import { type Context, PEER_TLS, type PeerTls } from '@postern/core'
import type { HelloFacts } from '../hello/facts.ts'
import type { ClientCertificate } from '../identity/client.ts'

/** Facts of one connection. */
export interface TlsFacts extends PeerTls {
  /** For example `TLSv1.3`. */
  readonly protocol: string
  /** For example `TLS_AES_128_GCM_SHA256`. */
  readonly cipher: string
  /** What ALPN chose: `h2`, `http/1.1`; `null` without. */
  readonly alpn: string | null
  /** True when a ticket spared the full handshake. */
  readonly resumed: boolean
  /** Server name, lower case; `null` without one. */
  readonly serverName: string | null
  /** The verified client; `null` where none was asked for, or an optional one was not shown. */
  readonly client: ClientCertificate | null
  /** The ClientHello, where the connection came through `listen()` or `inspect()`; else `null`. */
  readonly hello: HelloFacts | null
}

/** Which hosts may be asked for on a connection with this server name. */
export type ServesHost = (serverName: string, host: string) => boolean

/** Made once a connection; what is seldom asked for is read when it is. */
export class ConnectionFacts implements TlsFacts {
  readonly serverName: string | null
  readonly client: ClientCertificate | null
  readonly hello: HelloFacts | null
  readonly resumed: boolean
  readonly #socket: TLSSocket
  readonly #serves: ServesHost
  #lastHost: string
  #lastAnswer = true

  constructor(
    socket: TLSSocket,
    serverName: string,
    client: ClientCertificate | null,
    hello: HelloFacts | null,
    serves: ServesHost,
  ) {
    this.#socket = socket
    this.serverName = serverName === '' ? null : serverName
    this.client = client
    this.hello = hello
    this.resumed = socket.isSessionReused()
    this.#serves = serves
    // The connection's own name needs no thought.
    this.#lastHost = serverName
  }

  get protocol(): string {
    return this.#socket.getProtocol() ?? ''
  }

  get cipher(): string {
    return this.#socket.getCipher()?.standardName ?? ''
  }

  get alpn(): string | null {
    return this.#socket.alpnProtocol || null
  }

  serves(host: string): boolean {
    if (host === this.#lastHost) return this.#lastAnswer
    this.#lastAnswer = this.#serves(this.serverName ?? '', host)
    this.#lastHost = host
    return this.#lastAnswer
  }
}

/** Facts of the connection that a request came on; `null` without TLS, or on a server that `protect()` does not know. */
export function tlsOf(cx: Pick<Context, 'request'>): TlsFacts | null {
  const { tls } = cx.request.peer
  return tls instanceof ConnectionFacts ? tls : null
}

/** Puts facts where core's transports find them. */
export function setFacts(socket: object, facts: TlsFacts): void {
  ;(socket as { [PEER_TLS]?: PeerTls })[PEER_TLS] = facts
}
