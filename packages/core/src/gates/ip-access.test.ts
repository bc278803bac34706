import { expect, test } from 'vitest'
import { ConfigError } from '../errors.ts'
import type { Reply } from '../pipeline/contract.ts'
import { testContext } from '../testing/context.ts'
import { type IpAccessOptions, ipAccess } from './ip-access.ts'

test.each([
  [{ allow: ['10.0.0.0/8'] }, ['10.1.1.1'], ['11.0.0.1', '::1', '', 'unknown']],
  [{ deny: ['10.0.0.0/8'] }, ['11.0.0.1', '::1', ''], ['10.1.1.1']],
  [{ allow: ['10.0.0.0/8'], deny: ['10.0.0.1'] }, ['10.0.0.2'], ['10.0.0.1', '1.1.1.1']],
  [{ allow: ['private'] }, ['192.168.1.1', 'fe80::1'], ['8.8.8.8']],
  [{ allow: ['2001:db8::/32', 'loopback'] }, ['2001:db8::1', '127.0.0.1'], ['2001:db9::1']],
  [{ allow: ['::ffff:10.0.0.0/104'] }, ['10.9.9.9'], ['11.0.0.1']],
  [{ allow: ['1.1.1.1'], deny: [] }, ['1.1.1.1'], ['1.1.1.2']],
] as [IpAccessOptions, string[], string[]][])('%j lets in %j and not %j', (options, inside, outside) => {
  const gate = ipAccess(options)
  for (const clientAddress of inside) {
    expect([clientAddress, gate.onRequest?.(testContext({ clientAddress }))]).toEqual([
      clientAddress,
      undefined,
    ])
  }
  for (const clientAddress of outside) {
    const refused = gate.onRequest?.(testContext({ clientAddress })) as Reply | undefined
    expect([clientAddress, refused?.status, refused?.reason]).toEqual([clientAddress, 403, 'address-denied'])
    expect(refused?.headers.get('cache-control')).toBe('no-store')
  }
})

test('asks for the client, not for the peer', () => {
  const gate = ipAccess({ allow: ['8.8.8.8'] })
  const cx = testContext({ clientAddress: '8.8.8.8', peer: { address: '10.0.0.1' } })
  expect(gate.onRequest?.(cx)).toBeUndefined()
})

test.each([
  [{}, 1],
  [{ allow: [], deny: [] }, 1],
  [{ allow: ['x', '10.0.0.0/33', '10.0.0.1'] }, 2],
  [{ deny: ['localhost'] }, 1],
] as [IpAccessOptions, number][])('%j has %i faults', (options, count) => {
  let thrown: unknown
  try {
    ipAccess(options)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(ConfigError)
  expect((thrown as ConfigError).faults).toHaveLength(count)
})

test('tells the faults of both lists, and of a list that lets nobody in', () => {
  expect(() => ipAccess({ allow: ['x'], deny: ['y'] })).toThrow(/ipAccess\.allow: 'x'.*\nipAccess\.deny: 'y'/)
  expect(() => ipAccess({ allow: [], deny: ['1.1.1.1'] })).toThrow(/nobody could come in/)
})

test('a block of IPv6 lets in no IPv4', () => {
  const gate = ipAccess({ allow: ['::/0'] })
  expect(gate.onRequest?.(testContext({ clientAddress: '2001:db8::1' }))).toBeUndefined()
  expect(gate.onRequest?.(testContext({ clientAddress: '10.0.0.1' }))).toMatchObject({ status: 403 })
})
