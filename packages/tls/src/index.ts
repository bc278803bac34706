/** @postern/tls: certificates, TLS policy and the identity of clients. */
export {
  type DevelopmentCertificate,
  type DevelopmentCertificateOptions,
  developmentCertificate,
} from './development/certificate.ts'
export type { TlsEvent, TlsLog } from './events.ts'
export type { ClientCertificate } from './identity/client.ts'
export {
  type ClientIdentityOptions,
  type ClientIdentityState,
  clientIdentity,
} from './identity/client-identity.ts'
export type { ClientAllowList, ClientPolicyOptions } from './identity/policy.ts'
export type { OldestVersion } from './policy/protocol.ts'
export { type TlsFacts, tlsOf } from './server/facts.ts'
export type { ServerOptionsOptions } from './server/options.ts'
export type { TlsCounts } from './server/protect.ts'
export type { CertificateIssuer } from './store/issuer.ts'
export type { Certificate, CertificateInput } from './store/material.ts'
export type { CertificateFiles, CertificatesOptions } from './store/options.ts'
export { type CertificateStore, certificates } from './store/store.ts'
export {
  type TicketKeyOptions,
  type TicketKeyProvider,
  type TicketKeySet,
  ticketKeys,
} from './tickets/keys.ts'
