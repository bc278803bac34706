/** A verified client in header fields for an upstream. */
import type { ClientCertificate } from './client.ts'

/** The certificate as a byte sequence (RFC 9440, 2.2; RFC 9651, 3.3.5). */
export function clientCertField(client: ClientCertificate): string {
  return byteSequence(client.raw)
}

/** The authorities between the certificate and its root (RFC 9440, 2.3); `null` when there are none. */
export function clientCertChainField(client: ClientCertificate): string | null {
  const between = client.path.slice(0, -1)
  return between.length === 0 ? null : between.map(byteSequence).join(', ')
}

/** Envoy's `x-forwarded-client-cert`, one element: hash, subject, then URIs and DNS names. */
export function forwardedClientCert(client: ClientCertificate): string {
  const parts = [`Hash=${client.fingerprint256}`, `Subject=${quoted(client.subject)}`]
  for (const uri of client.uris) parts.push(`URI=${element(uri)}`)
  for (const name of client.dns) parts.push(`DNS=${element(name)}`)
  return parts.join(';')
}

function byteSequence(bytes: Uint8Array): string {
  return `:${Buffer.from(bytes).toString('base64')}:`
}

function element(value: string): string {
  return /[",;=\\]/.test(value) ? quoted(value) : value
}

function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}
