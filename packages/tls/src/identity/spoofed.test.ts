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
    'Certificate',
  ])('%s', name => expect(tells(name)).toBe(false))
})
