/** Which stored answer is one for a request, and what of it is sent: Vary, conditions, ranges, methods, headers. */
import { type Case, DATE, type Exchange, type Field, of, twice } from './case.ts'

const FRESH: Field = ['Cache-Control', 'max-age=100000']
type Fields = readonly (readonly [string, string | number])[]

const vary = (
  id: string,
  expected: 'cached' | 'not_cached',
  value: string | string[],
  one: Fields,
  two: Fields,
): Case =>
  twice('vary', id, expected, [FRESH, DATE, ...[value].flat().map((line): Field => ['Vary', line, false])], {
    first: { request_headers: one },
    second: { request_headers: two },
  })

const VARY: Case[] = [
  vary('the same', 'cached', 'Foo', [['Foo', '1']], [['Foo', '1']]),
  vary('another', 'not_cached', 'Foo', [['Foo', '1']], [['Foo', '2']]),
  vary('absent in the second', 'not_cached', 'Foo', [['Foo', '1']], []),
  vary('absent in the first', 'not_cached', 'Foo', [], [['Foo', '1']]),
  vary('absent in both', 'cached', 'Foo', [], []),
  vary('empty is not absent', 'not_cached', 'Foo', [['Foo', '']], []),
  vary(
    'two, the same',
    'cached',
    'Foo, Bar',
    [
      ['Foo', '1'],
      ['Bar', 'a'],
    ],
    [
      ['Bar', 'a'],
      ['Foo', '1'],
    ],
  ),
  vary(
    'two, one another',
    'not_cached',
    'Foo, Bar',
    [
      ['Foo', '1'],
      ['Bar', 'a'],
    ],
    [
      ['Foo', '1'],
      ['Bar', 'b'],
    ],
  ),
  vary(
    'two, swapped',
    'not_cached',
    'Foo, Bar',
    [
      ['Foo', '1'],
      ['Bar', '2'],
    ],
    [
      ['Foo', '2'],
      ['Bar', '1'],
    ],
  ),
  vary(
    'two lines',
    'not_cached',
    ['Foo', 'Bar'],
    [
      ['Foo', '1'],
      ['Bar', 'a'],
    ],
    [
      ['Foo', '1'],
      ['Bar', 'b'],
    ],
  ),
  vary('in another case', 'not_cached', 'fOO', [['Foo', '1']], [['Foo', '2']]),
  vary('empty members', 'not_cached', ', Foo ,,', [['Foo', '1']], [['Foo', '2']]),
  vary('an empty value', 'cached', '', [['Foo', '1']], [['Foo', '2']]),
  vary('a star', 'not_cached', '*', [], []),
  vary('two stars', 'not_cached', '*, *', [], []),
  vary('a star in front', 'not_cached', '*, Foo', [['Foo', '1']], [['Foo', '1']]),
  vary('a star behind', 'not_cached', 'Foo, *', [['Foo', '1']], [['Foo', '1']]),
  vary('a star behind an empty one', 'not_cached', ['', '*'], [], []),
  vary('a star on the first line', 'not_cached', ['*', 'Foo'], [['Foo', '1']], [['Foo', '1']]),
  vary(
    'languages in another order',
    'cached',
    'Accept-Language',
    [['Accept-Language', 'en, de']],
    [['Accept-Language', 'de,EN']],
  ),
  vary(
    'other languages',
    'not_cached',
    'Accept-Language',
    [['Accept-Language', 'en']],
    [['Accept-Language', 'de']],
  ),
  vary(
    'other weights',
    'not_cached',
    'Accept-Language',
    [['Accept-Language', 'en;q=1, de;q=0.5']],
    [['Accept-Language', 'en;q=0.5, de;q=1']],
  ),
]

const tag = (
  id: string,
  stored: string,
  asked: string,
  expected_status: number,
  more: Field[] = [FRESH, DATE],
): Case =>
  twice('if-none-match', id, 'cached', [...more, ['ETag', stored]], {
    second: { request_headers: [['If-None-Match', asked]], expected_status },
  })

const CONDITIONS: Case[] = [
  tag('strong', '"a"', '"a"', 304),
  tag('another', '"a"', '"b"', 200),
  tag('weak', 'W/"a"', 'W/"a"', 304),
  tag('strong, asked weakly', '"a"', 'W/"a"', 304),
  tag('weak, asked strongly', 'W/"a"', '"a"', 304),
  // node:http sends a head in front of text as UTF-8, and clients send latin1: byte for byte it is the same tag.
  twice('if-none-match', 'obs-text', 'cached', [FRESH, DATE, ['ETag', '"a\xe4b"', false]], {
    second: { request_headers: [['If-None-Match', '"a\xc3\xa4b"']], expected_status: 304 },
  }),
  tag('a star', '"a"', '*', 304),
  tag('in a list', '"a"', '"x", "a", "y"', 304),
  tag('a comma in it', '"a,b"', '"x", "a,b"', 304),
  tag('half of one with a comma', '"a,b"', '"a"', 200),
  tag('weak, in a list', 'W/"a"', '"x",W/"a"', 304),
  tag('another case', '"a"', '"A"', 200),
  twice('if-modified-since', 'the same', 'cached', [FRESH, DATE, ['Last-Modified', -3000]], {
    second: { request_headers: [['If-Modified-Since', -3000]], magic_ims: true, expected_status: 304 },
  }),
  twice('if-modified-since', 'later', 'cached', [FRESH, DATE, ['Last-Modified', -3000]], {
    second: { request_headers: [['If-Modified-Since', -2000]], magic_ims: true, expected_status: 304 },
  }),
  twice('if-modified-since', 'earlier', 'cached', [FRESH, DATE, ['Last-Modified', -3000]], {
    second: { request_headers: [['If-Modified-Since', -6000]], magic_ims: true, expected_status: 200 },
  }),
  twice('if-modified-since', 'RFC 850', 'cached', [FRESH, DATE, ['Last-Modified', -3000]], {
    second: {
      request_headers: [['If-Modified-Since', -2000]],
      magic_ims: true,
      rfc850date: ['if-modified-since'],
      expected_status: 304,
    },
  }),
  twice('if-modified-since', 'no date at all', 'cached', [FRESH, DATE, ['Last-Modified', -3000]], {
    second: { request_headers: [['If-Modified-Since', 'x']], expected_status: 200 },
  }),
  twice(
    'if-none-match',
    'over a date that holds',
    'cached',
    [FRESH, DATE, ['ETag', '"a"'], ['Last-Modified', -3000]],
    {
      second: {
        request_headers: [
          ['If-None-Match', '"b"'],
          ['If-Modified-Since', -2000],
        ],
        magic_ims: true,
        expected_status: 200,
      },
    },
  ),
  twice(
    'validation',
    'with the tag',
    'etag_validated',
    [['Cache-Control', 'max-age=1'], DATE, ['ETag', '"a"']],
    {
      later: true,
      second: { expected_request_headers: [['if-none-match', '"a"']] },
    },
  ),
  twice(
    'validation',
    'with a weak tag',
    'etag_validated',
    [['Cache-Control', 'max-age=1'], DATE, ['ETag', 'W/"a"']],
    {
      later: true,
    },
  ),
  twice(
    'validation',
    'with the date',
    'lm_validated',
    [['Cache-Control', 'max-age=1'], DATE, ['Last-Modified', -3000]],
    {
      later: true,
    },
  ),
  twice('validation', 'with no-cache', 'etag_validated', [
    ['Cache-Control', 'no-cache'],
    DATE,
    ['ETag', '"a"'],
  ]),
  twice('validation', 'with no-cache and no date', 'lm_validated', [
    ['Cache-Control', 'no-cache, max-age=9'],
    DATE,
    ['Last-Modified', -9],
  ]),
]

const OF_THE_HOP = [
  'Connection',
  'Keep-Alive',
  'Proxy-Authenticate',
  'Proxy-Connection',
  'TE',
  'Trailer',
  'Upgrade',
]
const STORED = [
  'Accept-Ranges',
  'Age-Foo',
  'Allow',
  'Clear-Site-Data',
  'Content-Disposition',
  'Content-Language',
  'Content-Location',
  'Content-Security-Policy',
  'Content-Type',
  'Expires',
  'Last-Modified',
  'Link',
  'Public-Key-Pins',
  'Retry-After',
  'Server',
  'Set-Cookie2',
  'Strict-Transport-Security',
  'Test-Header',
  'Via',
  'Warning',
  'WWW-Authenticate',
  'X-Content-Foo',
  'X-Frame-Options',
  'X-Test-Header',
]

const HEADERS: Case[] = [
  ...STORED.map(name =>
    twice('headers', name, 'cached', [FRESH, DATE, [name, 'something']], {
      second: { expected_response_headers: [[name, 'something']] },
    }),
  ),
  ...OF_THE_HOP.map(name =>
    twice(
      'headers',
      `${name} is of the hop`,
      'cached',
      [FRESH, DATE, [name, 'x-foo', false], ['X-Foo', '1', false]],
      {
        ...(name === 'Connection' && { second: { expected_response_headers_missing: ['X-Foo'] } }),
      },
    ),
  ),
  ...[
    'Content-Encoding',
    'Content-MD5',
    'Content-Range',
    'Location',
    'ETag',
    'Refresh',
    'X-Content-Type-Options',
  ].map(name =>
    twice('headers', name, 'cached', [FRESH, DATE, [name, 'something']], {
      later: true,
      second: { expected_response_headers: [[name, 'something']] },
    }),
  ),
  twice(
    'headers',
    'a Content-Length that is too short',
    'cached',
    [FRESH, DATE, ['Content-Length', '10', false]],
    {
      first: { check_body: false },
      second: { check_body: false, expected_response_headers: [['Content-Length', '10']] },
    },
  ),
  twice(
    'headers',
    'a coding that nobody knows',
    'cached',
    [FRESH, DATE, ['Transfer-Encoding', 'foo', false]],
    {
      first: { check_body: false },
      second: { check_body: false },
    },
  ),
  twice('headers', 'several lines', 'cached', [FRESH, DATE, ['A', '1'], ['A', '2']], {
    second: { expected_response_headers: [['A', '1, 2']] },
  }),
  twice(
    'headers',
    'fields that no-cache names',
    'cached',
    [['Cache-Control', 'no-cache="a", max-age=3600', false], DATE, ['A', '1'], ['B', '2']],
    {
      second: { expected_response_headers: [['B', '2']], expected_response_headers_missing: ['A'] },
    },
  ),
]

const range = (
  id: string,
  asked: string,
  status: number,
  text: string,
  more: readonly (readonly [string, string])[] = [],
): Case =>
  twice('range', id, 'cached', [FRESH, DATE, ['ETag', '"a"']], {
    first: { response_body: '0123456789' },
    second: {
      request_headers: [['Range', asked], ...more],
      expected_status: status,
      expected_response_text: text,
      ...(status === 206 && {
        expected_response_headers: ['content-range', ['content-length', `${text.length}`]],
      }),
    },
  })

const RANGES: Case[] = [
  range('first bytes', 'bytes=0-3', 206, '0123'),
  range('one byte', 'bytes=0-0', 206, '0'),
  range('open', 'bytes=4-', 206, '456789'),
  range('last bytes', 'bytes=-3', 206, '789'),
  range('more than there is', 'bytes=4-400', 206, '456789'),
  range('a suffix longer than it', 'bytes=-400', 206, '0123456789'),
  range('another unit', 'lines=0-3', 200, '0123456789'),
  range('backwards', 'bytes=3-0', 200, '0123456789'),
  range('a word', 'bytes=a-b', 200, '0123456789'),
  range('If-Range that holds', 'bytes=0-3', 206, '0123', [['If-Range', '"a"']]),
  range('If-Range of another', 'bytes=0-3', 200, '0123456789', [['If-Range', '"b"']]),
  range('If-Range, weak', 'bytes=0-3', 200, '0123456789', [['If-Range', 'W/"a"']]),
  inPart('a part answers what lies in it', partial('bytes=0-4', 'bytes 0-4/10', '01234'), 'bytes=1-3', '123'),
  inPart(
    'a part at the end answers a suffix',
    partial('bytes=-5', 'bytes 5-9/10', '56789'),
    'bytes=-2',
    '89',
  ),
  inPart(
    'a part at the end answers an open range',
    partial('bytes=-5', 'bytes 5-9/10', '56789'),
    'bytes=7-',
    '789',
  ),
  of('range', 'a part does not answer what lies beside it', [
    partial('bytes=0-4', 'bytes 0-4/10', '01234'),
    { ...partial('bytes=5-6', 'bytes 5-6/10', '56'), expected_type: 'not_cached' },
  ]),
  of('range', 'a part never answers for the whole', [
    partial('bytes=0-4', 'bytes 0-4/10', '01234'),
    { response_body: '0123456789', expected_type: 'not_cached' },
  ]),
]

/** A stored part that answers another one, which lies in it. */
function inPart(id: string, stored: Exchange, asked: string, text: string): Case {
  const second: Exchange = {
    request_headers: [['Range', asked]],
    expected_type: 'cached',
    expected_status: 206,
    expected_response_text: text,
  }
  return of('range', id, [stored, second])
}

function partial(asked: string, content: string, text: string): Exchange {
  return {
    request_headers: [['Range', asked]],
    response_status: [206, 'Partial Content'],
    response_headers: [FRESH, DATE, ['Content-Range', content]],
    response_body: text,
    setup: true,
  }
}

const OTHERS: Case[] = [
  twice('query', 'the same', 'cached', [FRESH, DATE], {
    first: { query_arg: 'a=1' },
    second: { query_arg: 'a=1' },
  }),
  twice('query', 'another', 'not_cached', [FRESH, DATE], {
    first: { query_arg: 'a=1' },
    second: { query_arg: 'a=2' },
  }),
  twice('query', 'none', 'not_cached', [FRESH, DATE], { first: { query_arg: 'a=1' } }),
  twice('authorization', 'not by itself', 'not_cached', [FRESH, DATE], authorized()),
  twice('authorization', 'public', 'cached', [['Cache-Control', 'max-age=3600, public'], DATE], authorized()),
  twice('authorization', 's-maxage', 'cached', [['Cache-Control', 's-maxage=3600'], DATE], authorized()),
  twice(
    'authorization',
    'must-revalidate',
    'cached',
    [['Cache-Control', 'max-age=3600, must-revalidate'], DATE],
    authorized(),
  ),
  twice('authorization', 'what is stored without is not for it', 'not_cached', [FRESH, DATE], {
    second: { request_headers: [['Authorization', 'FOO']] },
  }),
  twice('other', 'a cookie of a request changes nothing', 'cached', [FRESH, DATE], {
    second: { request_headers: [['Cookie', 'a=b']] },
  }),
  twice('other', 'Age grows', 'cached', [FRESH, DATE, ['Age', '30']], {
    later: true,
    second: { expected_response_headers: [['Age', '>', 32]] },
  }),
  twice('other', 'Date stays', 'cached', [FRESH, ['Date', -100]], {
    later: true,
    second: { expected_response_headers: ['date'] },
  }),
  twice('other', 'a POST is not answered from a GET', 'not_cached', [FRESH, DATE], {
    second: { request_method: 'POST', request_body: 'a' },
  }),
  twice('other', 'a POST is not stored', 'not_cached', [FRESH, DATE], {
    first: { request_method: 'POST', request_body: 'a' },
  }),
  twice('other', 'a HEAD is answered from a GET', 'cached', [FRESH, DATE, ['A', '1']], {
    second: { request_method: 'HEAD', expected_response_headers: [['A', '1']] },
  }),
]

function authorized(): { first: Exchange; second: Exchange } {
  const request_headers = [['Authorization', 'FOO']] as const
  return { first: { request_headers }, second: { request_headers } }
}

export const selection: Case[] = [...VARY, ...CONDITIONS, ...HEADERS, ...RANGES, ...OTHERS]
