/** The wire on a server of node:http, node:https or node:http2: it takes HTTP/1.1 connections in front of Node's own parser. */
import { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { Serving } from '../../transport/node/serving.ts'
import { type Listener, WireServer } from './server.ts'

/**
 * Where a listener that stands in for others keeps them, in an array that may be edited. A registered symbol, so that two
 * copies of this package agree on it.
 */
export const INNER_LISTENERS: unique symbol = Symbol.for('postern.connection.inner')

/**
 * Puts the wire in front of Node's own listener for connections. Only HTTP/1.1 passes it: on a server of HTTP/2 what TLS has
 * settled on (ALPN, or none of it where the server falls back), and no cleartext, whose first bytes may be either. False for a server that it can't stand in front of.
 */
export function serveWire(server: Server, serving: Serving, sendTimeout: number): boolean {
  const secure = 'setSecureContext' in server
  if (!secure && !(server instanceof HttpServer)) return false
  const fallsBack = !('updateSettings' in server) || offersHttp1(server)
  let wire: WireServer | null = null
  return replaceListener(server, secure ? 'secureConnection' : 'connection', inner => {
    wire = new WireServer(server, serving, secure, sendTimeout, inner)
    return socket => {
      const { alpnProtocol } = socket as Socket & { alpnProtocol?: string | false }
      const ours = !secure || alpnProtocol === 'http/1.1' || (fallsBack && !alpnProtocol)
      if (ours && !socket.destroyed) wire!.take(socket)
      else inner.call(server, socket)
    }
  })
}

/** True for a server of HTTP/2 that serves clients without ALPN as HTTP/1.1: it says so to those with ALPN. */
function offersHttp1(server: Server): boolean {
  const { ALPNProtocols: offered } = server as Server & { ALPNProtocols?: unknown }
  return Buffer.isBuffer(offered) && offered.includes('http/1.1')
}

/** Replaces Node's listener where it stands: among the server's, or behind one that looks at connections first. */
function replaceListener(server: Server, event: string, make: (inner: Listener) => Listener): boolean {
  const listeners = server.rawListeners(event) as Listener[]
  const list = findList(listeners)
  if (list === null) return false
  const at = Math.max(0, list.findIndex(isNodes))
  list[at] = make(list[at]!)
  if (list !== listeners) return true
  server.removeAllListeners(event)
  for (const listener of listeners) server.on(event, listener as (socket: Socket) => void)
  return true
}

function findList(listeners: Listener[]): Listener[] | null {
  if (listeners.some(isNodes)) return listeners
  for (const listener of listeners) {
    const inner = (listener as Listener & { [INNER_LISTENERS]?: Listener[] })[INNER_LISTENERS]
    const found = inner ? findList(inner) : null
    if (found !== null) return found
  }
  return null
}

/** As node:http, node:https and node:http2 call it. */
function isNodes(listener: Listener): boolean {
  return listener.name === 'connectionListener'
}
