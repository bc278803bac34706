import { HeaderList } from '@postern/core'
import { testHead } from '@postern/core/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { noDirectives } from '../policy/directives.ts'
import { placeOf } from '../policy/key.ts'
import { type Entry, makeEntry } from './entry.ts'
import { Level1 } from './level1.ts'
import { Shortcut } from './shortcut.ts'

const rules = {
  host: null,
  scheme: null,
  query: { allow: null, deny: null, sort: false },
  headers: [],
  cookies: [],
  fingerprinted: null,
}
const requestFor = (path: string, fields: Record<string, string> = {}, peerTrusted = false) =>
  testHead({ path, headers: fields, peerTrusted })
let ticks = 0

function entryFor(
  path: string,
  { fields = {}, vary = [] as string[], bytes = 10, tags = '', tick = ++ticks } = {},
): Entry {
  const request = requestFor(path, fields)
  const { key, selector } = placeOf(request, rules)
  return makeEntry({
    key,
    selector,
    request: request.headers,
    status: 200,
    headers: HeaderList.from({ 'Cache-Tag': tags }),
    body: new Uint8Array(bytes),
    part: null,
    judgement: {
      notStored: null,
      said: noDirectives(),
      lifetime: 1,
      initialAge: 0,
      responseTime: 0,
      validators: { etag: undefined, lastModified: undefined, date: 0 },
      varyNames: vary,
      shared: false,
      fresh: true,
    },
    tick,
    mostText: 1000,
  })
}

function find(level: Level1, path: string, fields: Record<string, string> = {}): Entry | undefined {
  const request = requestFor(path, fields)
  const { key, selector } = placeOf(request, rules)
  return level.find(key, selector, request.headers)
}

const roomy = { maxBytes: 1_000_000, maxEntries: 1000, maxVariants: 10 }

test('the newest that fits is found; like replaces like, unless it is older', () => {
  const level = new Level1(roomy)
  const [plain, german, newer] = [
    entryFor('/x'),
    entryFor('/x', { fields: { a: 'de' }, vary: ['a'] }),
    entryFor('/x'),
  ]
  level.put(plain!)
  level.put(german!)
  expect(find(level, '/x', { a: 'de' })).toBe(german)
  expect(find(level, '/x', { a: 'en' })).toBe(plain)
  level.put(newer!)
  expect(find(level, '/x', { a: 'de' })).toBe(newer)
  expect(level.put(plain!)).toBe(false)
  expect(level.entries).toBe(2)
})

test('variants under one key are bounded, and the least used go', () => {
  const level = new Level1({ ...roomy, maxVariants: 3 })
  const of = (a: string) => entryFor('/x', { fields: { a }, vary: ['a'] })
  for (const a of ['1', '2', '3']) level.put(of(a))
  find(level, '/x', { a: '1' })
  level.put(of('4'))
  expect(['1', '2', '3', '4'].map(a => find(level, '/x', { a }) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ])
  expect(level.entries).toBe(3)
})

test('what is used stays when there is no room', () => {
  const one = entryFor('/0').size
  const level = new Level1({ ...roomy, maxBytes: 10 * one })
  for (let i = 0; i < 10; i++) level.put(entryFor(`/${i}`))
  for (let i = 10; i < 100; i++) {
    find(level, '/3')
    level.put(entryFor(`/${i}`))
  }
  expect(find(level, '/3')).toBeDefined()
  expect(find(level, '/4')).toBeUndefined()
  expect(find(level, '/99')).toBeDefined()
})

test('the new one stays even where all others are in use', () => {
  const one = entryFor('/0').size
  const level = new Level1({ ...roomy, maxBytes: 4 * one })
  for (let i = 0; i < 4; i++) level.put(entryFor(`/${i}`))
  for (let i = 0; i < 4; i++) find(level, `/${i}`)
  level.put(entryFor('/new'))
  expect(find(level, '/new')).toBeDefined()
})

test('bytes that are being read count, and can only take half', () => {
  const one = entryFor('/0').size
  const level = new Level1({ ...roomy, maxBytes: 10 * one })
  for (let i = 0; i < 10; i++) level.put(entryFor(`/${i}`))
  expect(level.reserve(4 * one)).toBe(true)
  expect(level.entries).toBe(6)
  expect(level.reserve(2 * one)).toBe(false)
  level.release(4 * one)
  expect(level.bytes).toBe(6 * one)
})

describe('whatever happens', () => {
  const paths = ['/a', '/b', '/%61', '/c?x=1']
  const step = fc.record({
    what: fc.constantFrom('put', 'put', 'put', 'remove', 'replace', 'clear', 'reserve', 'purge'),
    path: fc.constantFrom(...paths),
    language: fc.constantFrom('de', 'en'),
    vary: fc.boolean(),
    bytes: fc.nat(3000),
    back: fc.boolean(),
  })

  test('the shortcut finds what the store finds, bounds hold, and counts are right', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const level = new Level1({ maxBytes: 12_000, maxEntries: 4, maxVariants: 2 })
        const shortcut = new Shortcut(3)
        let reserved = 0
        for (const { what, path, language, vary, bytes, back } of steps) {
          const found = find(level, path, { a: language })
          if (what === 'put') {
            const tick = back ? ticks - 3 : ++ticks
            level.put(
              entryFor(path, { fields: { a: language }, vary: vary ? ['a'] : [], bytes, tick, tags: path }),
            )
          } else if (what === 'remove' && found) level.remove(found)
          else if (what === 'replace' && found)
            level.replace(found, { ...found, tick: ++ticks, slot: null, alone: false })
          else if (what === 'clear') level.clear()
          else if (what === 'purge') for (const entry of level.tagged(path)) level.remove(entry)
          else if (what === 'reserve') {
            if (back) {
              level.release(reserved)
              reserved = 0
            } else if (level.reserve(bytes)) reserved += bytes
          }
          for (const other of paths) {
            for (const a of ['de', 'en']) {
              const request = requestFor(other, { a })
              const expected = find(level, other, { a })
              const direct = shortcut.find(request)
              expect(direct === undefined || direct === expected).toBe(true)
              if (expected) shortcut.remember(request, placeOf(request, rules), expected)
              // Others on the same target are not answered so.
              expect(shortcut.find({ ...request, authority: 'other' })).toBeUndefined()
              expect(shortcut.find({ ...request, scheme: 'https' })).toBeUndefined()
              expect(shortcut.find({ ...request, peerTrusted: true })).toBeUndefined()
            }
          }
          const all = level.matching(() => true)
          expect(all).toHaveLength(level.entries)
          expect(all.reduce((sum, entry) => sum + entry.size, reserved)).toBe(level.bytes)
          expect(level.bytes <= 12_000 || level.entries <= 1).toBe(true)
          expect(level.entries).toBeLessThanOrEqual(4)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('no shortcut keeps an entry alive that the store has let go', () => {
    const level = new Level1({ ...roomy, maxEntries: 2 })
    const shortcut = new Shortcut(10)
    const entry = entryFor('/x')
    level.put(entry)
    const request = requestFor('/x')
    shortcut.remember(request, placeOf(request, rules), entry)
    expect(shortcut.find(request)).toBe(entry)
    for (let i = 0; i < 8; i++) level.put(entryFor(`/${i}`))
    expect(shortcut.find(request)).toBeUndefined()
    expect(entry.slot).toBeNull()
  })
})
