/** Makes the head that the pipeline sees from what a transport has read. The one place where a head is judged. */

import { type FailureCode, ProxyError } from '../errors.ts'
import { canonicalAddress } from '../net/address.ts'
import { clientAddressFrom } from '../net/forwarded-for.ts'
import type { Peer, PeerTls, RequestHead } from '../pipeline/contract.ts'
import { hostOf, normaliseAuthority } from './authority.ts'
import type { HeaderList } from './list.ts'
import { CONNECTION, CONTENT_LENGTH, HOST, kindOf, TRANSFER_ENCODING, UPGRADE } from './names.ts'
import { readTarget } from './target.ts'

/** What a transport has read. */
export interface RawHead {
  readonly method: string
  /** Request target, or `:path`. */
  readonly target: string
  readonly version: '1.0' | '1.1' | '2.0'
  readonly headers: HeaderList
  readonly peer: Peer
  /** `:authority` of HTTP/2. */
  readonly authority?: string | undefined
  /** `:protocol` of an extended CONNECT. */
  readonly protocol?: string | undefined
  /** True where an `Upgrade` can still be followed; elsewhere the field is ignored. */
  readonly upgradable?: boolean
  /**
   * What a strict parser has found already: one `Host`, one framing at most, no `Upgrade`. Then the lines are not looked
   * through again.
   */
  readonly plain?: { readonly host: string; readonly hasBody: boolean }
}

/** A head, and what is wrong with it if anything is. */
export interface JudgedHead {
  readonly head: RequestHead
  readonly fault: ProxyError | null
  /** True when the head announces a body (HTTP/1.x). */
  readonly hasBody: boolean
}

class Head implements RequestHead {
  readonly method: string
  readonly target: string
  readonly path: string
  readonly query: string
  readonly headers: HeaderList
  readonly version: '1.0' | '1.1' | '2.0'
  readonly upgrade: string | null
  readonly peer: Peer
  readonly peerTrusted: boolean
  readonly scheme: 'http' | 'https'
  readonly authority: string
  readonly #trusts: (address: string) => boolean
  #clientAddress: string | null = null

  constructor(
    raw: RawHead,
    trusts: (address: string) => boolean,
    trusted: boolean,
    scheme: 'http' | 'https',
    authority: string,
    target: { target: string; path: string; query: string },
    upgrade: string | null,
  ) {
    this.method = raw.method
    this.target = target.target
    this.path = target.path
    this.query = target.query
    this.headers = raw.headers
    this.version = raw.version
    this.upgrade = upgrade
    this.peer = raw.peer
    this.peerTrusted = trusted
    this.scheme = scheme
    this.authority = authority
    this.#trusts = trusts
  }

  get clientAddress(): string {
    if (!this.peerTrusted) return this.peer.address
    this.#clientAddress ??= clientAddressFrom(
      this.headers.all('x-forwarded-for'),
      this.peer.address,
      this.#trusts,
    )
    return this.#clientAddress
  }
}

const NO_LINES: readonly string[] = []
const NOWHERE = { target: '/', path: '/', query: '' }

/** Judges a head: target, authority and framing fields; a fault comes with a head that holds nothing unchecked. */
export function judgeHead(raw: RawHead, trusts: (address: string) => boolean): JudgedHead {
  const { peer } = raw
  // A connection that is gone already has no address either; it is nobody's proxy.
  const trusted = peer.unix ? trusts('unix') : peer.address !== '' && trusts(peer.address)
  const scheme = trusted ? forwardedScheme(raw) : peer.secure ? 'https' : 'http'
  const { plain } = raw
  const lines = plain === undefined ? raw.headers.raw : NO_LINES
  let host: string | undefined = plain?.host
  let hosts = 0
  let lengths = 0
  let codings = 0
  let hasBody = plain?.hasBody === true
  let upgrade: string | null = null
  let upgrades = false
  for (let i = 0; i < lines.length; i += 2) {
    switch (kindOf(lines[i]!)) {
      case HOST:
        host = lines[i + 1]!
        hosts++
        break
      case CONTENT_LENGTH:
        lengths++
        hasBody ||= lines[i + 1] !== '0'
        break
      case TRANSFER_ENCODING:
        // Exactly `chunked`: any other list is read differently by somebody (RFC 9112, 6.1).
        codings += lines[i + 1]!.toLowerCase() === 'chunked' ? 1 : 2
        hasBody = true
        break
      case UPGRADE:
        upgrade = (upgrade === null ? '' : `${upgrade}, `) + lines[i + 1]!.trim().toLowerCase()
        break
      case CONNECTION:
        upgrades ||= /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(lines[i + 1]!)
    }
  }
  if (raw.version === '2.0') upgrade = raw.protocol ?? null
  else if (!upgrades || raw.version === '1.0' || !raw.upgradable) upgrade = null

  const target = readTarget(raw.method, raw.target)
  if (typeof target === 'string') return refused(target)
  // One framing, said once (RFC 9112, 6.3): whoever stands behind may take the other.
  if (hosts > 1 || lengths + codings > 1 || (codings > 0 && raw.version === '1.0'))
    return refused('bad-request')

  let authority = ''
  const claimed = target.authority ?? raw.authority ?? host
  if (claimed === undefined) {
    if (raw.version !== '1.0') return refused('bad-authority')
  } else {
    const own = peer.secure ? 'https' : 'http'
    const named = normaliseAuthority(claimed, own)
    // The other name that the request carries must be the same one, or router and origin would disagree.
    if (
      named === null ||
      (host !== undefined && host !== claimed && normaliseAuthority(host, own) !== named)
    ) {
      return refused('bad-authority')
    }
    // A door behind client certificates is not reached through another name's connection.
    if (peer.tls && !peer.tls.serves(hostOf(named))) return refused('misdirected')
    authority = named
  }
  return { head: new Head(raw, trusts, trusted, scheme, authority, target, upgrade), fault: null, hasBody }

  function refused(code: FailureCode): JudgedHead {
    const head = new Head(raw, trusts, trusted, scheme, '', NOWHERE, null)
    return { head, fault: new ProxyError({ source: 'client', phase: 'head', code }), hasBody }
  }
}

function forwardedScheme(raw: RawHead): 'http' | 'https' {
  const told = raw.headers.all('x-forwarded-proto').at(-1)?.split(',').at(-1)?.trim().toLowerCase()
  if (told === 'https' || told === 'http') return told
  return raw.peer.secure ? 'https' : 'http'
}

/** Where a socket carries a {@link PeerTls}. A registered symbol, so that two copies of this package agree on it. */
export const PEER_TLS: unique symbol = Symbol.for('postern.peer.tls')

/** Facts of a connection, from what a socket tells. */
export function makePeer(socket: {
  remoteAddress?: string | undefined
  remotePort?: number | undefined
  localPort?: number | undefined
  encrypted?: boolean
  servername?: string | false | null
  server?: { address(): unknown } | undefined
  [PEER_TLS]?: PeerTls
}): Peer {
  const { remoteAddress, servername } = socket
  return {
    address: remoteAddress ? (canonicalAddress(remoteAddress) ?? '') : '',
    unix: !remoteAddress && typeof socket.server?.address() === 'string',
    port: socket.remotePort ?? 0,
    localPort: socket.localPort ?? 0,
    secure: socket.encrypted === true,
    serverName: typeof servername === 'string' && servername !== '' ? servername.toLowerCase() : null,
    tls: socket[PEER_TLS] ?? null,
  }
}
