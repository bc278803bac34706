/**
 * Judges the client certificate of a connection, a resumed one too.
 *
 * `socket.authorized` alone is worth nothing: on Node 20 and 22 a TLS 1.3 ticket makes it true for a client that never
 * showed a certificate, or showed one to another name. So the certificate itself has to be there, and its path is built again.
 */
import { X509Certificate } from 'node:crypto'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import QuickLRU from 'quick-lru'
import type { ChainFault } from '../x509/chain.ts'
import { verifyClientChain } from '../x509/chain.ts'
import { type ClientCertificate, describeClient, plainFingerprint } from './client.ts'
import type { ClientPolicy } from './policy.ts'

/** Why a connection is not accepted. */
export type ClientFault = 'missing' | 'not-authorized' | 'not-allowed' | 'unreadable' | ChainFault

/** Who it is, `null` for nobody, or what is wrong. */
export type ClientVerdict =
  | { readonly client: ClientCertificate | null; readonly fault: null }
  | { readonly client: null; readonly fault: ClientFault }

/** Certificates whose intermediates are remembered for resumed connections: those do not carry them. */
const REMEMBERED = 1000
const DEEPEST = 8

/** Judges connections of one store. */
export class ClientJudge {
  readonly #extras = new QuickLRU<string, readonly X509Certificate[]>({ maxSize: REMEMBERED })

  judge(socket: TLSSocket, policy: ClientPolicy | null, now: number): ClientVerdict {
    if (policy === null) return { client: null, fault: null }
    try {
      return this.#judge(socket, policy, now)
    } catch {
      // Certificates that do not follow RFC 5280.
      return refused('unreadable')
    }
  }

  #judge(socket: TLSSocket, policy: ClientPolicy, now: number): ClientVerdict {
    const shown = socket.getPeerCertificate(true)
    const { raw } = shown
    if (!(raw instanceof Uint8Array) || raw.length === 0) {
      return policy.required ? refused('missing') : { client: null, fault: null }
    }
    const full = !socket.isSessionReused()
    if (full && !socket.authorized) return refused('not-authorized')
    const leaf = new X509Certificate(raw)
    const key = `${policy.caId} ${plainFingerprint(leaf)}`
    const known = this.#extras.get(key)
    const extras = full ? issuersOf(shown) : (known ?? [])
    const { path, fault } = verifyClientChain(leaf, extras, policy.anchors, now, full || known !== undefined)
    if (fault !== null) return refused(fault)
    const client = describeClient(path)
    if (!policy.allows(client)) return refused('not-allowed')
    if (full) this.#extras.set(key, path.slice(1, -1))
    return { client, fault: null }
  }
}

function issuersOf(shown: DetailedPeerCertificate): X509Certificate[] {
  const found: X509Certificate[] = []
  const seen = new Set<string>([shown.fingerprint256])
  for (
    let next = shown.issuerCertificate;
    next?.raw && found.length < DEEPEST;
    next = next.issuerCertificate
  ) {
    // A root is its own issuer.
    if (seen.has(next.fingerprint256)) break
    seen.add(next.fingerprint256)
    found.push(new X509Certificate(next.raw))
  }
  return found
}

function refused(fault: ClientFault): ClientVerdict {
  return { client: null, fault }
}
