/** `X-Forwarded-*`, `X-Real-IP` and `Forwarded` (RFC 7239): always written from the socket, never taken on trust. */
import { portOf } from '../headers/authority.ts'
import type { RequestHead } from '../pipeline/contract.ts'

/** How the client's address is passed on. */
export type ForwardedMode = 'append' | 'replace' | 'off'

/**
 * Adds the forwarding fields to `out`. Whatever the client sent of them has been left out before.
 * `append` keeps what a trusted peer told and adds the peer; `replace` tells the client alone.
 */
export function addForwarded(
  out: string[],
  request: RequestHead,
  mode: ForwardedMode,
  standard: boolean,
): void {
  if (mode === 'off') return
  const { peer, headers, authority, scheme } = request
  const keep = mode === 'append' && request.peerTrusted
  const address = peer.address === '' ? 'unknown' : peer.address
  const client = keep ? address : request.clientAddress || 'unknown'
  const before = keep ? headers.joined('x-forwarded-for') : undefined
  const host = (keep && headers.get('x-forwarded-host')) || authority
  const port = (keep && headers.get('x-forwarded-port')) || portOf(authority, scheme)
  out.push('X-Forwarded-For', before ? `${before}, ${client}` : client, 'X-Forwarded-Proto', scheme)
  if (host !== '') out.push('X-Forwarded-Host', host)
  out.push('X-Forwarded-Port', port, 'X-Real-IP', request.clientAddress || 'unknown')
  if (standard) {
    const chain = keep ? headers.joined('forwarded') : undefined
    const element = forwardedElement(client, authority, scheme)
    out.push('Forwarded', chain ? `${chain}, ${element}` : element)
  }
}

/** One element of `Forwarded`: IPv6 in brackets and quotes (RFC 7239, 6). */
function forwardedElement(client: string, authority: string, scheme: string): string {
  const node = client.includes(':') ? `"[${client}]"` : client
  const host = authority === '' ? '' : `;host=${authority.includes(':') ? `"${authority}"` : authority}`
  return `for=${node}${host};proto=${scheme}`
}
