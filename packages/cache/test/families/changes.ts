/** What changes a stored answer: 304, HEAD, unsafe methods, failures of the origin. */
import { type Case, DATE, type Exchange, type Field, of } from './case.ts'

const FRESH: Field = ['Cache-Control', 'max-age=100000']
const SHORT: Field = ['Cache-Control', 'max-age=1']

/** Stored, validated three seconds later with a 304 that has other fields, asked once more. */
function updated(name: string, before: string, after: string, expected: string): Case {
  const ends: Exchange = { expected_response_headers: [[name, expected]] }
  const tag: Field = ['ETag', '"a"']
  return of('update', `${name}: ${expected}`, [
    { setup: true, pause_after: true, response_headers: [SHORT, DATE, tag, [name, before]] },
    { expected_type: 'etag_validated', response_headers: [FRESH, DATE, tag, [name, after, false]], ...ends },
    { expected_type: 'cached', ...ends },
  ])
}

const UPDATES: Case[] = [
  ...[
    'Test-Header',
    'X-Test-Header',
    'Content-Foo',
    'Content-Language',
    'X-Frame-Options',
    'Content-Security-Policy',
  ].map(name => updated(name, 'old', 'new', 'new')),
  updated('Content-Encoding', 'x-old', 'x-new', 'x-old'),
  of('update', 'a length in a 304 is not taken over', [
    {
      setup: true,
      pause_after: true,
      check_body: false,
      response_headers: [SHORT, DATE, ['ETag', '"a"'], ['Content-Length', '36', false]],
    },
    {
      expected_type: 'etag_validated',
      check_body: false,
      response_headers: [FRESH, DATE, ['ETag', '"a"'], ['Content-Length', '10', false]],
      expected_response_headers: [['Content-Length', '36']],
    },
    { expected_type: 'cached', check_body: false, expected_response_headers: [['Content-Length', '36']] },
  ]),
  of('update', 'a weak tag in a 304', [
    { setup: true, pause_after: true, response_headers: [SHORT, DATE, ['ETag', 'W/"a"'], ['A', '1']] },
    {
      expected_type: 'etag_validated',
      response_headers: [FRESH, DATE, ['ETag', 'W/"a"'], ['A', '2']],
      expected_response_headers: [['A', '2']],
    },
    { expected_type: 'cached', expected_response_headers: [['A', '2']] },
  ]),
  of('update', 'a 304 without a field leaves it', [
    { setup: true, pause_after: true, response_headers: [SHORT, DATE, ['ETag', '"a"'], ['A', '1']] },
    {
      expected_type: 'etag_validated',
      response_headers: [FRESH, DATE],
      expected_response_headers: [['A', '1']],
    },
    { expected_type: 'cached', expected_response_headers: [['A', '1']] },
  ]),
  of('update', 'a 304 by date', [
    {
      setup: true,
      pause_after: true,
      response_headers: [SHORT, DATE, ['Last-Modified', 'Wed, 01 Jan 2020 00:00:00 GMT'], ['A', '1']],
    },
    {
      expected_type: 'lm_validated',
      response_headers: [FRESH, DATE, ['A', '2']],
      expected_response_headers: [['A', '2']],
    },
    { expected_type: 'cached', expected_response_headers: [['A', '2']] },
  ]),
  of('update', 'a 200 to a validation takes its place', [
    {
      setup: true,
      pause_after: true,
      response_headers: [SHORT, DATE, ['ETag', '"a"']],
      response_body: 'old',
    },
    { expected_type: 'not_cached', response_headers: [FRESH, DATE, ['ETag', '"b"']], response_body: 'new' },
    { expected_type: 'cached', response_body: 'new', expected_response_headers: [['ETag', '"b"']] },
  ]),
]

const invalidated = (
  id: string,
  expected: 'cached' | 'not_cached',
  middle: Exchange,
  target: Exchange = {},
): Case =>
  of('invalidation', id, [
    { setup: true, response_headers: [FRESH, DATE], ...target },
    { setup: true, request_body: 'a', ...middle },
    { expected_type: expected, response_headers: [FRESH, DATE], ...target },
  ])

const failure = { response_status: [500, 'Failed'] } as const
const INVALIDATION: Case[] = ['POST', 'PUT', 'DELETE', 'PATCH', 'M-SEARCH'].flatMap(request_method => [
  invalidated(request_method, 'not_cached', { request_method }),
  invalidated(`${request_method} that fails`, 'cached', { request_method, ...failure }),
  invalidated(`${request_method} with 404`, 'cached', { request_method, response_status: [404, 'None'] }),
  invalidated(`${request_method} with 303`, 'not_cached', {
    request_method,
    response_status: [303, 'Other'],
  }),
])

const UNTOUCHED: Case[] = ['OPTIONS', 'HEAD'].map(request_method =>
  of('invalidation', `${request_method} leaves it`, [
    { setup: true, response_headers: [FRESH, DATE] },
    { setup: true, request_method, response_headers: [FRESH, DATE], check_body: false },
    { expected_type: 'cached' },
  ]),
)

const gone: Exchange = { disconnect: true }
const ill: Exchange = { response_status: [503, 'Ill'] }

function stale(id: string, control: string, failed: Exchange, expected: Exchange): Case {
  return of('stale', id, [
    {
      setup: true,
      pause_after: true,
      response_headers: [['Cache-Control', control], DATE],
      response_body: 'old',
    },
    { ...failed, expected_status: null, check_body: false, ...expected },
  ])
}

const used: Exchange = {
  expected_type: 'cached',
  expected_status: 200,
  expected_response_text: 'old',
  check_body: true,
}
const unused: Exchange = { expected_response_headers_missing: ['Age'] }

const STALE: Case[] = [
  stale('gone: what is stale is used', 'max-age=1', gone, used),
  stale('gone, must-revalidate', 'max-age=1, must-revalidate', gone, unused),
  stale('gone, proxy-revalidate', 'max-age=1, proxy-revalidate', gone, unused),
  stale('gone, s-maxage', 's-maxage=1', gone, unused),
  stale('gone, no-cache', 'no-cache, max-age=9', gone, unused),
  stale('gone, stale-if-error', 'max-age=1, stale-if-error=60', gone, used),
  stale('ill, stale-if-error', 'max-age=1, stale-if-error=60', ill, used),
  stale('ill, stale-if-error is over', 'max-age=1, stale-if-error=0', ill, unused),
  stale(
    'ill, stale-if-error and must-revalidate',
    'max-age=1, stale-if-error=60, must-revalidate',
    ill,
    unused,
  ),
  stale('ill, nothing said', 'max-age=1', ill, unused),
  stale('stale-while-revalidate', 'max-age=1, stale-while-revalidate=60', {}, used),
  stale(
    'stale-while-revalidate is over',
    'max-age=1, stale-while-revalidate=1',
    { response_body: 'new' },
    {
      expected_type: 'not_cached',
    },
  ),
  stale(
    'stale-while-revalidate and must-revalidate',
    'max-age=1, stale-while-revalidate=60, must-revalidate',
    {},
    {
      expected_type: 'not_cached',
    },
  ),
]

const HEADS: Case[] = [
  of('head', 'renews what it describes', [
    { setup: true, pause_after: true, response_headers: [SHORT, DATE, ['A', '1']] },
    { request_method: 'HEAD', expected_method: 'HEAD', response_headers: [FRESH, DATE, ['A', '2']] },
    { expected_type: 'cached', expected_response_headers: [['A', '2']] },
  ]),
  of('head', 'makes old what it does not describe', [
    { setup: true, pause_after: true, response_headers: [SHORT, DATE, ['ETag', '"a"']] },
    { request_method: 'HEAD', expected_method: 'HEAD', response_headers: [FRESH, DATE, ['ETag', '"b"']] },
    { expected_type: 'not_cached', response_headers: [['ETag', '"b"']] },
  ]),
  of('head', 'is not stored for GET', [
    { request_method: 'HEAD', response_headers: [FRESH, DATE], setup: true },
    { expected_type: 'not_cached' },
  ]),
]

export const changes: Case[] = [...UPDATES, ...INVALIDATION, ...UNTOUCHED, ...STALE, ...HEADS]
