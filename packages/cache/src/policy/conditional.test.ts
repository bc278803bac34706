import { HeaderList } from '@postern/core'
import { describe, expect, test } from 'vitest'
import { isNotModified, notModifiedFields, rangeHolds, selects, validatingFields } from './conditional.ts'

const date = Date.UTC(2026, 0, 2)
const utc = (seconds: number): string => new Date(date + seconds * 1000).toUTCString()
const stored = { etag: '"abc"', lastModified: utc(-3000), date }
const untagged = { ...stored, etag: undefined }
const bare = { etag: undefined, lastModified: undefined, date }

describe('304', () => {
  test.each([
    ['the tag', '"abc"', undefined, stored, true],
    ['its weak form', 'W/"abc"', undefined, stored, true],
    ['one of many', '"x", "abc" , "y"', undefined, stored, true],
    ['a star', '*', undefined, bare, true],
    ['another tag', '"x"', undefined, stored, false],
    ['a tag within a tag', '"x, \\"abc\\""', undefined, stored, false],
    ['a tag that is none', 'abc', undefined, stored, false],
    ['the tag wins over the date', '"x"', utc(0), stored, false],
    ['the date', undefined, utc(-3000), stored, true],
    ['a later date', undefined, utc(-10), stored, true],
    ['an earlier date', undefined, utc(-3001), stored, false],
    ['no date at all', undefined, 'yesterday', stored, false],
    ['RFC 850', undefined, 'Friday, 02-Jan-26 00:00:00 GMT', untagged, true],
    ['no Last-Modified, before Date', undefined, utc(-1), bare, false],
    ['no Last-Modified, at Date', undefined, utc(0), bare, true],
    ['no condition', undefined, undefined, stored, false],
  ] as const)('%s', (_name, inm, ims, of, expected) => {
    expect(isNotModified(inm, ims, of)).toBe(expected)
  })

  test('carries what the 200 would have of these, and nothing else', () => {
    const raw = ['Date', 'x', 'ETag', '"a"', 'Content-Type', 'y', 'vary', 'z', 'Set-Cookie', 'a=b']
    expect(notModifiedFields(raw)).toEqual(['Date', 'x', 'ETag', '"a"', 'vary', 'z'])
  })
})

test('If-Range compares strongly', () => {
  expect(rangeHolds('"abc"', stored)).toBe(true)
  expect(rangeHolds('"x"', stored)).toBe(false)
  expect(rangeHolds('W/"abc"', { ...stored, etag: 'W/"abc"' })).toBe(false)
  expect(rangeHolds(utc(-3000), stored)).toBe(true)
  expect(rangeHolds(utc(-2999), stored)).toBe(false)
  // Too near to Date: it may have changed twice in that second.
  expect(rangeHolds(utc(0), { ...stored, lastModified: utc(0) })).toBe(false)
})

test('the cache asks with all that it has', () => {
  expect(validatingFields(stored)).toEqual(['If-None-Match', '"abc"', 'If-Modified-Since', utc(-3000)])
  expect(validatingFields(bare)).toEqual([])
})

test('a 304 with another strong tag speaks of something else', () => {
  expect(selects(HeaderList.from({ ETag: '"abc"' }), stored)).toBe(true)
  expect(selects(HeaderList.from({ ETag: '"x"' }), stored)).toBe(false)
  expect(selects(new HeaderList(), stored)).toBe(true)
})
