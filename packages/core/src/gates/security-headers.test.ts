import { describe, expect, test } from 'vitest'
import { ConfigError } from '../errors.ts'
import { HeaderList } from '../headers/list.ts'
import { testContext } from '../testing/context.ts'
import { type SecurityHeadersOptions, securityHeaders } from './security-headers.ts'

const NONE: SecurityHeadersOptions = {
  hsts: false,
  contentTypeOptions: false,
  frameOptions: false,
  referrerPolicy: false,
  permissionsPolicy: false,
}

/** Runs the filters from the innermost to the outermost, as the pipeline does. */
const answered = (
  raw: string[],
  scheme: 'http' | 'https',
  ...filters: SecurityHeadersOptions[]
): HeaderList => {
  const head = { status: 200, headers: new HeaderList([...raw]) }
  for (const options of filters) securityHeaders(options).onReply?.(testContext({ scheme }), head)
  return head.headers
}

test('the defaults, over HTTPS', () => {
  expect(
    answered(['Content-Type', 'text/html', 'Server', 'x/1', 'x-powered-by', 'y'], 'https', {}).raw,
  ).toEqual([
    ...['Content-Type', 'text/html'],
    ...['X-Content-Type-Options', 'nosniff'],
    ...['Strict-Transport-Security', 'max-age=63072000; includeSubDomains'],
    ...['X-Frame-Options', 'SAMEORIGIN'],
    ...['Referrer-Policy', 'strict-origin-when-cross-origin'],
    ...['Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'],
  ])
})

describe('HSTS goes out over HTTPS only', () => {
  const line = ['Strict-Transport-Security', 'max-age=1']
  test.each([
    { scheme: 'http', raw: [], options: {}, value: undefined },
    { scheme: 'http', raw: line, options: {}, value: undefined },
    { scheme: 'http', raw: line, options: { hsts: false }, value: 'max-age=1' },
    { scheme: 'https', raw: line, options: {}, value: 'max-age=1' },
    {
      scheme: 'https',
      raw: [],
      options: { hsts: { maxAge: 60, includeSubDomains: false } },
      value: 'max-age=60',
    },
    {
      scheme: 'https',
      raw: [],
      options: { hsts: { preload: true } },
      value: 'max-age=63072000; includeSubDomains; preload',
    },
  ] as const)('$scheme, $raw, $options: $value', ({ scheme, raw, options, value }) => {
    expect(answered([...raw], scheme, options).get('strict-transport-security')).toBe(value)
  })
})

describe("the origin's own value", () => {
  const ORIGIN = [
    ...['x-frame-options', 'DENY'],
    ...['referrer-policy', 'no-referrer'],
    ...['permissions-policy', 'usb=()'],
    ...['content-security-policy', "default-src 'none'"],
    ...['content-security-policy', "img-src 'none'"],
    ...['strict-transport-security', 'max-age=5'],
  ]
  const OURS = { contentSecurityPolicy: "default-src 'self'" }

  test('wins by default, as it is', () => {
    const { raw } = answered(ORIGIN, 'https', OURS)
    expect(raw).toEqual([...ORIGIN, 'X-Content-Type-Options', 'nosniff'])
  })

  test('loses with override', () => {
    const headers = answered(ORIGIN, 'https', { ...OURS, override: true })
    expect(headers.all('content-security-policy')).toEqual(["default-src 'self'"])
    expect(headers.all('x-frame-options')).toEqual(['SAMEORIGIN'])
    expect(headers.all('strict-transport-security')).toEqual(['max-age=63072000; includeSubDomains'])
    expect(headers.size).toBe(6)
  })

  test('of X-Content-Type-Options loses always, there is but one', () => {
    const headers = answered(
      ['x-content-type-options', 'sniff', 'X-Content-Type-Options', 'nosniff'],
      'https',
      {},
    )
    expect(headers.all('x-content-type-options')).toEqual(['nosniff'])
  })

  test('stays untouched where the filter has nothing to say', () => {
    const raw = ['X-Content-Type-Options', 'x', 'X-Frame-Options', 'y', 'Server', 'z']
    expect(answered(raw, 'https', { ...NONE, remove: [] }).raw).toEqual(raw)
  })
})

describe('used again in a route', () => {
  const csp = (value: string) => ({ contentSecurityPolicy: value })
  test.each([
    {
      what: 'the inner policy wins',
      inner: csp("img-src 'self'"),
      outer: csp("default-src 'self'"),
      csp: ["img-src 'self'"],
    },
    { what: 'the inner adds one', inner: csp("img-src 'self'"), outer: {}, csp: ["img-src 'self'"] },
    {
      what: 'the outer has the only one',
      inner: {},
      outer: csp("default-src 'self'"),
      csp: ["default-src 'self'"],
    },
    {
      what: 'the inner switches it off',
      inner: { contentSecurityPolicy: false },
      outer: csp('sandbox'),
      csp: [],
    },
    {
      what: 'the inner wins over an outer that overrides the origin',
      inner: csp("img-src 'self'"),
      outer: { ...csp('sandbox'), override: true },
      csp: ["img-src 'self'"],
    },
    {
      what: "the inner's policy for the origin holds",
      origin: 'sandbox',
      inner: csp("img-src 'self'"),
      outer: { ...csp("default-src 'self'"), override: true },
      csp: ['sandbox'],
    },
    {
      what: 'the outer overrides an origin of which the inner says nothing',
      origin: 'sandbox',
      inner: { frameOptions: 'DENY' },
      outer: { ...csp("default-src 'self'"), override: true },
      csp: ["default-src 'self'"],
    },
  ] as const)('$what', ({ inner, outer, csp, ...rest }) => {
    const raw = 'origin' in rest ? ['Content-Security-Policy', rest.origin] : []
    const headers = answered(raw, 'https', inner as SecurityHeadersOptions, outer as SecurityHeadersOptions)
    expect(headers.all('content-security-policy')).toEqual(csp)
    const names = headers.raw.filter((_, i) => i % 2 === 0).map(name => name.toLowerCase())
    expect(new Set(names).size).toBe(names.length)
  })

  test('what the outer names wins over what the inner has by default', () => {
    const outer: SecurityHeadersOptions = {
      frameOptions: 'DENY',
      hsts: { preload: true },
      referrerPolicy: false,
    }
    const headers = answered([], 'https', csp('sandbox'), outer)
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('strict-transport-security')).toBe('max-age=63072000; includeSubDomains; preload')
    expect(headers.has('referrer-policy')).toBe(false)
    expect(headers.get('content-security-policy')).toBe('sandbox')
  })

  test("an origin's value is not taken for an inner default", () => {
    const headers = answered(['X-Frame-Options', 'SAMEORIGIN'], 'https', csp('sandbox'), {
      frameOptions: 'DENY',
    })
    expect(headers.all('x-frame-options')).toEqual(['SAMEORIGIN'])
  })

  test('three deep', () => {
    const headers = answered([], 'https', { frameOptions: 'DENY' }, {}, { frameOptions: 'SAMEORIGIN' })
    expect(headers.all('x-frame-options')).toEqual(['DENY'])
    expect(answered([], 'https', {}, {}, { frameOptions: 'DENY' }).all('x-frame-options')).toEqual(['DENY'])
  })
})

test('removes what it is told to', () => {
  const raw = ['X-AspNet-Version', '4', 'Server', 'x', 'serveR', 'y', 'Sorrow', 'z', 'n'.repeat(200), '1']
  expect(answered(raw, 'http', { ...NONE, remove: ['server', 'X-AspNet-Version'] }).raw).toEqual([
    ...['Sorrow', 'z'],
    ...['n'.repeat(200), '1'],
  ])
})

test.each([
  { options: { frameOptions: 'ALLOW-FROM https://a.example' }, place: 'frameOptions' },
  { options: { referrerPolicy: 'strict' }, place: 'referrerPolicy' },
  { options: { referrerPolicy: '' }, place: 'referrerPolicy' },
  { options: { permissionsPolicy: "camera 'none'" }, place: 'permissionsPolicy' },
  { options: { permissionsPolicy: 'camera=()\r\nX: y' }, place: 'permissionsPolicy' },
  { options: { contentSecurityPolicy: '' }, place: 'contentSecurityPolicy' },
  { options: { contentSecurityPolicy: "default-src 'self';\n img-src *" }, place: 'contentSecurityPolicy' },
  { options: { contentSecurityPolicy: 'default-src self' }, place: 'contentSecurityPolicy' },
  { options: { contentSecurityPolicy: 'img-src *; img-src a.example' }, place: 'contentSecurityPolicy' },
  { options: { contentSecurityPolicy: "default-src 'self', img-src *" }, place: 'contentSecurityPolicy' },
  { options: { hsts: { maxAge: -1 } }, place: 'hsts.maxAge' },
  { options: { hsts: { maxAge: 1000, preload: true } }, place: 'hsts.preload' },
  { options: { hsts: { includeSubDomains: false, preload: true } }, place: 'hsts.preload' },
  { options: { crossOriginOpenerPolicy: 'same-site' }, place: 'crossOriginOpenerPolicy' },
  { options: { crossOriginEmbedderPolicy: true }, place: 'crossOriginEmbedderPolicy' },
  { options: { crossOriginResourcePolicy: 'none' }, place: 'crossOriginResourcePolicy' },
  { options: { remove: ['Content-Length'] }, place: 'remove' },
  { options: { remove: ['a b'] }, place: 'remove' },
  { options: { remove: ['X-Frame-Options'] }, place: 'remove' },
])('$options is refused', ({ options, place }) => {
  let thrown: unknown
  try {
    securityHeaders(options as SecurityHeadersOptions)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(ConfigError)
  expect((thrown as ConfigError).faults.map(fault => fault.place)).toEqual([`securityHeaders.${place}`])
})
