import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseExposition } from '../../../test/support/exposition.ts'
import { ConfigError, ProxyError } from '../../errors.ts'
import type { Outcome } from '../../pipeline/contract.ts'
import { pipeline } from '../../pipeline/pipeline.ts'
import { refuse, reply } from '../../reply.ts'
import { Exposition } from './exposition.ts'
import { Histogram } from './histogram.ts'
import { LabelCounter, OTHER } from './label-counter.ts'
import { type MetricsOptions, metrics } from './metrics.ts'

describe('the text', () => {
  test('is exact', () => {
    const out = new Exposition()
      .family('a_total', 'counter', 'What \\ is\ncounted.')
      .sample('a_total', [], 3)
      .sample(
        'a_total',
        [
          ['x', 'a"b\\c\nd'],
          ['y', ''],
        ],
        1.5,
      )
      .family('b', 'gauge', 'B.')
      .sample('b', [], Infinity)
      .sample('b', [['n', '1']], -Infinity)
      .sample('b', [['n', '2']], Number.NaN)
      .family('c_seconds', 'histogram', 'C.')
      .histogram('c_seconds', [['r', '/']], [0.1, 1], [2, 0, 1], 4.25)
    expect(out.toString()).toBe(
      [
        '# HELP a_total What \\\\ is\\ncounted.',
        '# TYPE a_total counter',
        'a_total 3',
        'a_total{x="a\\"b\\\\c\\nd",y=""} 1.5',
        '# HELP b B.',
        '# TYPE b gauge',
        'b +Inf',
        'b{n="1"} -Inf',
        'b{n="2"} NaN',
        '# HELP c_seconds C.',
        '# TYPE c_seconds histogram',
        'c_seconds_bucket{r="/",le="0.1"} 2',
        'c_seconds_bucket{r="/",le="1"} 2',
        'c_seconds_bucket{r="/",le="+Inf"} 3',
        'c_seconds_sum{r="/"} 4.25',
        'c_seconds_count{r="/"} 3',
        '',
      ].join('\n'),
    )
  })

  test('gives back whatever a label was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), value => {
        const text = new Exposition()
          .family('x', 'gauge', 'X.')
          .sample('x', [['l', value]], 1)
          .toString()
        expect(parseExposition(text).get('x')!.samples).toEqual([
          { name: 'x', labels: { l: value }, value: 1 },
        ])
      }),
    )
  })
})

test('a histogram counts what a plain count does', () => {
  const bounds = [1, 2, 5]
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 8 })), values => {
      const histogram = new Histogram(bounds)
      for (const value of values) histogram.observe(value)
      const below = (bound: number): number => values.filter(value => value <= bound).length
      const counts = [...histogram.counts]
      expect(counts[0]).toBe(below(1))
      expect(counts[0]! + counts[1]!).toBe(below(2))
      expect(counts.reduce((sum, one) => sum + one, 0)).toBe(values.length)
      expect(histogram.sum).toBe(values.reduce((sum, one) => sum + one, 0))
    }),
  )
})

test('a counter has a bound, and beyond it all are others', () => {
  const counter = new LabelCounter(2, 3)
  for (let i = 0; i < 100; i++) counter.add([`name-${i % 10}`, '\x07'.repeat(500)])
  const all = [...counter]
  expect(all.map(one => one.values[0])).toEqual(['name-0', 'name-1', 'name-2', OTHER])
  expect(all.map(one => one.count)).toEqual([10, 10, 10, 70])
  expect(all[0]!.values[1]!.length).toBeLessThan(600)
  expect(all[0]!.values[1]).not.toContain('\x07')
})

describe('requests', () => {
  test('are counted by route, method and status, and told', async () => {
    const m = metrics()
    const app = pipeline()
      .use(m.filter)
      .use({
        name: 'gate',
        onRequest: cx => (cx.request.path === '/no' ? refuse(403, 'not-you') : undefined),
      })
      .route('/users/:id', r => r.handle(() => reply(200, 'four')))
      .route('/broken', r =>
        r.handle(() => {
          throw new Error('a bug')
        }),
      )
      .handle(m.handler)
    for (const path of ['/users/1', '/users/2', '/no', '/broken', '/else']) await app.inject({ path })
    await app.inject({ path: '/users/3', method: 'BREW' })
    const answer = await app.inject({ path: '/metrics' })
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const families = parseExposition(answer.text())
    const requests = families
      .get('postern_requests_total')!
      .samples.map(one => [...Object.values(one.labels), one.value])
    expect(requests).toEqual([
      ['/users/:id', 'GET', '200', 2],
      ['/users/:id', OTHER, '200', 1],
      ['*', 'GET', '403', 1],
      ['*', 'GET', '200', 1],
      ['/broken', 'GET', '500', 1],
    ])
    const of = (name: string) =>
      families.get(name)!.samples.map(one => [...Object.values(one.labels), one.value])
    expect(of('postern_answered_by_filter_total')).toEqual([['gate', 'not-you', 1]])
    expect(of('postern_failures_total')).toEqual([['proxy', 'handler', 'internal', 1]])
    // The one that asks.
    expect(of('postern_requests_in_flight')).toEqual([[1]])
    expect(parseExposition(m.text()).get('postern_requests_in_flight')!.samples[0]!.value).toBe(0)
    const counts = families.get('postern_request_duration_seconds')!.samples
    expect(counts.filter(one => one.name.endsWith('_count')).map(one => one.value)).toEqual([3, 2, 1])
    expect(of('postern_reply_body_bytes_total')[0]![0]).toBeGreaterThan(11)
  })

  test('that no hook saw leave the number under way as it is', () => {
    const m = metrics()
    const outcome = {
      status: 400,
      filter: null,
      reason: null,
      error: null,
      upstream: null,
      target: null,
      attempts: 0,
    }
    const cx = { route: '*', request: { method: 'GET' }, state: m.filter.state!() }
    m.filter.onDone!(cx as never, { ...outcome, bytesReceived: 0, bytesSent: 0, duration: 1 } as Outcome)
    expect(m.text()).toContain('postern_requests_in_flight 0\n')
    expect(m.text()).toContain('postern_requests_total{route="*",method="GET",status="400"} 1\n')
  })

  test('never make more series than a bound, whatever clients send', async () => {
    const m = metrics()
    const app = pipeline()
      .use(m.filter)
      .handle(() => reply(200))
    for (let i = 0; i < 300; i++) {
      await app.inject({
        path: `/${i}`,
        method: `M${i}`,
        authority: `h${i}.test`,
        headers: { 'x-a': String(i) },
      })
    }
    expect(m.text().split('\n').length).toBeLessThan(100)
  })

  test('failures of upstreams and retries', () => {
    const m = metrics({ prefix: 'edge' })
    const error = new ProxyError({ source: 'upstream', phase: 'connect', code: 'connect-refused' })
    const outcome = {
      status: 502,
      filter: null,
      reason: null,
      error,
      upstream: 'api',
      target: 'http://a',
      attempts: 3,
    }
    const cx = { route: '/x', request: { method: 'POST' }, state: m.filter.state!() }
    m.filter.onDone!(cx as never, { ...outcome, bytesReceived: 5, bytesSent: 7, duration: 40 } as Outcome)
    const text = m.text()
    expect(text).toContain('edge_upstream_exchanges_total{upstream="api",method="POST",status="502"} 1\n')
    expect(text).toContain('edge_upstream_retries_total{upstream="api"} 2\n')
    expect(text).toContain(
      'edge_failures_total{source="upstream",phase="connect",code="connect-refused"} 1\n',
    )
    expect(text).toContain('edge_upstream_exchange_duration_seconds_bucket{upstream="api",le="0.05"} 1\n')
    expect(text).toContain('edge_upstream_exchange_duration_seconds_bucket{upstream="api",le="0.025"} 0\n')
  })
})

test.each([
  [{ prefix: '1x' }, 'metrics.prefix'],
  [{ prefix: 'a-b' }, 'metrics.prefix'],
  [{ upstreams: [{}] }, 'metrics.upstreams'],
  [
    {
      upstreams: [
        { name: 'a', stats() {} },
        { name: 'a', stats() {} },
      ],
    },
    'metrics.upstreams',
  ],
  [{ path: '/metrics' }, 'metrics.path'],
])('%j names its fault', (options, place) => {
  let thrown: unknown
  try {
    metrics(options as MetricsOptions)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(ConfigError)
  expect((thrown as ConfigError).faults.map(fault => fault.place)).toEqual([place])
})
