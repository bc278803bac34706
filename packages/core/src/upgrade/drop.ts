/** Tunnels that nobody will use. */
import type { ProxyError } from '../errors.ts'
import type { Sink, Source, Tunnel } from '../pipeline/contract.ts'

const nothing: Source = { length: null, start: () => ({ pause() {}, resume() {}, cancel() {} }) }
const nowhere: Sink = { write: () => true, end() {}, fail() {} }

/** Ends a tunnel that was opened in vain. */
export function dropTunnel(tunnel: Tunnel, error: ProxyError): void {
  tunnel.splice(nothing, nowhere).cancel(error)
}
