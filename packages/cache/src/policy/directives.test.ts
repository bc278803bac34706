import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Directives, MAX_SECONDS, noDirectives, parseCacheControl } from './directives.ts'

/** What differs from nothing said. */
function said(...lines: string[]): Partial<Directives> {
  const nothing = noDirectives() as unknown as Record<string, unknown>
  const entries = Object.entries(parseCacheControl(lines))
  return Object.fromEntries(entries.filter(([name, value]) => String(value) !== String(nothing[name])))
}

describe('Cache-Control', () => {
  test.each([
    ['max-age=60', { maxAge: 60 }],
    ['MaX-AgE=60', { maxAge: 60 }],
    ['max-age="60"', { maxAge: 60 }],
    ['max-age=003600', { maxAge: 3600 }],
    ['max-age=99999999999999999999', { maxAge: MAX_SECONDS }],
    // Invalid lifetimes are stale.
    ['max-age=-1', { maxAge: 0 }],
    ['max-age=60.0', { maxAge: 0 }],
    ['max-age=60a', { maxAge: 0 }],
    ["max-age='60'", { maxAge: 0 }],
    ['max-age', { maxAge: 0 }],
    ['max-age =60', { maxAge: 0 }],
    ['max-age= 60', { maxAge: 0 }],
    ['max-age=60 61', { maxAge: 0 }],
    // Contradictions are stale, repetitions are not.
    ['max-age=60, max-age=1', { maxAge: 0 }],
    ['max-age=60, max-age=60', { maxAge: 60 }],
    ['s-maxage=5, max-age=60', { sMaxage: 5, maxAge: 60 }],
    [',, max-age=60 ,,', { maxAge: 60 }],
    ['max-age=60;private', { maxAge: 0 }],
    // What stands in quotes is no directive.
    ['ext="max-age=3600", max-age=1', { maxAge: 1 }],
    ['max-age=1, ext="a, max-age=3600"', { maxAge: 1 }],
    ['ext="a\\", no-store, b", max-age=1', { maxAge: 1 }],
    // But a quote that never ends may hide anything.
    ['ext="a, no-store', { noStore: true }],
    ['max-age=60, ext="', { maxAge: 60, noStore: true }],
    ['nO-StOrE', { noStore: true }],
    ['no-store=1', { noStore: true }],
    ['no-store foo', { noStore: true }],
    ['no-cache', { noCache: true }],
    ['no-cache="a, B"', { withheld: ['a', 'b'] }],
    ['no-cache=set-cookie', { withheld: ['set-cookie'] }],
    ['no-cache=""', { noCache: true }],
    ['no-cache="a b"', { noCache: true }],
    ['private', { isPrivate: true }],
    ['private="x"', { withheld: ['x'] }],
    ['private=', { isPrivate: true }],
    [
      'public, must-revalidate, proxy-revalidate',
      { isPublic: true, mustRevalidate: true, proxyRevalidate: true },
    ],
    [
      'must-understand, immutable, no-transform',
      { mustUnderstand: true, immutable: true, noTransform: true },
    ],
    ['stale-while-revalidate=5, stale-if-error=6', { staleWhileRevalidate: 5, staleIfError: 6 }],
    ['stale-while-revalidate=x', {}],
    ['max-stale', { maxStale: Infinity }],
    ['max-stale=3', { maxStale: 3 }],
    ['max-stale=x', {}],
    ['min-fresh=3, only-if-cached', { minFresh: 3, onlyIfCached: true }],
    ['nothing-to-see-here', {}],
    ['', {}],
    ['=5, "x", max-age=7', { maxAge: 7 }],
  ] as [string, Partial<Directives>][])('%s', (line, expected) => {
    expect(said(line)).toEqual(expected)
  })

  test('lines count together', () => {
    expect(said('max-age=1', 'no-store')).toEqual({ maxAge: 1, noStore: true })
    expect(said('max-age=1', 'max-age=2')).toEqual({ maxAge: 0 })
  })

  test('whatever stands around it, an unquoted no-store is seen', () => {
    const noise = fc.string({ unit: fc.constantFrom('a', '=', ' ', ',', ';', '-', '1', '\t', "'") })
    fc.assert(
      fc.property(noise, noise, (before, after) => {
        expect(parseCacheControl([`${before},no-store,${after}`]).noStore).toBe(true)
      }),
    )
  })

  test('no text takes long or throws', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('"', '\\', ',', '=', 'a', ' '), maxLength: 200 }),
        text => {
          expect(parseCacheControl([text])).toBeTypeOf('object')
        },
      ),
    )
    expect(parseCacheControl([`${'a="'.repeat(20_000)}`]).noStore).toBeTypeOf('boolean')
  })
})
