/** Upgrades of a server: which requests may become tunnels, and who answers them. */
import type { IncomingMessage } from 'node:http'
import type { Server, Socket } from 'node:net'
import { ConfigError, type ConfigFault } from '../../errors.ts'
import { checkApp } from '../../pipeline/check-app.ts'
import type { App } from '../../pipeline/contract.ts'
import { Service, type Swappable } from '../service.ts'
import type { Serving } from './serving.ts'
import { keepPlain, serveUpgrade } from './upgrade1.ts'

/** Listens for upgrades, unless the host does: then they are the host's. */
export function serveTunnels(server: Server, serving: Serving): void {
  // Extended CONNECT is only sent by clients that were told of it (RFC 8441, 3).
  if ('updateSettings' in server) {
    const http2 = server as unknown as { updateSettings(settings: object): void }
    http2.updateSettings({ enableConnectProtocol: true })
  }
  if (server.listenerCount('upgrade') > 0) return
  server.on('connection', keepPlain)
  server.on('secureConnection', keepPlain)
  server.on('upgrade', (req: IncomingMessage, socket: Socket, first: Buffer) => {
    serveUpgrade(serving, req, socket, first)
  })
}

/** Listener of `upgrade` events. Its app is swapped apart from that of a `toHandler()`. */
export interface NodeUpgradeHandler extends Swappable {
  (req: IncomingMessage, socket: unknown, first: Buffer): void
}

/**
 * Makes an app a listener of a node:http server's `upgrade` event, for hosts that use `toHandler`. An `Upgrade` that may be
 * no tunnel (`h2c`, or one with a body) is answered 400, and the connection closes: only `attach` can leave those to plain HTTP.
 * @example server.on('upgrade', toUpgradeHandler(app))
 * @throws ConfigError for what is no app.
 */
export function toUpgradeHandler(app: App): NodeUpgradeHandler {
  const faults: ConfigFault[] = []
  checkApp('toUpgradeHandler(app)', app, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const service = new Service(app)
  const serving: Serving = { app: service, draining: false, guard: null, stalls: null, tunnels: new Set() }
  function posternUpgrade(req: IncomingMessage, socket: unknown, first: Buffer): void {
    serveUpgrade(serving, req, socket as Socket, first)
  }
  const swap: Swappable['swap'] = (next, options) => service.swap(next, options)
  return Object.assign(posternUpgrade, { swap })
}
