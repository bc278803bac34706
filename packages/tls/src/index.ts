/**
 * @postern/tls: certificates and TLS identity.
 *
 * So far it makes a certificate for development. Loading and reloading certificates, choosing them by server name,
 * session tickets, client certificates and ACME are not here yet.
 */
export {
  type DevelopmentCertificate,
  type DevelopmentCertificateOptions,
  developmentCertificate,
} from './development/certificate.ts'
