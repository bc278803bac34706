/** Upgrades as the proxy forwards them: which ones, and with what fields. */
import type { ConfigFault } from '../errors.ts'
import { ProxyError } from '../errors.ts'
import type { Reply, RequestHead } from '../pipeline/contract.ts'
import { failureReply } from '../reply.ts'
import type { Call, Connector, OutgoingRequest, Receiver } from '../upstream/connector.ts'
import { isTunnelProtocol } from './candidate.ts'
import { makeKey, refuseHandshake } from './websocket.ts'

/** The answer to an upgrade that is not forwarded; `null` to go on. */
export function refuseUpgrade(request: RequestHead, upgrades: ReadonlySet<string>): Reply | null {
  const { upgrade, version } = request
  if (upgrade === 'websocket' && upgrades.has('websocket')) return refuseHandshake(request)
  // HTTP/1.1 may ignore what it does not know; an extended CONNECT is nothing without its protocol (RFC 8441, 4).
  return version === '2.0' && !upgrades.has(upgrade!) ? failureReply(notImplemented()) : null
}

function notImplemented(): ProxyError {
  return new ProxyError({ source: 'client', phase: 'head', code: 'not-implemented' })
}

/** Sends a request for a tunnel: this hop's own fields are written anew. */
export function openTunnel(
  connector: Connector,
  request: OutgoingRequest,
  protocol: string,
  receiver: Receiver,
): Call {
  const { headers } = request
  headers.push('Connection', 'Upgrade', 'Upgrade', protocol)
  if (protocol === 'websocket' && !hasKey(headers)) headers.push('Sec-WebSocket-Key', makeKey())
  if (connector.open) return connector.open({ ...request, upgrade: protocol }, receiver)
  queueMicrotask(() => receiver.onError(notImplemented()))
  return { resume() {}, cancel() {} }
}

function hasKey(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.toLowerCase() === 'sec-websocket-key') return true
  }
  return false
}

/** Checks the option `upgrades` of `proxy()`. */
export function checkUpgrades(upgrades: readonly string[] | undefined, faults: ConfigFault[]): void {
  if (upgrades === undefined) return
  const place = 'proxy.upgrades'
  if (!Array.isArray(upgrades)) {
    faults.push({ place, problem: 'it is no list', fix: "Write for example ['websocket']." })
    return
  }
  for (const name of upgrades) {
    if (typeof name === 'string' && isTunnelProtocol(name)) continue
    const fix = "Write names such as 'websocket'; HTTP and TLS inside a tunnel would pass every gate."
    faults.push({ place, problem: `'${String(name)}' is no protocol for a tunnel`, fix })
  }
}
