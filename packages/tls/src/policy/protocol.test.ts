import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { expect, test } from 'vitest'
import { keyGroups, protocolOptions } from './protocol.ts'

const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
})

test('feeling for a group leaves no error behind for the next one who reads a key', () => {
  expect(keyGroups()).toMatch(/^(X25519MLKEM768:)?X25519:P-256:P-384$/)
  expect(createPrivateKey(pem).type).toBe('private')
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'OpenSSL takes the lists for %s, and there is nothing old in them',
  version => {
    const options = protocolOptions(version)
    expect(() => createSecureContext(options)).not.toThrow()
    expect(options.ciphers).not.toMatch(/CBC|SHA(:|$)|RC4|3DES|NULL|[^E]DH-|anon/i)
    expect(options.sigalgs).not.toMatch(/sha1|md5/)
    expect(options.ciphers!.split(':')).toHaveLength(version === 'TLSv1.3' ? 3 : 9)
  },
)
