import { expect, test } from 'vitest'
import { nominatedNames } from './hop-by-hop.ts'

test.each([
  { raw: [], names: null },
  { raw: ['Accept', 'x-a'], names: null },
  { raw: ['Connection', 'keep-alive'], names: null },
  { raw: ['Connection', 'close'], names: null },
  { raw: ['Connection', ''], names: null },
  { raw: ['Connection', ' , ,'], names: null },
  { raw: ['Connection', 'X-A'], names: ['x-a'] },
  { raw: ['connection', 'X-A, close ,\tX-B'], names: ['x-a', 'close', 'x-b'] },
  { raw: ['Connection', 'X-A', 'Accept', '*/*', 'CONNECTION', 'x-b,x-a'], names: ['x-a', 'x-b'] },
  {
    raw: ['Connection', 'X-Forwarded-For, Host, Content-Length, Transfer-Encoding, TE, Cookie'],
    names: null,
  },
  { raw: ['Connection', 'X-Real-IP, X-A'], names: ['x-a'] },
])('$raw nominates $names', ({ raw, names }) => {
  const found = nominatedNames(raw)
  expect(found && [...found]).toEqual(names)
})
