/** Who the client is behind proxies that are trusted (RFC 7239, 5.2 and 8.1). */
import { canonicalAddress } from './address.ts'

/**
 * Walks `X-Forwarded-For` from the right, past every hop that is trusted, to the first that is not: what stands left of
 * it is that hop's own word. An entry that is no address (empty, `unknown`, garbage) ends the walk at the hop that
 * reported it, and so does the end of `maxHops`. `peer` is canonical, `''` for a Unix socket, which `trusts` knows as
 * `'unix'`; a peer that is not trusted is the client itself, whatever it says.
 */
export function clientAddressFrom(
  lines: readonly string[],
  peer: string,
  trusts: (address: string) => boolean,
  maxHops = 32,
): string {
  let client = peer
  if (!trusts(peer === '' ? 'unix' : peer)) return client
  let hops = 0
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = lines[i]!
    let end = line.length
    while (end >= 0) {
      if (++hops > maxHops) return client
      const comma = end === 0 ? -1 : line.lastIndexOf(',', end - 1)
      const address = hopAddress(line.slice(comma + 1, end))
      if (address === null) return client
      client = address
      if (!trusts(address)) return client
      end = comma
    }
  }
  return client
}

// An entry with a port: brackets are for IPv6 (RFC 3986, 3.2.2), a single colon parts IPv4 from its port.
const BRACKETED = /^\[([^[\]]+)\](?::(\d{1,5}))?$/
const IPV4_PORT = /^([\d.]+):(\d{1,5})$/
// Not trim(), which would also take away bytes that are no white space in a field (RFC 9110, 5.6.3).
const AROUND = /^[\t ]+|[\t ]+$/g
/** Longer than any address with port and zone; it also bounds what the expressions have to look at. */
const LONGEST = 128

function hopAddress(entry: string): string | null {
  if (entry.length > LONGEST) return null
  const text = entry.replace(AROUND, '')
  const parts = text.startsWith('[') ? BRACKETED.exec(text) : IPV4_PORT.exec(text)
  if (parts === null) return canonicalAddress(text)
  const [, host = '', port = '0'] = parts
  if (Number(port) > 65_535 || (text.startsWith('[') && !host.includes(':'))) return null
  return canonicalAddress(host)
}
