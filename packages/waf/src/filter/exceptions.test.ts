import type { ConfigFault } from '@postern/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileExceptions, glob } from './exceptions.ts'

test.each([
  ['json.a', 'json.a', true],
  ['json.a', 'json.ab', false],
  ['json.posts[*].body', 'json.posts[12].body', true],
  ['json.posts[*].body', 'json.posts[12].title', false],
  ['*', '', true],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['*b*', 'abc', true],
  ['a*b*c', 'abbc', true],
  ['a*bb*bc', 'abbc', false],
  ['sqli-*', 'xss-a', false],
])('%s for %s: %s', (pattern, text, fits) => {
  expect(glob(pattern)(text)).toBe(fits)
})

test('a glob means what its regular expression means', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 8 })
  const text = fc.array(fc.constantFrom('a', 'b'), { maxLength: 12 })
  fc.assert(
    fc.property(letters, text, (pattern, plain) => {
      const expected = new RegExp(`^${pattern.join('').replaceAll('*', '.*')}$`).test(plain.join(''))
      expect(glob(pattern.join(''))(plain.join(''))).toBe(expected)
    }),
    { numRuns: 2000 },
  )
})

test('what is given must fit together, and the route with it', () => {
  const of = compileExceptions(
    [{ route: '/a', rule: 'sqli-*', place: 'query.*' }, { category: 'xss' }],
    'e',
    [],
  )
  const a = of('/a')!.findings
  expect(a('sqli-x', 'sqli', 'query.q')).toBe(true)
  expect(a('sqli-x', 'sqli', 'form.q')).toBe(false)
  expect(a('xss-x', 'xss', 'form.q')).toBe(true)
  expect(of('/b')!.findings('sqli-x', 'sqli', 'query.q')).toBe(false)
  expect(compileExceptions([{ route: '/a', category: 'xss' }], 'e', [])('/b')).toBeNull()
  expect(compileExceptions([{ route: '/a', category: 'xss' }], 'e', [])('POST /a')).not.toBeNull()
  expect(compileExceptions([{ route: 'GET /a', category: 'xss' }], 'e', [])('POST /a')).toBeNull()
})

test('faults are told all at once', () => {
  const faults: ConfigFault[] = []
  const bad = [{}, { route: '/a' }, { category: 'nope' }, { rule: '' }, { rule: 'a', field: 'b' }] as never
  compileExceptions(bad, 'waf.exceptions', faults)
  compileExceptions('x' as never, 'waf.exceptions', faults)
  expect(faults.map(fault => fault.place)).toEqual([
    ...[
      'waf.exceptions[0]',
      'waf.exceptions[1]',
      'waf.exceptions[2]',
      'waf.exceptions[3]',
      'waf.exceptions[4]',
    ],
    'waf.exceptions',
  ])
})
