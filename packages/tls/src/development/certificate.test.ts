import { createPrivateKey, X509Certificate } from 'node:crypto'
import { ConfigError } from '@postern/core'
import { describe, expect, test } from 'vitest'
import { developmentCertificate } from './certificate.ts'

const NOW = Date.UTC(2026, 4, 6, 7, 8, 9)

function make(options: Parameters<typeof developmentCertificate>[0] = {}) {
  const made = developmentCertificate({ clock: () => NOW, ...options })
  return { ...made, parsed: new X509Certificate(made.cert) }
}

test('by default for localhost in its three spellings, for 30 days, from an hour ago', () => {
  const { parsed, fingerprint256 } = make()
  expect(parsed.checkHost('localhost')).toBe('localhost')
  expect(parsed.checkIP('127.0.0.1')).toBe('127.0.0.1')
  expect(parsed.checkIP('::1')).toBe('::1')
  expect(parsed.checkHost('example.com')).toBeUndefined()
  expect(parsed.checkIP('127.0.0.2')).toBeUndefined()
  expect(Date.parse(parsed.validFrom)).toBe(NOW - 3_600_000)
  expect(Date.parse(parsed.validTo)).toBe(NOW + 30 * 86_400_000)
  expect(parsed.fingerprint256).toBe(fingerprint256)
})

test('is signed by its own key, as a server and as no authority', () => {
  const { parsed, key } = make()
  expect(parsed.verify(parsed.publicKey)).toBe(true)
  expect(parsed.checkPrivateKey(createPrivateKey(key))).toBe(true)
  expect(parsed.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  expect(parsed.ca).toBe(false)
  expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  expect(parsed.issuer).toBe(parsed.subject)
  expect(parsed.subject).toBe('CN=Postern development certificate')
})

test('stands for the names given and no others', () => {
  const { parsed } = make({ names: ['APP.example', '*.app.localhost', '192.0.2.7', '2001:db8::1'] })
  expect(parsed.subjectAltName).toBe(
    'DNS:app.example, DNS:*.app.localhost, IP Address:192.0.2.7, IP Address:2001:DB8:0:0:0:0:0:1',
  )
  expect(parsed.checkHost('x.app.localhost')).toBe('*.app.localhost')
  expect(parsed.checkHost('x.y.app.localhost')).toBeUndefined()
  expect(parsed.checkHost('localhost')).toBeUndefined()
})

describe('serial numbers', () => {
  const cases: [what: string, fill: number, serial: string][] = [
    ['zeros', 0x00, `40${'00'.repeat(15)}`],
    ['ones', 0xff, `7F${'FF'.repeat(15)}`],
    ['a pattern', 0xa5, `65${'A5'.repeat(15)}`],
  ]
  test.each(cases)('from %s: positive and 127 bits', (_what, fill, serial) => {
    expect(make({ random: size => new Uint8Array(size).fill(fill) }).parsed.serialNumber).toBe(serial)
  })

  test('differ from one certificate to the next, and so do keys', () => {
    const [a, b] = [make(), make()]
    expect(a.parsed.serialNumber).not.toBe(b.parsed.serialNumber)
    expect(a.key).not.toBe(b.key)
  })
})

describe('validity across 2050, where the spelling of times changes', () => {
  const cases: [clock: string, from: string, to: string][] = [
    ['2049-12-31T12:00:00Z', '2049-12-31T11:00:00Z', '2050-01-01T12:00:00Z'],
    ['2050-01-01T00:30:00Z', '2049-12-31T23:30:00Z', '2050-01-02T00:30:00Z'],
    ['2077-01-01T00:00:00Z', '2076-12-31T23:00:00Z', '2077-01-02T00:00:00Z'],
  ]
  test.each(cases)('%s', (clock, from, to) => {
    const { parsed } = make({ clock: () => Date.parse(clock), days: 1 })
    expect(Date.parse(parsed.validFrom)).toBe(Date.parse(from))
    expect(Date.parse(parsed.validTo)).toBe(Date.parse(to))
  })
})

test('all faults are told at once', () => {
  const build = () =>
    developmentCertificate({ names: ['ok.example', 'no_host', '*'], days: 0, clock: () => Number.NaN })
  expect(build).toThrow(ConfigError)
  try {
    build()
  } catch (error) {
    expect((error as ConfigError).faults.map(fault => fault.place)).toEqual([
      'developmentCertificate.names[1]',
      'developmentCertificate.names[2]',
      'developmentCertificate.days',
      'developmentCertificate.clock',
    ])
  }
})

test.each([0, -1, 1.5, 826, Number.NaN, '30'])('%s days are refused', days => {
  expect(() => developmentCertificate({ days: days as number })).toThrow(/developmentCertificate\.days/)
})
