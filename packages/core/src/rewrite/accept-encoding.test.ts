import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasZstd } from '../body/coding/codings.ts'
import { chooser, decodableOnly } from './accept-encoding.ts'
import { typeTest } from './media-types.ts'

const choose = chooser(['br', 'gzip', 'deflate'])

test.each([
  [undefined, null, true],
  ['', null, true],
  ['identity', null, true],
  ['gzip', 'gzip', true],
  ['x-gzip', 'gzip', true],
  ['GZIP', 'gzip', true],
  ['gzip, deflate, br', 'br', true],
  ['gzip;q=1, br;q=0.9', 'gzip', true],
  ['gzip;q=0', null, true],
  ['gzip;q=0.000', null, true],
  ['br;q=0, *', 'gzip', true],
  ['*', 'br', true],
  ['*;q=0', null, false],
  ['*;q=0, gzip', 'gzip', false],
  ['*;q=0, identity', null, true],
  ['identity;q=0', null, false],
  ['identity;q=0, gzip', 'gzip', false],
  ['identity, gzip;q=0.5', null, true],
  ['identity;q=0.5, gzip;q=0.5', 'gzip', true],
  ['zstd', null, true],
  ['gzip;q=2', null, true],
  ['gzip;q=0.1234', null, true],
  ['gzip;level=5', null, true],
  ['gzip ; q=0.5, deflate;\tQ=0.7', 'deflate', true],
  ['frob, gzip', 'gzip', true],
  ['gzip;q=0, gzip', null, true],
  [`${'x,'.repeat(40)}gzip`, null, true],
])('Accept-Encoding: %s chooses %s (identity: %s)', (value, coding, identity) => {
  expect(choose(value)).toEqual({ coding, identity })
  // The second answer comes from what was kept.
  expect(choose(value)).toEqual({ coding, identity })
})

test('whatever is asked: what is chosen is offered, and was not refused', () => {
  const member = fc.tuple(
    fc.constantFrom('gzip', 'br', 'deflate', 'identity', '*', 'frob', ''),
    fc.constantFrom('', ';q=0', ';q=1', ';q=0.5', ';q=x', ';q=0.001'),
  )
  fc.assert(
    fc.property(fc.array(member, { maxLength: 6 }), members => {
      const value = members.map(([name, q]) => name + q).join(', ')
      const { coding } = choose(value)
      if (coding === null) return
      const said =
        members.find(([name, q]) => name === coding && q !== ';q=x') ??
        members.find(([name, q]) => name === '*' && q !== ';q=x')
      expect(said, value).toBeDefined()
      expect(said![1]).not.toBe(';q=0')
    }),
  )
})

describe('what is asked of an upstream whose replies are read', () => {
  const zstd = hasZstd ? ', zstd' : ''
  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br', 'gzip, deflate, br'],
    ['gzip, deflate, br, zstd', `gzip, deflate, br${zstd}`],
    ['gzip;q=0.5, compress, frob;q=0.1', 'gzip;q=0.5'],
    ['compress', 'identity'],
    ['dcb, dcz', 'identity'],
    ['gzip, identity;q=0', 'gzip, identity;q=0'],
    ['gzip, *;q=0', `gzip, br;q=0${hasZstd ? ', zstd;q=0' : ''}, deflate;q=0, identity;q=0`],
    ['*', `br;q=1${hasZstd ? ', zstd;q=1' : ''}, gzip;q=1, deflate;q=1`],
  ])('%s: %s', (value, expected) => {
    expect(decodableOnly(value)).toBe(expected)
  })
})

test.each([
  [['text/*'], 'Text/HTML; charset=utf-8', true],
  [['text/*'], 'textual/x', false],
  [['text/html'], 'text/html', true],
  [['text/html'], 'text/htmlx', false],
  [['*/*+json'], 'application/problem+json;x', true],
  [['*/*+json'], 'application/json', false],
  [['*/*'], 'anything', true],
  [['*/*'], undefined, false],
  [[], 'text/html', false],
])('%j is for %s: %s', (patterns, type, expected) => {
  expect(typeTest(patterns)(type)).toBe(expected)
})
