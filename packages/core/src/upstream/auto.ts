/** HTTP/2 where the target chooses it in the TLS handshake, HTTP/1.1 where it does not. */
import type { Connector } from './connector.ts'
import { type Http2Connector, http2Connector } from './h2/connector.ts'
import type { ConnectorOptions } from './protocol.ts'

/** How long a target that chose HTTP/1.1 is taken at its word, in ms; then it is asked again. */
const REMEMBERED = 600_000

/** A connector that asks by ALPN (RFC 7301). Requests wait for the first answer only. */
export function autoConnector(options: ConnectorOptions, makeHttp1: () => Connector): Connector {
  let http1: Connector | null = null
  let http1Until = 0
  const http2: Http2Connector = http2Connector({
    ...options,
    ...options.http2,
    protocol: 'h2',
    onHttp1() {
      http1Until = Date.now() + REMEMBERED
      for (const call of http2.takeQueue()) {
        const { request, receiver } = call
        const { upgrade } = request
        call.handOver(
          upgrade === undefined ? http().send(request, receiver) : http().open!(request, receiver),
        )
      }
    },
  })
  const http = (): Connector => (http1 ??= makeHttp1())
  const chosen = (): Connector => (Date.now() < http1Until ? http() : http2)

  return {
    send: (request, receiver) => chosen().send(request, receiver),
    // A tunnel over HTTP/1.1 works with any server that has one; extended CONNECT works with few.
    open: (request, receiver) => http().open!(request, receiver),
    connections: () => chosen().connections!(),
    get expects() {
      return chosen().expects === true
    },
    close: () => Promise.all([http1?.close(), http2.close()]).then(() => {}),
    destroy: () => Promise.all([http1?.destroy(), http2.destroy()]).then(() => {}),
  }
}
