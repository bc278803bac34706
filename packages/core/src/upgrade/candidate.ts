/** Which requests may leave HTTP/1.1 at all (RFC 9110, 7.8). */

/** Other versions of HTTP, and TLS: a tunnel of them would carry requests past every gate. */
const NEVER = /^(?:h2c?|h3|https?|tls)(?:\/|$|-)/i
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+)?$/

/** True for a protocol that a tunnel may carry: one name, not HTTP or TLS itself. */
export function isTunnelProtocol(protocol: string): boolean {
  return TOKEN.test(protocol) && !NEVER.test(protocol)
}

/** What is asked of a request that may become a tunnel. */
export interface UpgradeRequest {
  readonly method?: string | undefined
  readonly httpVersionMajor: number
  readonly httpVersionMinor: number
  readonly rawHeaders: readonly string[]
}

/**
 * True for a request of HTTP/1.1 that may become a tunnel: GET, no body, one protocol. Anything else that says
 * `Upgrade` is answered as the plain request that it also is.
 */
export function mayUpgrade(request: UpgradeRequest): boolean {
  if (request.method !== 'GET' || request.httpVersionMajor !== 1 || request.httpVersionMinor < 1) return false
  const { rawHeaders } = request
  let protocol: string | null = null
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (name === 'upgrade') {
      if (protocol !== null) return false
      protocol = rawHeaders[i + 1]!
    } else if (name === 'transfer-encoding' || name === 'http2-settings') return false
    else if (name === 'content-length' && rawHeaders[i + 1] !== '0') return false
  }
  return protocol !== null && isTunnelProtocol(protocol)
}
