import { expect, test } from 'vitest'
import { ConfigError } from '../errors.ts'
import type { Reply } from '../pipeline/contract.ts'
import { testContext } from '../testing/context.ts'
import { type HealthOptions, health } from './health.ts'

test.each([
  { path: '/healthz', status: 200, reason: undefined },
  { path: '/healthz?verbose=1', status: 200, reason: undefined },
  { path: '/healthz', method: 'HEAD', status: 200, reason: undefined },
  { path: '/healthz', method: 'POST', status: 405, reason: 'method-not-allowed' },
  { path: '/healthz', draining: true, status: 200, reason: undefined },
  { path: '/readyz', status: 200, reason: undefined },
  { path: '/readyz', draining: true, status: 503, reason: 'draining' },
  { path: '/readyz', options: { isReady: () => false }, status: 503, reason: 'not-ready' },
  { path: '/readyz', options: { isReady: () => true }, status: 200, reason: undefined },
  { path: '/readyz', options: { isReady: () => true }, draining: true, status: 503, reason: 'draining' },
  { path: '/healthz', options: { isReady: () => false }, status: 200, reason: undefined },
  { path: '/healthz/', status: undefined, reason: undefined },
  { path: '/Healthz', status: undefined, reason: undefined },
  { path: '/', status: undefined, reason: undefined },
  { path: '/healthz', options: { live: '/live' as const }, status: undefined, reason: undefined },
  { path: '/live', options: { live: '/live' as const }, status: 200, reason: undefined },
  { path: '/readyz', options: { ready: false as const }, status: undefined, reason: undefined },
])(
  '$method $path, draining $draining: $status $reason',
  ({ path, method, draining, options, status, reason }) => {
    const cx = testContext({ path, method: method ?? 'GET', draining: draining ?? false })
    const verdict = health(options as HealthOptions).onRequest?.(cx) as Reply | undefined
    expect(verdict?.status).toBe(status)
    expect(verdict?.reason).toBe(reason)
    if (verdict) expect(verdict.headers.get('cache-control')).toBe('no-store')
    if (status === 200) expect(Buffer.from(verdict?.body as Uint8Array).toString()).toBe('ok')
  },
)

test.each([
  { live: 'healthz' },
  { live: '/a/../healthz' },
  { live: '/healthz?x' },
  { ready: '/a b' },
  { ready: '' },
  { live: '/x', ready: '/x' },
  { isReady: true },
])('%j is refused', options => {
  expect(() => health(options as HealthOptions)).toThrow(ConfigError)
})
