import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseHttpDate } from './dates.ts'

describe('dates', () => {
  const at = Date.UTC(1994, 10, 6, 8, 49, 37)
  test.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', at],
    ['Sunday, 06-Nov-94 08:49:37 GMT', at],
    ['Sun Nov  6 08:49:37 1994', at],
    ['sUN, 06 nOV 1994 08:49:37 gmt', at],
    ['Thu, 18 Aug 2050 02:01:18 GMT', Date.UTC(2050, 7, 18, 2, 1, 18)],
    ['Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
  ])('%s', (text, expected) => {
    expect(parseHttpDate(text)).toBe(expected)
  })

  test.each([
    '0',
    '',
    'Thu, 18 Aug 2050 02:01:18 UTC',
    'Thu, 18 Aug 2050 02:01:18 AEST',
    'Thu, 18 Aug 50 02:01:18 GMT',
    'Thu 18 Aug 2050 02:01:18 GMT',
    'Thu, 18  Aug  2050 02:01:18 GMT',
    'Thu, 18-Aug-2050 02:01:18 GMT',
    'Thu, 18 Aug 2050 02.01.18 GMT',
    'Thu, 18 Aug 2050 2:01:18 GMT',
    'Thu, 18 Aug 2050 24:01:18 GMT',
    'Thu, 31 Feb 2050 02:01:18 GMT',
    '2050-08-18T02:01:18Z',
    'Thu, 18 Aug 2050 02:01:18 GMT, Thu, 18 Aug 2050 02:01:19 GMT',
  ])('is none: %s', text => {
    expect(parseHttpDate(text)).toBeNull()
  })

  test('two digits of a year mean the one that is not more than 50 years ahead', () => {
    const now = Date.UTC(2026, 5, 1)
    expect(parseHttpDate('Monday, 01-Jan-76 00:00:00 GMT', now)).toBe(Date.UTC(2076, 0, 1))
    expect(parseHttpDate('Monday, 01-Jan-77 00:00:00 GMT', now)).toBe(Date.UTC(1977, 0, 1))
  })

  test('what JavaScript writes is read back', () => {
    const date = fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    fc.assert(
      fc.property(date, when => {
        const whole = Math.floor(when.getTime() / 1000) * 1000
        expect(parseHttpDate(new Date(whole).toUTCString())).toBe(whole)
      }),
    )
  })
})
