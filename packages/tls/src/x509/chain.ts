/** Builds and checks the path from a client's certificate to a trusted root (RFC 5280, 6), without OpenSSL's session. */
import type { X509Certificate } from 'node:crypto'
import { OID, readExtensions, readPathLength } from './extensions.ts'

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const ANY_USAGE = '2.5.29.37.0'
const LONGEST_PATH = 8
/** Signatures that are checked for one client, at most: certificates that sign each other in circles cost no more. */
const MOST_SIGNATURES = 50

/** Critical extensions that are looked at here or by node:crypto. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  OID.keyUsage,
  OID.subjectAltName,
  OID.basicConstraints,
  OID.extendedKeyUsage,
])

/** Why a certificate is not accepted. */
export type ChainFault = 'expired' | 'not-yet-valid' | 'wrong-usage' | 'unknown-extension' | 'untrusted'

/** Either a path, the leaf first and a root last, or what is wrong. */
export type ChainResult =
  | { readonly path: readonly X509Certificate[]; readonly fault: null }
  | { readonly path: null; readonly fault: ChainFault }

/**
 * Checks a client's certificate. `extras` are intermediates that nobody vouches for; only a self-signed certificate
 * of `anchors` ends a path. `constrained` accepts authorities with extensions that only OpenSSL checks (name constraints):
 * true where OpenSSL has just done so.
 */
export function verifyClientChain(
  leaf: X509Certificate,
  extras: readonly X509Certificate[],
  anchors: readonly X509Certificate[],
  now: number,
  constrained: boolean,
): ChainResult {
  const fault = validity(leaf, now)
  if (fault) return { path: null, fault }
  const usages = leaf.keyUsage as string[] | undefined
  if (usages && !usages.includes(CLIENT_AUTH) && !usages.includes(ANY_USAGE)) return refused('wrong-usage')
  if (!constrained && hasUnknown(leaf)) return refused('unknown-extension')
  const trusted = new Set(anchors.map(anchor => anchor.fingerprint256))
  const pool = [...anchors, ...extras]
  let signatures = 0
  const path = extend([leaf])
  return path ? { path, fault: null } : refused('untrusted')

  function extend(before: readonly X509Certificate[]): readonly X509Certificate[] | null {
    const last = before.at(-1)!
    if (trusted.has(last.fingerprint256) && isSelfSigned(last)) return before
    if (before.length === LONGEST_PATH) return null
    for (const issuer of pool) {
      if (before.some(one => one.fingerprint256 === issuer.fingerprint256)) continue
      if (!issuer.ca || !last.checkIssued(issuer)) continue
      if (++signatures > MOST_SIGNATURES) return null
      if (!last.verify(issuer.publicKey)) continue
      if (validity(issuer, now) !== null || !mayIssue(issuer, before.length - 1, constrained)) continue
      const found = extend([...before, issuer])
      if (found) return found
    }
    return null
  }
}

/** `between`: authorities between this one and the leaf. */
function mayIssue(issuer: X509Certificate, between: number, constrained: boolean): boolean {
  if (!constrained && hasUnknown(issuer)) return false
  return readPathLength(readExtensions(issuer.raw)) >= between
}

function hasUnknown(certificate: X509Certificate): boolean {
  for (const [oid, { critical }] of readExtensions(certificate.raw)) {
    // Name constraints are often not marked, and bind nevertheless.
    if (oid === '2.5.29.30' || (critical && !UNDERSTOOD.has(oid))) return true
  }
  return false
}

function validity(certificate: X509Certificate, now: number): ChainFault | null {
  if (now < Date.parse(certificate.validFrom)) return 'not-yet-valid'
  // Written so that a date that cannot be read counts as past.
  return now <= Date.parse(certificate.validTo) ? null : 'expired'
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey)
}

function refused(fault: ChainFault): ChainResult {
  return { path: null, fault }
}
