import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../errors.ts'
import { readTarget } from '../headers/target.ts'
import type { Filter, ForwardHead } from '../pipeline/contract.ts'
import { testContext } from '../testing/context.ts'
import { editReplyHeaders, editRequestHeaders } from './edit-headers.ts'
import { mapReference, type Surroundings } from './own-references.ts'
import { compileTemplate, type PathTemplate, rewriteTarget } from './path-template.ts'
import { rewriteCookies } from './rewrite-cookies.ts'
import { rewriteLocation } from './rewrite-location.ts'
import { addPrefix, rewritePath, stripPrefix } from './rewrite-path.ts'
import { addQuery, removeQuery } from './rewrite-query.ts'
import { type CookieChanges, changeCookie } from './set-cookie.ts'

const compile = (from: string, to: string): PathTemplate => {
  const made = compileTemplate(from, to)
  if (typeof made === 'string') throw new Error(made)
  return made
}

describe('a template', () => {
  test.each([
    ['/app/*', '/*', '/app/x', '/x'],
    ['/app/*', '/*', '/app/', '/'],
    ['/app/*', '/*', '/app', '/'],
    ['/app/*', '/*', '/apple', null],
    ['/app/*', '/*', '/x/app/y', null],
    ['/app/*', '/*', '/app//x', '//x'],
    ['/app/*', '/*', '/%61pp/%41%2f%zz+;p=1', '/%41%2f%zz+;p=1'],
    ['/app/*', '/*', '/app/a%2Fb/%E2%82%AC\xe9\\', '/a%2Fb/%E2%82%AC\xe9\\'],
    ['/*', '/v1/*', '/', '/v1/'],
    ['/*', '/v1/*', '//x', '/v1//x'],
    ['/a/:id', '/b/:id/c', '/a/x%20y', '/b/x%20y/c'],
    ['/a/:id', '/b/:id/c', '/a/', null],
    ['/a/:id', '/b/:id/c', '/a/x/y', null],
    ['/a/:x/:y/*rest', '/:y/*rest', '/a/1/2/3/4', '/2/3/4'],
    ['/a/:x/:y/*rest', '/:y/:x', '/a/1/2', '/2/1'],
    ['/exact', '/other', '/exact', '/other'],
    ['/exact', '/other', '/exact/', null],
    ['/', '/index.html', '/', '/index.html'],
  ])('%s to %s makes of %s: %s', (from, to, path, made) => {
    expect(compile(from, to).apply(path)).toBe(made)
  })

  test.each([
    ['x', '/*'],
    ['/*', 'x'],
    ['/*/x', '/*'],
    ['/:', '/'],
    ['/:a/:a', '/:a'],
    ['/:a', '/:b'],
    ['/a/../b', '/x'],
    ['/a/./b', '/x'],
    ['/*', '/../*'],
    ['/a?b', '/x'],
    ['/a b', '/x'],
    ['/a#b', '/x'],
    ['', '/'],
  ])('%s to %s cannot work', (from, to) => {
    expect(typeof compileTemplate(from, to)).toBe('string')
  })

  test('keeps the bytes of what it moves, whatever they are', () => {
    const strip = compile('/app/*', '/*')
    const bytes = fc.stringMatching(/^[!"$->@-~\x80-\xff]{0,40}$/)
    fc.assert(
      fc.property(bytes, rest => {
        expect(strip.apply(`/app/${rest}`)).toBe(`/${rest}`)
      }),
    )
  })
})

describe('a target', () => {
  const strip = compile('/app/*', '/*')
  test.each([
    ['/app/x?a=b&c=%20&&d', '/x?a=b&c=%20&&d'],
    ['/app?', '/?'],
    ['/app/?a=?b', '/?a=?b'],
    ['/app/./x', '/./x'],
    ['/app/x/../y', '/x/../y'],
    ['/other?x=/app/', null],
    ['/x/../app/y', 'ambiguous'],
    ['/./app/y', 'ambiguous'],
    ['/app/x/../../app/y', 'ambiguous'],
    ['/app/../app/y', 'ambiguous'],
    ['/app/../y', 'ambiguous'],
    ['/app/..', 'ambiguous'],
    ['/app/..%2fx', 'ambiguous'],
  ])('%s becomes %s', (target, made) => {
    expect(rewriteTarget(strip, target)).toBe(made)
  })

  test('an origin that resolves first sees the same as one that rewrites first', () => {
    const segment = fc.constantFrom('app', '%61pp', 'x', '.', '..', '%2e', '', 'a%2Fb', ';p', 'app;x')
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 6 }), segments => {
        const target = `/${segments.join('/')}`
        const made = rewriteTarget(strip, target)
        const before = readTarget('GET', target)
        if (made === 'ambiguous' || typeof before === 'string') return
        const forwarded = readTarget('GET', made ?? target)
        expect(typeof forwarded).toBe('object')
        const path = (forwarded as { path: string }).path
        const under = before.path === '/app' || before.path.startsWith('/app/')
        expect(path).toBe(under ? before.path.slice(4) || '/' : before.path)
      }),
    )
  })
})

describe('B058: the query', () => {
  const through = (filter: Filter, target: string): string => {
    const out = { target } as ForwardHead
    filter.onForward!(testContext(), out)
    return out.target
  }
  test.each([
    ['/x', '/x?a=1&b'],
    ['/x?', '/x?a=1&b'],
    ['/x?x=1&x=2&y&z=%zz&c=b+c&d=%20&e=&&f', '/x?x=1&x=2&y&z=%zz&c=b+c&d=%20&e=&&f&a=1&b'],
    ['/x?a=?b', '/x?a=?b&a=1&b'],
    ['*', '*'],
  ])('%s with more is %s', (target, made) => {
    expect(through(addQuery('a=1&b'), target)).toBe(made)
  })

  test.each([
    ['/x?token=1', '/x'],
    ['/x?a=%20&token=1&b=+&&c', '/x?a=%20&b=+&&c'],
    ['/x?%74oken=1&%54oken=2', '/x?%54oken=2'],
    ['/x?to+ken&tok%65n&my%20name=1&my+name=2', '/x?to+ken'],
    ['/x?tokens=1&atoken', '/x?tokens=1&atoken'],
    ['/x?%zz=1&%ff=2', '/x?%zz=1&%ff=2'],
    ['/x?', '/x?'],
    ['/x', '/x'],
  ])('%s without some is %s', (target, made) => {
    expect(through(removeQuery('token', 'my name'), target)).toBe(made)
  })

  test('what is not taken out keeps its bytes and its order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[!$%'-;=?-~]{0,12}$/), { minLength: 1, maxLength: 6 }),
        parameters => {
          fc.pre(parameters.every(one => !/^token(?:=|$)|%/i.test(one)))
          const target = `/x?${parameters.join('&')}`
          expect(through(removeQuery('token'), target)).toBe(target)
          const mixed = parameters.flatMap(one => [one, 'token=1'])
          expect(through(removeQuery('token'), `/x?${mixed.join('&')}`)).toBe(target)
        },
      ),
    )
  })
})

describe('B061: references', () => {
  const about: Surroundings = {
    own: ['upstream:8080', 'public.test'],
    scheme: 'https',
    authority: 'public.test',
    base: '',
    prefix: '/app',
  }
  test.each([
    ['http://upstream:8080/x', 'https://public.test/app/x'],
    ['http://UPSTREAM:8080/x?y#z', 'https://public.test/app/x?y#z'],
    ['http://upstream:8080', 'https://public.test/app'],
    ['http://upstream:8080?q', 'https://public.test/app/?q'],
    ['https://public.test:443/x', 'https://public.test/app/x'],
    ['http://public.test:80/x', 'https://public.test/app/x'],
    ['//upstream:8080/x', '//public.test/app/x'],
    ['/x', '/app/x'],
    ['/', '/app/'],
    ['/a%2fb//c?d=%20', '/app/a%2fb//c?d=%20'],
    ['x', 'x'],
    ['../x', '../x'],
    ['?q', '?q'],
    ['#f', '#f'],
    ['', ''],
    ['https://other.test/cb?u=http://upstream:8080', 'https://other.test/cb?u=http://upstream:8080'],
    ['//other.test/x', '//other.test/x'],
    ['http://upstream:8081/x', 'http://upstream:8081/x'],
    ['http://upstream:8080.evil.test/x', 'http://upstream:8080.evil.test/x'],
    ['http://user@upstream:8080/x', 'http://user@upstream:8080/x'],
    ['/\\evil.test', '/\\evil.test'],
    ['mailto:a@upstream:8080', 'mailto:a@upstream:8080'],
    ['javascript:alert(1)', 'javascript:alert(1)'],
  ])('%s is seen as %s', (reference, seen) => {
    expect(mapReference(reference, about)).toBe(seen)
  })

  test.each([
    ['http://upstream:8080/base/x', '/base', '/app', 'https://public.test/app/x'],
    ['http://upstream:8080/base', '/base', '', 'https://public.test/'],
    ['http://upstream:8080/basement', '/base', '', 'https://public.test/basement'],
    ['/base/x', '/base', '', '/x'],
    ['/base?x', '/base', '/app', '/app/?x'],
    ['/x', '/base', '', '/x'],
  ])('%s with the base %s and the prefix %s is seen as %s', (reference, base, prefix, seen) => {
    expect(mapReference(reference, { ...about, base, prefix })).toBe(seen)
  })

  test('of others stay as they are, whatever they are', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), url => {
        fc.pre(!url.includes('upstream') && !url.includes('public.test'))
        expect(mapReference(url, about)).toBe(url)
      }),
    )
  })
})

describe('B062: cookies', () => {
  const changes: CookieChanges = {
    domain: domain => (domain === 'internal.test' ? 'public.test' : domain === 'gone.test' ? '' : null),
    path: path => (path === '/' ? '/app' : `/app${path}`),
    secure: true,
  }
  test.each([
    ['a=domain=x; Domain=.Internal.test; Path=/x', 'a=domain=x; Domain=public.test; Path=/app/x; Secure'],
    ['a=b; DOMAIN=internal.test;path=/', 'a=b; DOMAIN=public.test;path=/app; Secure'],
    ['a=b; Domain=gone.test; Secure; SameSite=None', 'a=b; Secure; SameSite=None'],
    ['a=b; Domain=other.test', 'a=b; Domain=other.test; Secure'],
    ['a=b; Expires=Wed, 01 Jan 2031 00:00:00 GMT', 'a=b; Expires=Wed, 01 Jan 2031 00:00:00 GMT; Secure'],
    ['__Host-a=b; Path=/; Secure; Domain=internal.test', '__Host-a=b; Path=/; Secure; Domain=internal.test'],
    ['__Secure-a=b; Path=/x; secure', '__Secure-a=b; Path=/app/x; secure'],
    ['a="; Path=/x"', 'a="; Path=/app/x"; Secure'],
    ['path=/x; HttpOnly', 'path=/x; HttpOnly; Secure'],
    ['a=b; Path=x', 'a=b; Path=x; Secure'],
    ['a=b; Path', 'a=b; Path; Secure'],
    ['', '; Secure'],
  ])('%s becomes %s', (line, made) => {
    expect(changeCookie(line, changes)).toBe(made)
  })

  test('without changes stay byte for byte', () => {
    const same: CookieChanges = { domain: () => null, path: () => null, secure: false }
    fc.assert(
      fc.property(fc.string(), line => {
        expect(changeCookie(line, same)).toBe(line)
      }),
    )
  })
})

test.each([
  ['stripPrefix', () => stripPrefix('app')],
  ['stripPrefix', () => stripPrefix('/app/')],
  ['stripPrefix', () => stripPrefix('/:a')],
  ['addPrefix', () => addPrefix('/')],
  ['rewritePath', () => rewritePath('/:a', '/:b')],
  ['addQuery', () => addQuery('')],
  ['addQuery', () => addQuery('a b')],
  ['addQuery', () => addQuery('a#b')],
  ['removeQuery', () => removeQuery()],
  ['removeQuery', () => removeQuery('')],
  ['rewriteLocation.upstream', () => rewriteLocation({ upstream: {} as never })],
  ['rewriteLocation.upstream', () => rewriteLocation({} as never)],
  ['rewriteLocation.prefix', () => rewriteLocation({ upstream: { pick() {} } as never, prefix: 'x' })],
  ['rewriteLocation.names', () => rewriteLocation({ upstream: { pick() {} } as never, names: ['a/b'] })],
  ['rewriteCookies.domains', () => rewriteCookies({ domains: { 'a b': '' } })],
  ['rewriteCookies.domains', () => rewriteCookies({ domains: { a: 'b; Path=/' } })],
  ['rewriteCookies.prefix', () => rewriteCookies({ prefix: '/a; Domain=evil.test' })],
  ['rewriteCookies.domain', () => rewriteCookies({ domain: 'a' } as never)],
  ['editReplyHeaders.set', () => editReplyHeaders({ set: { 'a b': 'c' } })],
  ['editReplyHeaders.set', () => editReplyHeaders({ set: { a: 'b\r\nc: d' } })],
  ['editReplyHeaders.Content-Length', () => editReplyHeaders({ set: { 'Content-Length': '5' } })],
  ['editRequestHeaders.Host', () => editRequestHeaders({ set: { Host: 'a' } })],
  ['editRequestHeaders.transfer-encoding', () => editRequestHeaders({ remove: ['transfer-encoding'] })],
  ['editRequestHeaders.remove', () => editRequestHeaders({ remove: ['a:'] })],
])('%s names its fault', (place, make) => {
  let thrown: unknown
  try {
    make()
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(ConfigError)
  expect((thrown as ConfigError).faults.map(fault => fault.place)).toEqual([place])
})
