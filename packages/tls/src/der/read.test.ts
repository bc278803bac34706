import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { derChildren, readDer, readObjectId, readTime } from './read.ts'
import * as der from './write.ts'

const hex = (text: string): Uint8Array => Buffer.from(text.replaceAll(' ', ''), 'hex')

test('reads what was written', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), parts => {
      const list = derChildren(readDer(der.derSequence(...parts.map(der.derOctetString))))
      expect(list.map(child => Buffer.from(child.contents).toString('hex'))).toEqual(
        parts.map(part => Buffer.from(part).toString('hex')),
      )
    }),
  )
})

describe('refuses', () => {
  const cases: [what: string, bytes: string][] = [
    ['nothing', ''],
    ['a tag alone', '30'],
    ['contents that are cut', '3002 01'],
    ['bytes behind the value', '0500 00'],
    ['an indefinite length', '3080 0000'],
    ['a long form that could be short', '048105 0000000000'],
    ['a length with a leading zero', `04820080${'00'.repeat(128)}`],
    ['a length of five bytes', '04850000000001 00'],
    ['a length that is cut', '0482 01'],
    ['a tag of several bytes', '1f8101 00'],
  ]
  test.each(cases)('%s', (_what, bytes) => expect(() => readDer(hex(bytes))).toThrow(RangeError))
})

test('never throws anything but a RangeError, and never reads beyond the end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), bytes => {
      try {
        const value = readDer(bytes)
        expect(value.whole.length).toBe(bytes.length)
        for (const child of derChildren(value)) expect(child.contents.length).toBeLessThan(bytes.length)
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    }),
    { numRuns: 2000 },
  )
})

test.each(['1.2.840.113549.1.9.14', '2.5.29.17', '2.999.3', '0.9.2342', '1.3.6.1.5.5.7.1.31'])(
  'object id %s',
  id => {
    expect(readObjectId(readDer(der.derObjectId(id)).contents)).toBe(id)
  },
)

test.each(['', '80', '2a80'])('object id %j is refused', bytes =>
  expect(() => readObjectId(hex(bytes))).toThrow(RangeError),
)

test('times', () => {
  for (const text of ['1950-01-01T00:00:00Z', '2049-12-31T23:59:59Z', '2050-01-01T00:00:00Z']) {
    expect(readTime(readDer(der.derTime(new Date(text))))).toBe(Date.parse(text))
  }
  expect(() => readTime(readDer(der.derUtf8String('20500101000000Z')))).toThrow(RangeError)
  expect(() => readTime(readDer(der.derValue(0x18, Buffer.from('20500101000000+01'))))).toThrow(RangeError)
})
