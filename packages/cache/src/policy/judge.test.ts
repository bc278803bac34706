import { HeaderList } from '@postern/core'
import { describe, expect, test } from 'vitest'
import { HEURISTIC } from './heuristic.ts'
import { type Asked, type JudgeRules, judge } from './judge.ts'

const NOW = Date.UTC(2026, 0, 2)
const date = (seconds: number): string => new Date(NOW + seconds * 1000).toUTCString()

const rules: JudgeRules = {
  authorization: 'when-shared',
  setCookie: 'when-shared',
  targets: ['cdn-cache-control'],
  heuristic: HEURISTIC,
  negative: new Map([[404, 7]]),
}
const asked: Asked = {
  noStore: false,
  hasAuthorization: false,
  hasCookie: false,
  requestTime: NOW,
  responseTime: NOW,
}

type Case = [
  name: string,
  fields: Record<string, string | string[]>,
  more: Partial<Asked> & { status?: number; rules?: Partial<JudgeRules> },
  expected: string | number,
]

/** A number is the lifetime of what is stored, in seconds; a word is why it is not. */
const CASES: Case[] = [
  ['max-age', { 'Cache-Control': 'max-age=60' }, {}, 60],
  ['s-maxage before max-age', { 'Cache-Control': 'max-age=60, s-maxage=5' }, {}, 5],
  ['max-age before Expires', { 'Cache-Control': 'max-age=60', Expires: date(-10) }, {}, 60],
  ['Expires counts from Date', { Expires: date(100), Date: date(40) }, {}, 60],
  ['Expires without Date', { Expires: date(100) }, {}, 100],
  ['Expires with an invalid Date', { Expires: date(100), Date: 'foo' }, {}, 100],
  ['an invalid Expires', { Expires: '0' }, {}, 'no-lifetime'],
  ['Expires before Date', { Expires: date(-5), Date: date(0) }, {}, 'no-lifetime'],
  ['two Expires', { Expires: [date(100), date(100)] }, {}, 'no-lifetime'],
  ['nothing', {}, {}, 'no-lifetime'],
  ['nothing but a tag', { ETag: '"a"' }, {}, 0],
  ['max-age=0 and no validator', { 'Cache-Control': 'max-age=0' }, {}, 'no-lifetime'],
  ['no-cache and a validator', { 'Cache-Control': 'no-cache, max-age=60', ETag: '"a"' }, {}, 60],
  ['no-cache without', { 'Cache-Control': 'no-cache, max-age=60' }, {}, 'no-lifetime'],
  ['older than its lifetime', { 'Cache-Control': 'max-age=60', Age: '61' }, {}, 'no-lifetime'],
  ['Date in the past', { 'Cache-Control': 'max-age=60', Date: date(-61) }, {}, 'no-lifetime'],
  ['heuristics', { 'Last-Modified': date(-1000), Date: date(0) }, {}, 100],
  ['heuristics have a limit', { 'Last-Modified': date(-10_000_000), Date: date(0) }, {}, 86_400],
  ['no heuristics for 201', { 'Last-Modified': date(-1000), Date: date(0) }, { status: 201 }, 0],
  ['public opens them', { 'Last-Modified': date(-1000), 'Cache-Control': 'public' }, { status: 599 }, 100],
  ['not with cookies', { 'Last-Modified': date(-1000) }, { hasCookie: true }, 0],
  ['not with Expires', { 'Last-Modified': date(-1000), Expires: '0' }, {}, 0],
  ['negative', {}, { status: 404 }, 7],
  ['negative is no limit', { 'Cache-Control': 'max-age=60' }, { status: 404 }, 60],
  ['negative not with cookies', {}, { status: 404, hasCookie: true }, 'no-lifetime'],
  ['no-store', { 'Cache-Control': 'no-store, max-age=60' }, {}, 'no-store'],
  ['private', { 'Cache-Control': 'private, max-age=60' }, {}, 'private'],
  ['private for a field', { 'Cache-Control': 'private="x", max-age=60' }, {}, 60],
  ['any final status with a lifetime', { 'Cache-Control': 'max-age=60' }, { status: 299 }, 60],
  ['must-understand, understood', { 'Cache-Control': 'must-understand, no-store, max-age=60' }, {}, 60],
  [
    'must-understand, not',
    { 'Cache-Control': 'must-understand, no-store, max-age=60' },
    { status: 599 },
    'not-understood',
  ],
  ['the request says no-store', { 'Cache-Control': 'max-age=60' }, { noStore: true }, 'request-no-store'],
  ['Authorization', { 'Cache-Control': 'max-age=60' }, { hasAuthorization: true }, 'authorization'],
  ['Authorization, public', { 'Cache-Control': 'max-age=60, public' }, { hasAuthorization: true }, 60],
  ['Authorization, s-maxage', { 'Cache-Control': 's-maxage=60' }, { hasAuthorization: true }, 60],
  [
    'Authorization, must-revalidate',
    { 'Cache-Control': 'max-age=60, must-revalidate' },
    { hasAuthorization: true },
    60,
  ],
  [
    'Authorization, never',
    { 'Cache-Control': 's-maxage=60' },
    { hasAuthorization: true, rules: { authorization: 'never' } },
    'authorization',
  ],
  ['Set-Cookie', { 'Cache-Control': 'max-age=60', 'Set-Cookie': 'a=b' }, {}, 'set-cookie'],
  [
    'Set-Cookie, must-revalidate is not enough',
    { 'Cache-Control': 'max-age=60, must-revalidate', 'Set-Cookie': 'a=b' },
    {},
    'set-cookie',
  ],
  ['Set-Cookie, public', { 'Cache-Control': 'max-age=60, public', 'Set-Cookie': 'a=b' }, {}, 60],
  [
    'Set-Cookie, never',
    { 'Cache-Control': 'max-age=60, public', 'Set-Cookie': 'a=b' },
    { rules: { setCookie: 'never' } },
    'set-cookie',
  ],
  [
    'Set-Cookie, store',
    { 'Cache-Control': 'max-age=60', 'Set-Cookie': 'a=b' },
    { rules: { setCookie: 'store' } },
    60,
  ],
  [
    'Set-Cookie is never guessed about',
    { 'Last-Modified': date(-1000), 'Set-Cookie': 'a=b' },
    { rules: { setCookie: 'store' } },
    0,
  ],
  ['Vary: *', { 'Cache-Control': 'max-age=60', Vary: 'a, *' }, {}, 'vary-star'],
  ['targeted', { 'CDN-Cache-Control': 'max-age=5', Expires: date(100), 'Cache-Control': 'no-store' }, {}, 5],
  ['targeted zero', { 'CDN-Cache-Control': 'max-age=0', 'Cache-Control': 'max-age=60' }, {}, 'no-lifetime'],
  ['an interim status', { 'Cache-Control': 'max-age=60' }, { status: 103 }, 'interim'],
]

describe('a response is judged by its head', () => {
  test.each(CASES)('%s', (_name, fields, more, expected) => {
    const { status = 200, rules: other, ...rest } = more
    const found = judge(status, HeaderList.from(fields), { ...asked, ...rest }, { ...rules, ...other })
    expect(found.notStored ?? found.lifetime / 1000).toBe(expected)
  })

  test.each([
    ['7200', 7200],
    ['7200, 0', 7200],
    [['0', '7200'], 0],
    ['abc', 0],
    ['-7200', 0],
    ['7200.0', 0],
    ['7200;x', 0],
    ['99999999999999', 2_147_483_648],
  ] as [string | string[], number][])('Age: %s', (Age, seconds) => {
    const found = judge(200, HeaderList.from({ Age, Date: date(0) }), asked, rules)
    expect(found.initialAge).toBe(seconds * 1000)
  })

  test('the time that the answer took counts as age, and so does a slow clock', () => {
    const slow = { ...asked, requestTime: NOW - 3000 }
    expect(judge(200, HeaderList.from({ Age: '5', Date: date(0) }), slow, rules).initialAge).toBe(8000)
    expect(judge(200, HeaderList.from({ Age: '5', Date: date(-20) }), slow, rules).initialAge).toBe(20_000)
  })
})
