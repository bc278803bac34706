import { expect, test } from 'vitest'
import { type CacheDecision, cacheStatus } from './cache-status.ts'

const base: CacheDecision = {
  status: 'hit',
  reason: '',
  forward: null,
  forwardStatus: null,
  ttl: null,
  stored: false,
}

test.each([
  [{ ttl: 30.7 }, 'edge; hit; ttl=30'],
  [{ status: 'stale', ttl: -5.2, reason: 'revalidating' }, 'edge; hit; ttl=-5; detail=revalidating'],
  [{ status: 'miss', forward: 'uri-miss', stored: true }, 'edge; fwd=uri-miss; stored'],
  [{ status: 'miss', forward: 'vary-miss', reason: 'private' }, 'edge; fwd=vary-miss; detail=private'],
  [{ status: 'joined', forward: 'uri-miss', stored: true }, 'edge; fwd=uri-miss; stored; collapsed'],
  [
    { status: 'revalidated', forward: 'stale', forwardStatus: 304, ttl: 60 },
    'edge; fwd=stale; fwd-status=304; ttl=60',
  ],
  [{ status: 'bypass', forward: 'method', reason: 'method' }, 'edge; fwd=method'],
] as [Partial<CacheDecision>, string][])('%j', (decision, line) => {
  expect(cacheStatus('edge', { ...base, ...decision })).toBe(line)
})
