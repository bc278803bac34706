import { expect, test } from 'vitest'
import { ConfigError } from '../errors.ts'
import type { Reply } from '../pipeline/contract.ts'
import { testContext } from '../testing/context.ts'
import { uriLength } from './uri-length.ts'

test.each([
  { max: 10, path: '/', status: undefined },
  { max: 10, path: '/345678910', status: undefined },
  { max: 10, path: '/3456789101', status: 414 },
  { max: 10, path: '/345?78910', status: undefined },
  { max: 10, path: '/345?789101', status: 414 },
  // The bytes on the wire count, not what is left of them once they are decoded.
  { max: 10, path: '/%61%61%61%61', status: 414 },
  { max: undefined, path: `/${'a'.repeat(8191)}`, status: undefined },
  { max: undefined, path: `/${'a'.repeat(8192)}`, status: 414 },
])('max $max: a target of $path.length bytes gives $status', ({ max, path, status }) => {
  const gate = uriLength(max === undefined ? {} : { max })
  const verdict = gate.onRequest?.(testContext({ path })) as Reply | undefined
  expect(verdict?.status).toBe(status)
  expect(verdict?.reason).toBe(status && 'uri-too-long')
})

test.each([0, -1, 1.5, Number.NaN, 2 ** 21])('max %s is refused when the gate is made', max => {
  expect(() => uriLength({ max })).toThrow(ConfigError)
})
