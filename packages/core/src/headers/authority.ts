/** Host and port of a request in one spelling (RFC 9110, 7.2; RFC 3986, 3.2.2). */
import { isIPv6, SocketAddress } from 'node:net'

const REG_NAME = /^(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/
const REMEMBERED = 1024
/** By scheme: the default port is left out. */
const known = { http: new Map<string, string | null>(), https: new Map<string, string | null>() }
/** The last one, which is mostly the next one too: that is cheaper than hashing a new string. */
const last: { text: string; scheme: string; made: string | null } = { text: '', scheme: '', made: null }

/**
 * `host[:port]` in lower case, without the scheme's default port and a trailing dot; `null` for what is no such thing:
 * user information, lists, percent-encoding, a port above 65535, an empty name.
 */
export function normaliseAuthority(text: string, scheme: 'http' | 'https'): string | null {
  if (text === last.text && scheme === last.scheme) return last.made
  const all = known[scheme]
  const found = all.get(text)
  if (found === undefined && text.length > 64) return normalise(text, scheme === 'http' ? 80 : 443)
  const made = found !== undefined ? found : normalise(text, scheme === 'http' ? 80 : 443)
  if (found === undefined) {
    if (all.size >= REMEMBERED) all.clear()
    all.set(text, made)
  }
  last.text = text
  last.scheme = scheme
  last.made = made
  return made
}

/** The host of a normalised authority, without its port. IPv6 keeps its brackets. */
export function hostOf(authority: string): string {
  const colon = authority.lastIndexOf(':')
  return colon === -1 || authority.endsWith(']') ? authority : authority.slice(0, colon)
}

/** The port of a normalised authority, or the scheme's own. */
export function portOf(authority: string, scheme: 'http' | 'https'): string {
  const colon = authority.lastIndexOf(':')
  if (colon === -1 || authority.endsWith(']')) return scheme === 'http' ? '80' : '443'
  return authority.slice(colon + 1)
}

function normalise(text: string, defaultPort: number): string | null {
  if (text.length === 0 || text.length > 261) return null
  let host = text.toLowerCase()
  let port = ''
  const colon = host.lastIndexOf(':')
  if (colon !== -1 && host.indexOf(']') < colon) {
    port = host.slice(colon + 1)
    host = host.slice(0, colon)
    if (!/^\d{0,5}$/.test(port) || Number(port) > 65_535) return null
  }
  if (host.startsWith('[')) {
    const literal = host.slice(1, -1)
    if (!host.endsWith(']') || literal.includes('%') || !isIPv6(literal)) return null
    host = `[${new SocketAddress({ address: literal, family: 'ipv6' }).address}]`
  } else {
    if (host.endsWith('.')) host = host.slice(0, -1)
    if (host.length > 253 || !REG_NAME.test(host)) return null
  }
  // An empty port means the default one (RFC 3986, 6.2.3).
  return port === '' || Number(port) === defaultPort ? host : `${host}:${Number(port)}`
}
