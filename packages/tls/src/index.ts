/** @postern/tls: certificates, TLS policy and the identity of clients. */
export { type Acme, acme } from './acme/acme.ts'
export type { ChallengeType, DnsProvider } from './acme/challenges.ts'
export type { ExternalAccount } from './acme/jws.ts'
export { type AcmeAuthority, type AcmeOptions, LETS_ENCRYPT, type OnDemandOptions } from './acme/options.ts'
export { type AcmeStorage, fileStorage, memoryStorage } from './acme/storage.ts'
export {
  type DevelopmentCertificate,
  type DevelopmentCertificateOptions,
  developmentCertificate,
} from './development/certificate.ts'
export {
  type DevelopmentClient,
  type DevelopmentClientOptions,
  developmentClient,
} from './development/client.ts'
export type { TlsEvent, TlsLog } from './events.ts'
export { inspect } from './front/inspect.ts'
export { type Front, type FrontCounts, listen } from './front/listen.ts'
export type { ListenOptions } from './front/options.ts'
export type { ReceptionCounts, ReceptionOptions } from './front/reception.ts'
export { type RedirectOptions, redirectToHttps } from './front/redirect.ts'
export type { RelayTable, RelayTarget } from './front/relay.ts'
export type { HelloFacts } from './hello/facts.ts'
export { ja3, ja4 } from './hello/fingerprint.ts'
export { type FingerprintOptions, fingerprints, type HelloGate } from './hello/gate.ts'
export { type ClientHello, type HelloResult, parseClientHello } from './hello/parse.ts'
export type { ClientCertificate } from './identity/client.ts'
export {
  type ClientIdentityOptions,
  type ClientIdentityState,
  clientIdentity,
} from './identity/client-identity.ts'
export type { ClientAllowList, ClientPolicyOptions, ClientPolicyTable } from './identity/policy.ts'
export type { OldestVersion } from './policy/protocol.ts'
export { type TlsFacts, tlsOf } from './server/facts.ts'
export type { ServerOptionsOptions } from './server/options.ts'
export type { TlsCounts } from './server/protect.ts'
export type { CertificateIssuer } from './store/issuer.ts'
export type { Certificate, CertificateInput } from './store/material.ts'
export { type TlsMetricsOptions, tlsMetrics } from './store/metrics.ts'
export type { CertificateFiles, CertificatesOptions } from './store/options.ts'
export { type CertificateStore, certificates } from './store/store.ts'
export {
  type TicketKeyOptions,
  type TicketKeyProvider,
  type TicketKeySet,
  ticketKeys,
} from './tickets/keys.ts'
