import { HeaderList } from '@postern/core'
import { describe, expect, test } from 'vitest'
import { parseTargeted, responseDirectives } from './targeted.ts'

const targets = ['cdn-cache-control']

describe('CDN-Cache-Control', () => {
  test.each([
    ['max-age=60', { maxAge: 60 }],
    ['foobar, max-age=60', { maxAge: 60 }],
    ['max-age=60;x=1', { maxAge: 60 }],
    ['no-store, max-age=5', { noStore: true, maxAge: 5 }],
    ['no-store=?0, max-age=5', { noStore: false, maxAge: 5 }],
    ['private=("set-cookie" "b")', { withheld: ['set-cookie', 'b'], isPrivate: false }],
    ['no-cache="a"', { withheld: ['a'] }],
    ['max-age=-1', { maxAge: 0 }],
    // The wrong type is as good as not said.
    ['max-age="60"', { maxAge: null }],
    ['max-age', { maxAge: 0 }],
    // The last of a key counts in a dictionary.
    ['max-age=60, max-age=5', { maxAge: 5 }],
  ])('%s', (value, expected) => {
    expect(parseTargeted(value)).toMatchObject(expected)
  })

  test.each(['', 'max-age =60', 'max-age= 60', 'MaX-aGe=60', 'max-age=60, &&&', 'max-age=60,', '"x"'])(
    'is ignored as a whole when it is no dictionary: %s',
    value => {
      expect(parseTargeted(value)).toBeNull()
    },
  )

  test('overrides both ways', () => {
    const stricter = HeaderList.from({ 'Cache-Control': 'max-age=60', 'CDN-Cache-Control': 'no-store' })
    expect(responseDirectives(stricter, targets)).toMatchObject({
      targeted: true,
      directives: { noStore: true, maxAge: null },
    })
    const laxer = HeaderList.from({ 'Cache-Control': 'no-store', 'CDN-Cache-Control': 'max-age=60' })
    expect(responseDirectives(laxer, targets).directives).toMatchObject({ noStore: false, maxAge: 60 })
  })

  test('the first valid one of several targets counts', () => {
    const headers = HeaderList.from({ 'A-Cache-Control': '!', 'CDN-Cache-Control': 'max-age=1' })
    expect(responseDirectives(headers, ['a-cache-control', 'cdn-cache-control']).directives.maxAge).toBe(1)
    headers.set('A-Cache-Control', 'max-age=2')
    expect(responseDirectives(headers, ['a-cache-control', 'cdn-cache-control']).directives.maxAge).toBe(2)
  })
})
