import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { developmentClient } from './client.ts'

test('is a client of an authority, and neither is anything else', () => {
  const { cert, ca } = developmentClient({ subject: 'alice', names: ['alice.internal'] })
  const [client, authority] = [new X509Certificate(cert), new X509Certificate(ca)]
  expect(client.checkIssued(authority) && client.verify(authority.publicKey)).toBe(true)
  expect([client.ca, authority.ca]).toEqual([false, true])
  expect(client.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
  expect([client.subject, client.subjectAltName]).toEqual(['CN=alice', 'DNS:alice.internal'])
})

test('refuses what no certificate can hold', () => {
  expect(() => developmentClient({ subject: 'a\nb' })).toThrow(/subject/)
  expect(() => developmentClient({ names: ['a b'] })).toThrow(/no host name/)
  expect(() => developmentClient({ days: 0 })).toThrow(/days/)
  expect(() => developmentClient({ name: 'x' } as never)).toThrow(/no such option/)
})
