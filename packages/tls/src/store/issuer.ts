/** Something that gets certificates by itself, such as ACME. */
import type { Awaitable } from '@postern/core'
import type { CertificateInput } from './material.ts'

/** What the store asks of an issuer. */
export interface CertificateIssuer {
  /** Certificates that are there already; at the start and at each reload. */
  load(): Awaitable<readonly CertificateInput[]>
  /** Begins to issue and renew. `changed` makes the store load again. */
  start(changed: () => Promise<unknown>): void
  /** Certificate for a validation by TLS-ALPN-01 of this name (RFC 8737); `null` without one. */
  challenge(name: string): CertificateInput | null
  /** Tries to get a certificate for a name that nobody has; `null` when it will not. */
  missing(name: string): Promise<void> | null
  close(): void
}
