/** A connected socket on which HTTP/2 was agreed. */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { ProxyError } from '../../errors.ts'
import { openSocket } from '../dial.ts'
import { upstreamFailure } from '../failures.ts'
import type { Http2Options } from './options.ts'

/** How dialling ends: with a socket that speaks HTTP/2, with one that does not, or with a failure. */
export interface Dialled {
  onSocket(socket: Socket): void
  onHttp1(): void
  onFailure(error: ProxyError): void
}

/** Connects to the target. Returns a function that gives up; the listener hears nothing after that. */
export function dial(options: Http2Options, listener: Dialled): () => void {
  const socket = open(options)
  let over = false
  const ready = options.protocol === 'h2' ? 'secureConnect' : 'connect'
  socket.on('error', onError)
  socket.once(ready, () => {
    if (over) return
    over = true
    // HTTP/2 has listeners of its own.
    socket.off('error', onError)
    if (options.protocol === 'h2' && (socket as TLSSocket).alpnProtocol !== 'h2') {
      socket.on('error', () => {})
      socket.destroy()
      listener.onHttp1()
    } else listener.onSocket(socket)
  })
  return () => {
    if (over) return
    over = true
    socket.destroy()
  }

  function onError(error: unknown): void {
    if (over) return
    over = true
    socket.destroy()
    listener.onFailure(upstreamFailure(error, false, 'connect'))
  }
}

function open(options: Http2Options): Socket {
  return openSocket(options, options.onHttp1 ? ['h2', 'http/1.1'] : ['h2'])
}

/** The failure of a target that does not speak HTTP/2. */
export function noHttp2(cause?: unknown): ProxyError {
  return new ProxyError({
    source: 'upstream',
    phase: 'connect',
    code: 'connect-failed',
    retryable: true,
    message: 'the upstream does not speak HTTP/2',
    cause,
  })
}
