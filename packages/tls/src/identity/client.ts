/** What is known of a client that has proved who it is. */
import type { X509Certificate } from 'node:crypto'
import { readAltNames, readExtensions } from '../x509/extensions.ts'

/** A client's certificate, verified against the policy of the connection's server name. */
export interface ClientCertificate {
  /** SHA-256 of the DER, lower-case hex. */
  readonly fingerprint256: string
  /** Distinguished name, most significant part last: `CN=a, O=b`. Control characters are replaced. */
  readonly subject: string
  readonly issuer: string
  /** Hex, upper case. */
  readonly serialNumber: string
  /** DNS names of `subjectAltName`, lower case. */
  readonly dns: readonly string[]
  readonly uris: readonly string[]
  readonly emails: readonly string[]
  /** Milliseconds since 1970. */
  readonly validFrom: number
  /** Milliseconds since 1970. */
  readonly validTo: number
  /** The certificate, DER. */
  readonly raw: Uint8Array
  /** The verified path behind it: intermediates, then the root; DER. */
  readonly path: readonly Uint8Array[]
  /** SHA-256 of each authority of the path, lower-case hex. */
  readonly authorities: readonly string[]
}

/** Tells a verified path as plain data. */
export function describeClient(path: readonly X509Certificate[]): ClientCertificate {
  const leaf = path[0]!
  const names = readAltNames(readExtensions(leaf.raw))
  return {
    fingerprint256: plainFingerprint(leaf),
    subject: nameLine(leaf.subject),
    issuer: nameLine(leaf.issuer),
    serialNumber: leaf.serialNumber,
    dns: names.dns,
    uris: names.uris,
    emails: names.emails,
    validFrom: Date.parse(leaf.validFrom),
    validTo: Date.parse(leaf.validTo),
    raw: leaf.raw,
    path: path.slice(1).map(one => one.raw),
    authorities: path.slice(1).map(plainFingerprint),
  }
}

export function plainFingerprint(certificate: X509Certificate): string {
  return certificate.fingerprint256.replaceAll(':', '').toLowerCase()
}

function nameLine(name: string | undefined): string {
  return (name ?? '')
    .split('\n')
    .reverse()
    .join(', ')
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 1024)
}
