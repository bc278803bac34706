import { describe, expect, test } from 'vitest'
import { identityNames } from './spoofed.ts'

const tells = identityNames(['X-Who'])

describe('fields that tell an identity', () => {
  test.each([
    'Client-Cert',
    'client-cert-chain',
    'CLIENT_CERT',
    'Client.Cert',
    'Client~Cert',
    'X-Forwarded-Client-Cert',
    'x_forwarded_client_cert',
    'X-Forwarded-Tls-Client-Cert-Info',
    'X-Client-Cert-SHA256',
    'X-SSL-Client-Verify',
    'SSL_CLIENT_S_DN',
    'X-SSL-Client-I-DN',
    'X-Client-DN',
    'X-Client-Verified',
    'X-ARR-ClientCert',
    'X-Amzn-Mtls-Clientcert-Leaf',
    'Ssl-Client-Fingerprint',
    'X-Ssl-Cert',
    'x-who',
    'X_WHO',
    'WL-Proxy-Client-Cert',
    'Cf-Client-Cert-Sha256',
    'Cf-Cert-Presented',
    'X-SSL-Client-CN',
    'X-TLS-Client-CN',
    'X-Client-CN',
    'X-SSL-Subject',
    'SSL_S_DN',
    'SSLClientCertSN',
    'X-Goog-Client-Cert-Hash',
    'Fastly-Client-Certificate',
    'X-Nginx-Ssl-Client-Verify',
    '$WSCC',
  ])('%s', name => expect(tells(name)).toBe(true))
})

describe('fields that do not', () => {
  test.each([
    'Host',
    'X-Client-Id',
    'Client-IP',
    'X-Client',
    'X-Client-Sanity',
    'Accept',
    'X-Whom',
    'Sec-WebSocket-Key',
    'X-Client-Version',
    'X-Client-Data',
    'X-Forwarded-Proto',
    'True-Client-IP',
    'X-Client-Device',
    'X-Oauth-Client-Id',
    'Certificate',
  ])('%s', name => expect(tells(name)).toBe(false))
})
