import { expect, test } from 'vitest'
import type { ConfigError } from '../errors.ts'
import { HeaderList } from '../headers/list.ts'
import type { Reply } from '../pipeline/contract.ts'
import { testContext } from '../testing/context.ts'
import { headerLimits } from './header-limits.ts'

const lines = (count: number, name = 'a', value = 'b'): string[] =>
  Array.from({ length: count }, () => [name, value]).flat()

test.each([
  { what: 'none', options: {}, raw: [], status: undefined },
  { what: '64 lines', options: {}, raw: lines(64), status: undefined },
  { what: '65 lines', options: {}, raw: lines(65), status: 431 },
  { what: '16384 bytes in all', options: {}, raw: ['a', 'x'.repeat(16_379)], status: undefined },
  { what: '16385 bytes in all', options: {}, raw: ['a', 'x'.repeat(16_380)], status: 431 },
  { what: 'a long name', options: { maxBytes: 64 }, raw: ['x'.repeat(60), 'y'], status: 431 },
  { what: 'many small lines', options: { maxBytes: 64 }, raw: lines(11), status: 431 },
  { what: 'many small lines, just fitting', options: { maxBytes: 66 }, raw: lines(11), status: undefined },
  {
    what: 'cookies split up',
    options: {},
    raw: [...lines(63), ...lines(40, 'cookie', 'a=b')],
    status: undefined,
  },
  {
    what: 'one line beside the cookies',
    options: {},
    raw: [...lines(64), ...lines(40, 'Cookie', 'a=b')],
    status: 431,
  },
  { what: 'a name as long as Cookie', options: {}, raw: lines(65, 'cookiE2'.slice(1)), status: 431 },
])('$what: $status', ({ options, raw, status }) => {
  const verdict = headerLimits(options).onRequest?.(testContext({ headers: new HeaderList(raw) })) as
    | Reply
    | undefined
  expect(verdict?.status).toBe(status)
  expect(verdict?.reason).toBe(status && 'head-too-large')
})

test('all faults are told at once', () => {
  let thrown: unknown
  try {
    headerLimits({ maxCount: 0, maxBytes: Number.POSITIVE_INFINITY })
  } catch (error) {
    thrown = error
  }
  expect((thrown as ConfigError).faults.map(fault => fault.place)).toEqual([
    'headerLimits.maxCount',
    'headerLimits.maxBytes',
  ])
})
