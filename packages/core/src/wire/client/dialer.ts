/** Opens sockets to a target: TCP, TLS or Unix. */
import { createSecureContext, type SecureContext } from 'node:tls'
import { openSocket } from '../../upstream/dial.ts'
import type { Http1Options } from '../../upstream/http1-options.ts'
import { BufferReader } from './buffer-reader.ts'
import { WireConnection } from './connection.ts'
import type { ConnectionOwner } from './owner.ts'

/** One for each pool: TLS sessions are used again among its connections, and with no others. */
export class Dialer {
  readonly #options: Http1Options
  readonly #secure: boolean
  #context: SecureContext | null = null
  #session: Buffer | null = null

  constructor(options: Http1Options) {
    this.#options = options
    this.#secure = options.socketPath === null && options.origin.startsWith('https:')
  }

  open(owner: ConnectionOwner): WireConnection {
    const options = this.#options
    if (!this.#secure) {
      const reader = new BufferReader()
      const socket = openSocket(options, null, { onread: reader })
      return new WireConnection(owner, socket, 'connect', reader)
    }
    // Certificates and keys are read once, not for each connection.
    this.#context ??= createSecureContext(options.tls as object)
    const socket = openSocket(options, ['http/1.1'], {
      secureContext: this.#context,
      ...(this.#session === null ? {} : { session: this.#session }),
    })
    socket.on('session', (session: Buffer) => {
      this.#session = session
    })
    socket.on('error', () => {
      this.#session = null
    })
    return new WireConnection(owner, socket, 'secureConnect', null)
  }
}
