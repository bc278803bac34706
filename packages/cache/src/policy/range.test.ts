import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { combineParts, missingRange, parseContentRange, parseRange, resolveRange } from './range.ts'

describe('Range', () => {
  test.each([
    ['bytes=0-1', 10, { first: 0, last: 1 }],
    ['bytes=5-', 10, { first: 5, last: 9 }],
    ['bytes=-3', 10, { first: 7, last: 9 }],
    ['bytes=-30', 10, { first: 0, last: 9 }],
    ['bytes=8-100', 10, { first: 8, last: 9 }],
    ['Bytes=0-0', 10, { first: 0, last: 0 }],
    ['bytes=10-', 10, null],
    ['bytes=-0', 10, null],
    ['bytes=0-', 0, null],
  ])('%s of %i', (value, total, expected) => {
    const part = resolveRange(parseRange(value)!, total)
    expect(part).toEqual(expected && { ...expected, total })
  })

  test.each([
    'bytes=',
    'bytes=-',
    'bytes=2-1',
    'bytes=0-1,3-4',
    'items=0-1',
    'bytes=a-b',
    '0-1',
    'bytes=0-1x',
  ])('is not one range: %s', value => {
    expect(parseRange(value)).toBeNull()
  })
})

describe('Content-Range', () => {
  test.each(['bytes 0-4/*', 'bytes 5-4/10', 'bytes 0-10/10', 'bytes */10', 'bytes 0-4', '', undefined])(
    'is not whole or not possible: %s',
    value => {
      expect(parseContentRange(value)).toBeNull()
    },
  )

  test.each([
    ['bytes 0-4/10', { field: 'bytes=5-', side: 'after' }],
    ['bytes 5-9/10', { field: 'bytes=0-4', side: 'before' }],
    ['bytes 2-4/10', null],
    ['bytes 0-9/10', null],
  ])('%s lacks', (value, expected) => {
    expect(missingRange(parseContentRange(value)!)).toEqual(expected)
  })
})

describe('parts', () => {
  const whole = Uint8Array.from({ length: 20 }, (_, index) => index)
  const piece = (first: number, last: number, etag: string | undefined = '"a"') => ({
    part: { first, last, total: 20 },
    body: whole.slice(first, last + 1),
    etag,
  })

  test('that touch or overlap give what the whole has there', () => {
    const place = fc.nat(19)
    fc.assert(
      fc.property(place, place, place, place, (a, b, c, d) => {
        const one = piece(Math.min(a, b), Math.max(a, b))
        const two = piece(Math.min(c, d), Math.max(c, d))
        const gap = one.part.last + 1 < two.part.first || two.part.last + 1 < one.part.first
        const both = combineParts(one, two)
        expect(both === null).toBe(gap)
        if (both === null) return
        expect(both.part.first).toBe(Math.min(one.part.first, two.part.first))
        expect(both.body).toEqual(whole.slice(both.part.first, both.part.last + 1))
      }),
    )
  })

  test.each([
    ['other tags', '"a"', '"b"'],
    ['weak tags', 'W/"a"', 'W/"a"'],
    ['no tags', undefined, undefined],
  ])('with %s do not fit', (_name, a, b) => {
    expect(combineParts({ ...piece(0, 4), etag: a }, { ...piece(5, 9), etag: b })).toBeNull()
  })
})
