import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as der from './write.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

describe('lengths', () => {
  const cases: [length: number, written: string][] = [
    [0, '00'],
    [127, '7f'],
    [128, '8180'],
    [255, '81ff'],
    [256, '820100'],
    [65_535, '82ffff'],
    [65_536, '83010000'],
    [2 ** 40, '86010000000000'],
  ]
  test.each(cases)('%i is %s', (length, written) => expect(hex(der.derLength(length))).toBe(written))

  test('are read back as they were, in the shortest form', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), length => {
        const [first = 0, ...rest] = der.derLength(length)
        if (length < 0x80) return first === length && rest.length === 0
        const value = rest.reduce((sum, byte) => sum * 256 + byte, 0)
        return first === (0x80 | rest.length) && rest[0] !== 0 && value === length
      }),
    )
  })

  test.each([-1, 1.5, Number.NaN, 2 ** 53])('%s is refused', length => {
    expect(() => der.derLength(length)).toThrow(RangeError)
  })
})

describe('integers', () => {
  const cases: [magnitude: string, written: string][] = [
    ['', '020100'],
    ['00', '020100'],
    ['0000', '020100'],
    ['7f', '02017f'],
    ['80', '02020080'],
    ['0080', '02020080'],
    ['0001', '020101'],
    ['ff00', '020300ff00'],
  ]
  test.each(cases)('%s is %s', (magnitude, written) => {
    expect(hex(der.derInteger(Buffer.from(magnitude, 'hex')))).toBe(written)
  })

  test('keep their value, are never negative and never longer than needed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), magnitude => {
        const { tag, contents } = read(der.derInteger(magnitude))
        const value = BigInt(`0x0${hex(magnitude)}`)
        expect(tag).toBe(0x02)
        expect(BigInt(`0x0${hex(contents)}`)).toBe(value)
        expect(contents[0]).toBeLessThan(0x80)
        if (contents.length > 1 && contents[0] === 0) expect(contents[1]).toBeGreaterThanOrEqual(0x80)
      }),
    )
  })
})

test('values nest: what was put in comes out', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }), parts => {
      const { tag, contents } = read(der.derSequence(...parts.map(der.derOctetString)))
      expect(tag).toBe(0x30)
      const found: string[] = []
      for (let rest = contents; rest.length > 0; ) {
        const part = read(rest)
        found.push(hex(part.contents))
        rest = part.after
      }
      expect(found).toEqual(parts.map(hex))
    }),
  )
})

describe('other types', () => {
  const cases: [what: string, written: Uint8Array, expected: string][] = [
    ['true', der.derBoolean(true), '0101ff'],
    ['object id', der.derObjectId('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
    ['object id of joint-iso-itu-t', der.derObjectId('2.999.3'), '0603883703'],
    ['bit string', der.derBitString(Uint8Array.of(0x80), 7), '03020780'],
    ['text', der.derUtf8String('é'), '0c02c3a9'],
    ['set', der.derSetOfOne(der.derBoolean(false)), '3103010100'],
    ['explicit tag', der.derExplicit(3, der.derBoolean(true)), 'a3030101ff'],
    ['implicit tag', der.derImplicit(7, Uint8Array.of(127, 0, 0, 1)), '87047f000001'],
  ]
  test.each(cases)('%s', (_what, written, expected) => expect(hex(written)).toBe(expected))
})

describe('times follow RFC 5280, 4.1.2.5', () => {
  const cases: [date: string, tag: number, text: string][] = [
    ['1950-01-01T00:00:00Z', 0x17, '500101000000Z'],
    ['2026-03-04T05:06:07.999Z', 0x17, '260304050607Z'],
    ['2049-12-31T23:59:59Z', 0x17, '491231235959Z'],
    ['2050-01-01T00:00:00Z', 0x18, '20500101000000Z'],
    ['9999-12-31T23:59:59Z', 0x18, '99991231235959Z'],
  ]
  test.each(cases)('%s', (date, expectedTag, text) => {
    const { tag, contents } = read(der.derTime(new Date(date)))
    expect(tag).toBe(expectedTag)
    expect(Buffer.from(contents).toString()).toBe(text)
  })

  test.each(['1949-12-31T23:59:59Z', '+010000-01-01T00:00:00Z', 'never'])('%s is refused', date => {
    expect(() => der.derTime(new Date(date))).toThrow(RangeError)
  })
})

/** A reader of its own, so that a mistake of the writer does not cancel out. */
function read(bytes: Uint8Array): { tag: number; contents: Uint8Array; after: Uint8Array } {
  const first = bytes[1]!
  const count = first < 0x80 ? 0 : first - 0x80
  const length = count === 0 ? first : Number(`0x${hex(bytes.subarray(2, 2 + count))}`)
  const start = 2 + count
  expect(bytes.length).toBeGreaterThanOrEqual(start + length)
  return {
    tag: bytes[0]!,
    contents: bytes.subarray(start, start + length),
    after: bytes.subarray(start + length),
  }
}
