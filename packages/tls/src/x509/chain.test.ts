import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { authority, type Issued } from '../../test/support/authority.ts'
import * as der from '../der/write.ts'
import { buildCertificate, extension, serialNumber } from './build.ts'
import { verifyClientChain } from './chain.ts'
import { OID } from './extensions.ts'

const now = Date.now()
const read = ({ cert }: Issued): X509Certificate => new X509Certificate(cert)
const root = authority('Root')
const middle = root.intermediate('Middle')
const leaf = middle.issue({ client: true })

function fault(of: Issued, extras: Issued[], anchors: Issued[], constrained = false): string | null {
  return verifyClientChain(read(of), extras.map(read), anchors.map(read), now, constrained).fault
}

test('finds the path through intermediates, in any order, wherever they come from', () => {
  const other = root.intermediate('Other')
  expect(fault(leaf, [other, middle], [root])).toBeNull()
  expect(fault(leaf, [], [middle, root])).toBeNull()
  expect(verifyClientChain(read(leaf), [read(middle)], [read(root)], now, false).path).toHaveLength(3)
})

describe('refuses', () => {
  const twin = authority('Root')
  const nameConstraints = extension('2.5.29.30', true, der.derSequence())
  const constrained = root.intermediate('Constrained', undefined, [nameConstraints])
  const server = middle.issue({ names: ['a.test'] })
  const cases: [what: string, leaf: Issued, extras: Issued[], anchors: Issued[], fault: string][] = [
    ['a path without its intermediate', leaf, [], [root], 'untrusted'],
    ['an intermediate alone as the end of a path', leaf, [], [middle], 'untrusted'],
    ['a root of the same name with another key', leaf, [middle], [twin], 'untrusted'],
    ['a root that the client brings along', leaf, [middle, root], [twin], 'untrusted'],
    ['a leaf as an authority', leaf, [root.issue({ subject: 'Middle', client: true })], [root], 'untrusted'],
    ["a server's certificate", server, [middle], [root], 'wrong-usage'],
    [
      'an authority whose constraints nobody has checked',
      constrained.issue({ client: true }),
      [constrained],
      [root],
      'untrusted',
    ],
    ['an ended certificate', middle.issue({ client: true, to: now - 1000 }), [middle], [root], 'expired'],
    [
      'one of tomorrow',
      middle.issue({ client: true, from: now + 60_000 }),
      [middle],
      [root],
      'not-yet-valid',
    ],
  ]
  test.each(cases)('%s', (_what, certificate, extras, anchors, expected) => {
    expect(fault(certificate, extras, anchors)).toBe(expected)
  })

  test('too many authorities below one that limits them', () => {
    const limited = root.intermediate('Limited', 0)
    expect(fault(limited.issue({ client: true }), [limited], [root])).toBeNull()
    const below = limited.intermediate('Below')
    expect(fault(below.issue({ client: true }), [limited, below], [root])).toBe('untrusted')
  })

  test('constraints pass where OpenSSL has checked them', () => {
    expect(fault(constrained.issue({ client: true }), [constrained], [root], true)).toBeNull()
  })
})

test('authorities that sign each other in circles cost no more than fifty signatures', () => {
  const keys = Array.from({ length: 6 }, () => generateKeyPairSync('ec', { namedCurve: 'P-256' }))
  const circle = keys.flatMap(subject =>
    keys.map(issuer => {
      const fields = {
        serialNumber: serialNumber(randomBytes),
        subject: 'Circle',
        from: new Date(now - 1000),
        to: new Date(now + 3_600_000),
        publicKey: subject.publicKey,
        extensions: [extension(OID.basicConstraints, true, der.derSequence(der.derBoolean(true)))],
      }
      return new X509Certificate(Buffer.from(buildCertificate(fields, issuer.privateKey)))
    }),
  )
  const client = buildCertificate(
    {
      serialNumber: serialNumber(randomBytes),
      issuer: 'Circle',
      subject: 'client',
      from: new Date(now - 1000),
      to: new Date(now + 3_600_000),
      publicKey: keys[0]!.publicKey,
      extensions: [],
    },
    keys[0]!.privateKey,
  )
  const verify = vi.spyOn(X509Certificate.prototype, 'verify')
  const result = verifyClientChain(new X509Certificate(Buffer.from(client)), circle, [read(root)], now, true)
  expect(result.fault).toBe('untrusted')
  expect(verify.mock.calls.length).toBeLessThanOrEqual(51)
  verify.mockRestore()
})
