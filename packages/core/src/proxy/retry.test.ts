import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FailureCode, type FailureSource, ProxyError, STATUS_OF_CODE } from '../errors.ts'
import { blames } from './blame.ts'
import { retryAfter } from './retry-after.ts'
import { RetryBudget } from './retry-budget.ts'
import { checkRetry } from './retry-options.ts'
import { planRetry, type RetryFacts } from './retry-plan.ts'

const failure = (code: FailureCode, retryable = false, source: FailureSource = 'upstream'): ProxyError =>
  new ProxyError({ source, phase: 'reply-head', code, retryable })
const facts = (given: Partial<RetryFacts> = {}): RetryFacts => ({
  method: 'GET',
  hasBody: false,
  bodyBegun: false,
  informed: false,
  refreshed: false,
  ...given,
})

describe('the plan', () => {
  const post = { method: 'POST', hasBody: true }
  const begun = { ...post, bodyBegun: true }
  test.each([
    ['connect-refused', true, {}, 'other'],
    ['connect-refused', true, post, 'other'],
    ['connect-timeout', true, post, 'other'],
    ['queue-full', true, post, 'other'],
    ['connect-refused', true, begun, 'no'],
    ['upstream-reset', false, {}, 'paid'],
    ['upstream-reset', false, { method: 'HEAD' }, 'paid'],
    ['upstream-reset', false, { method: 'OPTIONS' }, 'paid'],
    ['upstream-reset', false, { hasBody: true }, 'no'],
    ['upstream-reset', false, { informed: true }, 'no'],
    ['upstream-reset', false, { method: 'PUT' }, 'no'],
    ['upstream-reset', false, { method: 'DELETE' }, 'no'],
    ['upstream-reset', false, { method: 'POST' }, 'no'],
    ['upstream-reset', false, { method: 'get' }, 'no'],
    ['bad-reply', false, {}, 'paid'],
    ['head-timeout', false, {}, 'no'],
    ['total-timeout', false, {}, 'no'],
    ['idle-timeout', false, {}, 'no'],
    ['bad-forward', false, {}, 'no'],
    ['stale-socket', false, {}, 'fresh'],
    ['stale-socket', false, { method: 'DELETE' }, 'fresh'],
    ['stale-socket', false, { method: 'PUT', hasBody: true }, 'fresh'],
    ['stale-socket', false, { method: 'PUT', hasBody: true, bodyBegun: true }, 'no'],
    ['stale-socket', false, { method: 'POST' }, 'no'],
    ['stale-socket', false, { method: 'PATCH' }, 'no'],
    ['stale-socket', false, { method: 'BREW' }, 'no'],
    ['stale-socket', false, { refreshed: true }, 'paid'],
    ['stale-socket', false, { refreshed: true, method: 'DELETE' }, 'no'],
  ] as [FailureCode, boolean, Partial<RetryFacts>, string][])(
    '%s (retryable: %s) with %j: %s',
    (code, retryable, given, plan) => {
      expect(planRetry(failure(code, retryable), facts(given))).toBe(plan)
    },
  )

  test('what may have been seen is repeated only when that cannot do harm, whatever the case', () => {
    const anyFacts = fc.record({
      method: fc.constantFrom(
        'GET',
        'HEAD',
        'OPTIONS',
        'TRACE',
        'PUT',
        'DELETE',
        'POST',
        'PATCH',
        'CONNECT',
        'X',
      ),
      hasBody: fc.boolean(),
      bodyBegun: fc.boolean(),
      informed: fc.boolean(),
      refreshed: fc.boolean(),
    })
    const codes = fc.constantFrom(...(Object.keys(STATUS_OF_CODE) as FailureCode[]))
    const sources = fc.constantFrom<FailureSource[]>('client', 'proxy', 'upstream')
    fc.assert(
      fc.property(codes, fc.boolean(), sources, anyFacts, (code, retryable, source, given) => {
        const plan = planRetry(failure(code, retryable, source), given)
        if (plan === 'no') return
        expect(source).not.toBe('client')
        expect(given.bodyBegun || given.informed).toBe(false)
        if (retryable) return
        expect(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']).toContain(given.method)
        if (plan === 'paid') expect(given.hasBody).toBe(false)
      }),
    )
  })
})

describe('the budget', () => {
  test('is what requests earn, and a few a second', () => {
    let now = 0
    const budget = new RetryBudget(20, 2, () => now)
    expect([budget.spend(), budget.spend(), budget.spend()]).toEqual([true, true, false])
    for (let i = 0; i < 5; i++) budget.earn()
    expect([budget.spend(), budget.spend()]).toEqual([true, false])
    now = 500
    expect([budget.spend(), budget.spend()]).toEqual([true, false])
    now = 60_000
    expect([budget.spend(), budget.spend(), budget.spend()]).toEqual([true, true, false])
  })

  test('never gives more than that, and saves no more than a hundred', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { maxLength: 500 }),
        fc.integer({ min: 0, max: 100 }),
        (events, percent) => {
          const budget = new RetryBudget(percent, 0, () => 0)
          let earned = 0
          let spent = 0
          for (const earns of events) {
            if (earns) {
              budget.earn()
              earned += percent / 100
            } else if (budget.spend()) spent++
          }
          expect(spent).toBeLessThanOrEqual(earned + 1e-6)
        },
      ),
    )
    const rich = new RetryBudget(100, 0, () => 0)
    for (let i = 0; i < 1000; i++) rich.earn()
    expect(Array.from({ length: 200 }, () => rich.spend()).filter(Boolean)).toHaveLength(100)
  })
})

test.each([
  ['0', 0],
  ['120', 120_000],
  ['Tue, 01 Dec 2026 12:00:05 GMT', 5000],
  ['Tuesday, 01-Dec-26 12:00:05 GMT', 5000],
  ['Tue, 01 Dec 2026 11:00:00 GMT', 0],
  ['', null],
  ['-1', null],
  ['1.5', null],
  ['soon', null],
  ['2026-12-01', null],
  ['99999999999999', null],
  [undefined, null],
])('Retry-After %j is %j ms', (value, wait) => {
  expect(retryAfter(value, Date.UTC(2026, 11, 1, 12))).toBe(wait)
})

test.each([
  ['connect-refused', 'upstream', 'connect', true],
  ['bad-reply', 'upstream', 'reply-head', true],
  ['upstream-reset', 'upstream', 'reply-body', true],
  ['head-timeout', 'upstream', 'reply-head', true],
  ['total-timeout', 'upstream', 'reply-head', true],
  ['total-timeout', 'upstream', 'reply-body', false],
  ['stale-socket', 'upstream', 'reply-head', false],
  ['bad-forward', 'upstream', 'connect', false],
  ['upstream-reset', 'client', 'request-body', false],
  ['client-closed', 'client', 'reply-head', false],
  ['queue-full', 'proxy', 'connect', false],
] as const)('%s of the %s in %s tells against the target: %s', (code, source, phase, told) => {
  expect(blames(new ProxyError({ source, phase, code }))).toBe(told)
})

test.each([
  [{ attempts: 0 }, 'proxy.retry.attempts'],
  [{ attempts: 11 }, 'proxy.retry.attempts'],
  [{ budget: 101 }, 'proxy.retry.budget'],
  [{ perSecond: -1 }, 'proxy.retry.perSecond'],
  [{ statuses: [500] }, 'proxy.retry.statuses'],
  [{ maxWait: -1 }, 'proxy.retry.maxWait'],
  [{ tries: 2 }, 'proxy.retry.tries'],
])('%j names its fault', (options, place) => {
  const faults: { place: string }[] = []
  checkRetry(options as object, faults as never)
  expect(faults.map(fault => fault.place)).toEqual([place])
})
