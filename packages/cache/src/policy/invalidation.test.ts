import { HeaderList } from '@postern/core'
import { expect, test } from 'vitest'
import { alsoInvalid, invalidates } from './invalidation.ts'

test.each([
  ['POST', 200, true],
  ['PUT', 303, true],
  ['DELETE', 204, true],
  ['M-SEARCH', 200, true],
  ['UNHEARD-OF', 200, true],
  ['POST', 404, false],
  ['PUT', 500, false],
  ['GET', 200, false],
  ['OPTIONS', 200, false],
])('%s %i', (method, status, expected) => {
  expect(invalidates(method, status)).toBe(expected)
})

test.each([
  ['/b', ['/b']],
  ['b?x=1', ['/dir/b?x=1']],
  ['http://a.test/c', ['/c']],
  ['http://a.test:80/c', ['/c']],
  ['https://a.test/c', []],
  ['http://other.test/c', []],
  ['//other.test/c', []],
  ['/dir/a', []],
  ['http://[', []],
])('Location: %s', (Location, expected) => {
  expect(alsoInvalid('http', 'a.test', '/dir/a', HeaderList.from({ Location }))).toEqual(expected)
})
