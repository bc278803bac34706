/** How long an answer may be used: Cache-Control, Expires, Age, heuristics, statuses. */
import { type Case, DATE, type Field, twice } from './case.ts'

const control = (
  id: string,
  value: string,
  expected: 'cached' | 'not_cached',
  more: readonly Field[] = [],
): Case =>
  twice('cache-control', id, expected, [['Cache-Control', value, false], DATE, ...more], { later: true })

const CONTROL: Case[] = [
  control('Age uses it up', 'max-age=3600', 'not_cached', [['Age', '12000']]),
  control('max-age wins over a past Expires', 'max-age=3600', 'cached', [['Expires', -7200]]),
  control('max-age of 0 wins over a future Expires', 'max-age=0', 'not_cached', [['Expires', 7200]]),
  control('more than 31 bits', 'max-age=2147483649', 'cached'),
  control('more than 64 bits', 'max-age=99999999999999999999', 'cached'),
  control('s-maxage of 0 wins', 'max-age=3600, s-maxage=0', 'not_cached'),
  control('s-maxage wins over Expires', 's-maxage=3600', 'cached', [['Expires', -10]]),
  control('s-maxage in capitals', 'S-MaxAge=3600', 'cached'),
  control('a quoted extension is no directive', 'extension="max-age=3600"', 'not_cached'),
  control('quoted, before', 'extension="max-age=3600", max-age=1', 'not_cached'),
  control('an escaped quote', 'ext="a\\", max-age=3600", max-age=1', 'not_cached'),
  control('a quoted number', 'max-age="3600"', 'cached'),
  control('a single-quoted number', "max-age='3600'", 'not_cached'),
  control('a decimal', 'max-age=1.5', 'not_cached'),
  control('letters before', 'max-age=a100', 'not_cached'),
  control('no number', 'max-age', 'not_cached'),
  control('empty', 'max-age=', 'not_cached'),
  control('a plus', 'max-age=+3600', 'not_cached'),
  control('leading zeros', 'max-age=0003600', 'cached'),
  control('a name that begins so', 'max-ages=3600', 'not_cached'),
  control('a name that ends so', 'x-max-age=3600', 'not_cached'),
  control('empty members', ', ,max-age=3600,,', 'cached'),
  control('tabs', '\tmax-age=3600\t,\tpublic', 'cached'),
  control('no-store behind an extension', 'ext="a,b", no-store, max-age=3600', 'not_cached'),
  control('no-store with a value', 'no-store=x, max-age=3600', 'not_cached'),
  control('no-store in capitals', 'No-StOrE, max-age=3600', 'not_cached'),
  control('private', 'private, max-age=3600', 'not_cached'),
  control('private in capitals', 'pRiVaTe, max-age=3600', 'not_cached'),
  control('private and s-maxage', 'private, s-maxage=3600', 'not_cached'),
  control('private on a line of its own', 'max-age=3600', 'not_cached', [
    ['Cache-Control', 'private', false],
  ]),
  control('no-cache in capitals', 'NO-CACHE, max-age=3600', 'not_cached'),
  control('must-revalidate, fresh', 'max-age=3600, must-revalidate', 'cached'),
  control('must-revalidate, stale', 'max-age=1, must-revalidate', 'not_cached'),
  control('proxy-revalidate, stale', 'max-age=1, proxy-revalidate', 'not_cached'),
  control('immutable, stale', 'max-age=1, immutable', 'not_cached'),
  control('public alone gives no lifetime', 'public', 'not_cached'),
  control('an unknown directive', 'max-age=3600, foo=bar, x', 'cached'),
  control('Surrogate-Control is not read', 'max-age=1', 'not_cached', [
    ['Surrogate-Control', 'max-age=3600'],
  ]),
  control('Pragma of responses is not read', 'max-age=3600', 'cached', [['Pragma', 'no-cache']]),
]

const age = (id: string, expected: 'cached' | 'not_cached', ...lines: string[]): Case =>
  twice(
    'age',
    id,
    expected,
    [DATE, ['Cache-Control', 'max-age=3600'], ...lines.map((line): Field => ['Age', line, false])],
    { later: true },
  )

const AGE: Case[] = [
  age('none', 'cached'),
  age('0', 'cached', '0'),
  age('old', 'not_cached', '7200'),
  age('31 bits', 'not_cached', '2147483648'),
  age('more', 'not_cached', '2147483649'),
  age('a lot more', 'not_cached', '9999999999999999999999'),
  age('negative', 'cached', '-7200'),
  age('a word', 'cached', 'abc'),
  age('the first of two', 'not_cached', '7200, 0'),
  age('the first of two lines', 'not_cached', '7200', '0'),
  age('a young one first', 'cached', '0, 7200'),
  age('twice the same', 'not_cached', '7200, 7200'),
  age('leading zeros', 'not_cached', '0007200'),
]

const expires = (
  id: string,
  expected: 'cached' | 'not_cached',
  value: string | number,
  more: Field[] = [],
): Case =>
  twice('expires', id, expected, [['Expires', value, false], ...(more.length > 0 ? more : [DATE])], {
    later: true,
  })

const EXPIRES: Case[] = [
  expires('future', 'cached', 7200),
  expires('past', 'not_cached', -7200),
  expires('now', 'not_cached', 0),
  expires('0', 'not_cached', '0'),
  expires('-1', 'not_cached', '-1'),
  expires('a word', 'not_cached', 'soon'),
  expires('empty', 'not_cached', ''),
  expires('with an Age beyond', 'not_cached', 3600, [DATE, ['Age', '3700']]),
  expires('with a Date ahead', 'not_cached', 20, [
    ['Date', 10],
    ['Age', '25'],
  ]),
  expires('RFC 850', 'cached', 'Thursday, 18-Aug-50 02:01:18 GMT'),
  expires('RFC 850, the past', 'not_cached', 'Sunday, 06-Nov-94 08:49:37 GMT'),
  expires('asctime, the past', 'not_cached', 'Sun Nov  6 08:49:37 1994'),
  expires('lower-case zone', 'cached', 'Thu, 18 Aug 2050 02:01:18 gMT'),
  expires('upper-case', 'cached', 'THU, 18 AUG 2050 02:01:18 GMT'),
  expires('beyond 2038', 'cached', 'Tue, 19 Jan 2038 14:14:08 GMT'),
  expires('the year 9999', 'cached', 'Fri, 31 Dec 9999 23:59:59 GMT'),
  expires('no comma', 'not_cached', 'Thu 18 Aug 2050 02:01:18 GMT'),
  expires('dashes', 'not_cached', 'Thu, 18-Aug-2050 02:01:18 GMT'),
  expires('no zone', 'not_cached', 'Thu, 18 Aug 2050 02:01:18'),
  expires('another zone', 'not_cached', 'Thu, 18 Aug 2050 02:01:18 PST'),
  expires('an offset', 'not_cached', 'Thu, 18 Aug 2050 02:01:18 +0000'),
  expires('no weekday', 'not_cached', '18 Aug 2050 02:01:18 GMT'),
  expires('the 32nd', 'not_cached', 'Thu, 32 Aug 2050 02:01:18 GMT'),
  expires('hour 24', 'not_cached', 'Thu, 18 Aug 2050 24:01:18 GMT'),
  expires('no seconds', 'not_cached', 'Thu, 18 Aug 2050 02:01 GMT'),
  expires('one-digit day', 'not_cached', 'Thu, 8 Aug 2050 02:01:18 GMT'),
  expires('two spaces', 'not_cached', 'Thu, 18  Aug 2050 02:01:18 GMT'),
  expires('no space behind the comma', 'not_cached', 'Thu,18 Aug 2050 02:01:18 GMT'),
  expires('a long month', 'not_cached', 'Thu, 18 August 2050 02:01:18 GMT'),
  expires('a number of seconds', 'not_cached', '3600'),
]

const GUESSED = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
const NOT_GUESSED = [201, 202, 302, 303, 307, 400, 401, 403, 409, 412, 429, 500, 502, 503, 504, 599]

const status = (code: number): { response_status: readonly [number, string] } => ({
  response_status: [code, 'Status'],
})
const body = (code: number): { response_body: string } => ({ response_body: code === 204 ? '' : 'abc' })

const HEURISTIC: Case[] = [
  ...GUESSED.map(code => guess(code, 'cached', [])),
  ...NOT_GUESSED.map(code => guess(code, 'not_cached', [])),
  ...NOT_GUESSED.map(code => guess(code, 'cached', [['Cache-Control', 'public']])),
  twice('heuristic', 'none without a Last-Modified', 'not_cached', [DATE]),
  twice('heuristic', 'none with an invalid one', 'not_cached', [DATE, ['Last-Modified', 'yesterday']]),
  twice('heuristic', 'none when it lies ahead', 'not_cached', [DATE, ['Last-Modified', 86_400]]),
]

function guess(code: number, expected: 'cached' | 'not_cached', more: Field[]): Case {
  const same = { ...status(code), ...body(code) }
  const fields: Field[] = [['Last-Modified', -864_000], DATE, ...more]
  return twice('heuristic', `${code}, ${expected}`, expected, fields, { first: same, second: same })
}

const STATUSES: Case[] = [
  200, 201, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 451, 499, 500, 502, 503, 504, 599,
]
  .flatMap(code => [
    stated(code, 'fresh', 'cached', [['Cache-Control', 'max-age=3600']]),
    stated(code, 'stale', 'not_cached', [
      ['Expires', -5000],
      ['Last-Modified', -100_000],
    ]),
    stated(code, 'no-store', 'not_cached', [['Cache-Control', 'max-age=3600, no-store', false]]),
  ])
  .concat(
    stated(599, 'not understood', 'not_cached', [['Cache-Control', 'max-age=3600, must-understand', false]]),
    stated(200, 'understood, no-store beside', 'cached', [
      ['Cache-Control', 'max-age=3600, no-store, must-understand', false],
    ]),
    stated(404, 'understood', 'cached', [['Cache-Control', 'max-age=3600, must-understand', false]]),
  )

function stated(code: number, id: string, expected: 'cached' | 'not_cached', fields: Field[]): Case {
  const same = { ...status(code), ...body(code) }
  return twice('status', `${code}, ${id}`, expected, [...fields, DATE], { first: same, second: same })
}

const cdn = (id: string, expected: 'cached' | 'not_cached', value: string, more: Field[] = []): Case =>
  twice('cdn', id, expected, [['CDN-Cache-Control', value, false], DATE, ...more], { later: true })

const CDN: Case[] = [
  cdn('a lifetime', 'cached', 'max-age=3600'),
  cdn('none', 'not_cached', 'max-age=0', [['Cache-Control', 'max-age=3600']]),
  cdn('stale', 'not_cached', 'max-age=1', [['Cache-Control', 'max-age=3600']]),
  cdn('over max-age of 0', 'cached', 'max-age=3600', [['Cache-Control', 'max-age=0']]),
  cdn('over no-store', 'cached', 'max-age=3600', [['Cache-Control', 'no-store']]),
  cdn('over private', 'cached', 'max-age=3600', [['Cache-Control', 'private']]),
  cdn('over a past Expires', 'cached', 'max-age=3600', [['Expires', -5000]]),
  cdn('no-store', 'not_cached', 'no-store', [['Cache-Control', 'max-age=3600']]),
  cdn('no-cache', 'not_cached', 'no-cache', [['Cache-Control', 'max-age=3600']]),
  cdn('private over max-age', 'not_cached', 'private, max-age=3600', [['Cache-Control', 'max-age=3600']]),
  cdn('empty: as if it were not there', 'cached', '', [['Cache-Control', 'max-age=3600']]),
  cdn('a string is no number', 'not_cached', 'max-age="3600"', [['Cache-Control', 'max-age=0']]),
  cdn('invalid, and ignored', 'cached', 'max-age=0, &&&', [['Cache-Control', 'max-age=3600']]),
  cdn('an unclosed string, ignored', 'cached', 'max-age=0, a="', [['Cache-Control', 'max-age=3600']]),
  cdn('capitals are no key, ignored', 'cached', 'Max-Age=0', [['Cache-Control', 'max-age=3600']]),
  cdn('a parameter', 'cached', 'max-age=3600;a=b'),
  cdn('more than 31 bits', 'cached', 'max-age=2147483649'),
  cdn('the last of two', 'cached', 'max-age=1, max-age=3600'),
  cdn('on two lines', 'not_cached', 'max-age=3600', [['CDN-Cache-Control', 'no-store', false]]),
  cdn('with an Age beyond', 'not_cached', 'max-age=3600', [['Age', '7200']]),
  cdn('s-maxage beside', 'not_cached', 'max-age=1', [['Cache-Control', 's-maxage=3600']]),
]

export const freshness: Case[] = [...CONTROL, ...AGE, ...EXPIRES, ...HEURISTIC, ...STATUSES, ...CDN]
