import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { isGrease, ja3, ja4 } from './fingerprint.ts'
import type { ClientHello } from './parse.ts'

const hex = (text: string): number[] =>
  text === '' ? [] : text.split(',').map(one => Number.parseInt(one, 16))
const numbers = (text: string): number[] => (text === '' ? [] : text.split('-').map(Number))

function hello(fields: Partial<ClientHello>): ClientHello {
  return {
    version: 0x0303,
    ciphers: [],
    extensions: [],
    serverName: null,
    protocols: [],
    versions: [],
    groups: [],
    signatures: [],
    pointFormats: [],
    ...fields,
  }
}

const CHROME_CIPHERS = '1301,1302,1303,c02b,c02f,c02c,c030,cca9,cca8,c013,c014,009c,009d,002f,0035'
const SIGNATURES = '0403,0804,0401,0503,0805,0501,0806,0601'

describe('published JA4', () => {
  const cases: [from: string, fields: Partial<ClientHello>, expected: string][] = [
    [
      "FoxIO's specification",
      {
        ciphers: hex(CHROME_CIPHERS),
        extensions: hex('001b,0000,0033,0010,4469,0017,002d,000d,0005,0023,0012,002b,ff01,000b,000a,0015'),
        protocols: ['h2', 'http/1.1'],
        versions: [0x0304, 0x0303],
        signatures: hex(SIGNATURES),
      },
      't13d1516h2_8daaf6152771_e5627efa2ab1',
    ],
    [
      'Chrome 143, as browserleaks.com tells it',
      {
        ciphers: hex(CHROME_CIPHERS),
        extensions: hex('002d,0033,0010,fe0d,0017,44cd,0000,000b,000a,002b,ff01,0023,0012,0005,000d,001b'),
        protocols: ['h2', 'http/1.1'],
        versions: [0x0304, 0x0303],
        signatures: hex(SIGNATURES),
      },
      't13d1516h2_8daaf6152771_d8a2da3f94cd',
    ],
    [
      'the same with GREASE in every list',
      {
        ciphers: [0x0a0a, ...hex(CHROME_CIPHERS)],
        extensions: [
          0x1a1a,
          ...hex('002d,0033,0010,fe0d,0017,44cd,0000,000b,000a,002b,ff01,0023,0012,0005,000d,001b'),
          0xfafa,
        ],
        protocols: ['h2', 'http/1.1'],
        versions: [0x2a2a, 0x0304, 0x0303],
        signatures: [0x3a3a, ...hex(SIGNATURES)],
      },
      't13d1516h2_8daaf6152771_d8a2da3f94cd',
    ],
  ]
  test.each(cases)('%s', (_from, fields, expected) => expect(ja4(hello(fields))).toBe(expected))

  // FoxIO's specification, "Details": the first and last character of the first protocol, or of its hex.
  const protocols: [hex: string, mark: string][] = [
    ['ab', 'ab'],
    ['abcd', 'ad'],
    ['30ab', '3b'],
    ['3031abcd', '3d'],
    ['30abcd31', '01'],
    ['6832', 'h2'],
    ['68747470', 'hp'],
    ['68', 'hh'],
  ]
  test.each(protocols)('protocol %s is told as %s', (bytes, mark) => {
    const fields = hello({ protocols: [Buffer.from(bytes, 'hex').toString('latin1')] })
    expect(ja4(fields).slice(8, 10)).toBe(mark)
  })

  const versions: [version: number, offered: number[], mark: string][] = [
    [0x0303, [], 't12'],
    [0x0301, [], 't10'],
    [0x0300, [], 'ts3'],
    [0x0303, [0x0302, 0x0304], 't13'],
    [0x0303, [0x1a1a], 't12'],
    [0x0399, [], 't00'],
  ]
  test.each(versions)('version %i, %j is %s', (version, offered, mark) => {
    expect(ja4(hello({ version, versions: offered })).slice(0, 3)).toBe(mark)
  })

  test('nothing is zeros, much is 99', () => {
    expect(ja4(hello({}))).toBe('t12i000000_000000000000_000000000000')
    const many = Array.from({ length: 150 }, (_, i) => i + 1)
    expect(ja4(hello({ ciphers: many, extensions: many })).slice(4, 8)).toBe('9999')
  })
})

describe('published JA3', () => {
  const cases: [from: string, text: string, expected: string][] = [
    [
      'its specification',
      '769,47-53-5-10-49161-49162-49171-49172-50-56-19-4,0-10-11,23-24-25,0',
      'ada70206e40642a3e4461f35503241d5',
    ],
    [
      'its specification, without extensions',
      '769,4-5-10-9-100-98-3-6-19-18-99,,,',
      'de350869b8c85de67a350c8d186f11e6',
    ],
    [
      'Chrome 143, as browserleaks.com tells it',
      '771,4865-4866-4867-49195-49199-49196-49200-52393-52392-49171-49172-156-157-47-53,45-51-16-65037-23-17613-0-11-10-43-65281-35-18-5-13-27,4588-29-23-24,0',
      '98487aa16281980e7d1120d399efb6a4',
    ],
  ]
  test.each(cases)('%s', (_from, text, expected) => {
    const [version = '', ciphers = '', extensions = '', groups = '', pointFormats = ''] = text.split(',')
    const fields = hello({
      version: Number(version),
      ciphers: numbers(ciphers),
      extensions: numbers(extensions),
      groups: numbers(groups),
      pointFormats: numbers(pointFormats),
    })
    expect(ja3(fields)).toBe(expected)
    expect(createHash('md5').update(text).digest('hex')).toBe(expected)
  })
})

test('GREASE is exactly the sixteen values of RFC 8701', () => {
  const found = Array.from({ length: 65_536 }, (_, value) => value).filter(isGrease)
  expect(found).toEqual(Array.from({ length: 16 }, (_, i) => (i * 16 + 10) * 257))
})
