/** Versions, cipher suites, groups and signature algorithms: one list each, for servers of today. */
import { constants } from 'node:crypto'
import { createSecureContext, type SecureContextOptions } from 'node:tls'

/** TLS 1.3 has five suites; these three are what browsers offer (RFC 8446, B.4). The short key first: it is as safe and quicker. */
const SUITES_13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']

/** TLS 1.2 with forward secrecy and authenticated encryption only (RFC 9325, 4.2). */
const SUITES_12 = [
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
]

/** No SHA-1. PKCS #1 v1.5 is for certificates and TLS 1.2; 1.3 does not sign handshakes with it. */
const SIGNATURES = [
  ...['ecdsa_secp256r1_sha256', 'ecdsa_secp384r1_sha384', 'ecdsa_secp521r1_sha512', 'ed25519'],
  ...['rsa_pss_rsae_sha256', 'rsa_pss_rsae_sha384', 'rsa_pss_rsae_sha512'],
  ...['rsa_pss_pss_sha256', 'rsa_pss_pss_sha384', 'rsa_pss_pss_sha512'],
  ...['rsa_pkcs1_sha256', 'rsa_pkcs1_sha384', 'rsa_pkcs1_sha512'],
]

const NO_TICKET = (constants as { SSL_OP_NO_TICKET?: number }).SSL_OP_NO_TICKET ?? 0x4000

const GROUPS = ['X25519', 'P-256', 'P-384']
/** Hybrid with ML-KEM-768 (draft-ietf-tls-ecdhe-mlkem): OpenSSL has it from 3.5. */
const HYBRID = 'X25519MLKEM768'

const NO_RENEGOTIATION =
  (constants as { SSL_OP_NO_RENEGOTIATION?: number }).SSL_OP_NO_RENEGOTIATION ?? 0x4000_0000
/** A client that names ChaCha20 first has no AES in its hardware. */
const CHACHA_IF_FIRST =
  (constants as { SSL_OP_PRIORITIZE_CHACHA?: number }).SSL_OP_PRIORITIZE_CHACHA ?? 0x20_0000

/** Oldest version of TLS that is spoken. */
export type OldestVersion = 'TLSv1.2' | 'TLSv1.3'

/** What does not depend on the certificate. */
export type ProtocolOptions = Pick<
  SecureContextOptions,
  'minVersion' | 'ciphers' | 'ecdhCurve' | 'sigalgs' | 'honorCipherOrder' | 'secureOptions'
>

/** Groups for key exchange, in order of preference, as this OpenSSL has them. */
export function keyGroups(): string {
  found ??= knows(HYBRID) ? [HYBRID, ...GROUPS] : GROUPS
  return found.join(':')
}

let found: string[] | null = null

function knows(group: string): boolean {
  try {
    createSecureContext({ ecdhCurve: `${group}:X25519` })
    return true
  } catch {
    // OpenSSL keeps the error, and the next key that is read would be blamed for it; a context that works clears it.
    createSecureContext()
    return false
  }
}

/**
 * Options for a context. All suites are safe, so the cheapest wins: programs on OpenSSL name AES-256 with SHA-384 first, which makes
 * the handshake some per cent dearer and the bytes more so.
 */
export function protocolOptions(minVersion: OldestVersion): ProtocolOptions & { secureOptions: number } {
  return {
    minVersion,
    ciphers: [...SUITES_13, ...(minVersion === 'TLSv1.2' ? SUITES_12 : [])].join(':'),
    ecdhCurve: keyGroups(),
    sigalgs: SIGNATURES.join(':'),
    honorCipherOrder: true,
    // A second handshake inside TLS 1.2 could show another certificate after the first was judged.
    secureOptions: NO_RENEGOTIATION | CHACHA_IF_FIRST,
  }
}

/** The same, for a server that resumes no session. OpenSSL knows no such switch for one version of TLS. */
export function withoutTickets(minVersion: OldestVersion): Pick<ProtocolOptions, 'secureOptions'> {
  return { secureOptions: protocolOptions(minVersion).secureOptions | NO_TICKET }
}
