import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NameIndex } from './index-of-names.ts'
import type { Material } from './material.ts'

function material(id: string, names: string[], validFrom = 0, validTo = 10): Material {
  return { id, names, validFrom, validTo, source: id } as unknown as Material
}

/** The plain way: all certificates, one by one. */
function plain(all: readonly Material[], name: string, now: number): Material | null {
  const better = (a: Material, b: Material): Material => {
    const [first, second] = [a, b].map(one => one.validFrom <= now && now <= one.validTo)
    if (first !== second) return first ? a : b
    return a.validTo > b.validTo ? a : b
  }
  const exact = all.filter(one => one.names.includes(name))
  const wild = all.filter(one =>
    one.names.some(pattern => {
      const [label, ...rest] = name.split('.')
      return (
        pattern.startsWith('*.') && label !== '' && pattern.slice(2) === rest.join('.') && rest.length > 0
      )
    }),
  )
  const found = exact.length > 0 ? exact : wild
  return found.length === 0 ? null : found.reduce((best, one) => better(one, best))
}

const label = fc.constantFrom('a', 'b', 'c')
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map(labels => labels.join('.'))
const pattern = fc.oneof(
  name,
  name.map(one => `*.${one}`),
)

test('finds what a search through all certificates finds', () => {
  const certificate = fc.record({
    names: fc.array(pattern, { minLength: 1, maxLength: 3 }),
    from: fc.nat(10),
    to: fc.integer({ min: 0, max: 1000 }),
  })
  fc.assert(
    fc.property(fc.array(certificate, { maxLength: 8 }), name, (list, asked) => {
      // Ends differ, so that there is one best certificate.
      const all = list.map(({ names, from, to }, i) => material(String(i), names, from, to * 10 + i))
      expect(new NameIndex(all, null, 5).find(asked)?.id).toBe(plain(all, asked, 5)?.id)
    }),
    { numRuns: 2000 },
  )
})

test('a wildcard is no name, and stands for no empty label', () => {
  const index = new NameIndex([material('w', ['*.a.b'])], null, 5)
  expect([index.find('.a.b'), index.find('a.b'), index.find('x.y.a.b'), index.find('')]).toEqual([
    null,
    null,
    null,
    null,
  ])
  expect(index.find('x.a.b')?.id).toBe('w')
})

test('the default is the first, or the one with that name', () => {
  const all = [material('1', ['a.b']), material('2', ['*.c.d'])]
  expect(new NameIndex(all, null, 5).fallback?.id).toBe('1')
  expect(new NameIndex(all, 'x.c.d', 5).fallback?.id).toBe('2')
  expect(new NameIndex(all, 'e.f', 5).fallback).toBeNull()
  expect(new NameIndex([], null, 5).fallback).toBeNull()
})
