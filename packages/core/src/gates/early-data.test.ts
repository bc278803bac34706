import { expect, test } from 'vitest'
import type { Reply } from '../pipeline/contract.ts'
import { testContext } from '../testing/context.ts'
import { earlyData } from './early-data.ts'

test.each([
  ...['GET', 'HEAD', 'OPTIONS'].map(method => ({ method, upgrade: null, early: ['1'], status: undefined })),
  ...['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].map(method => ({
    method,
    upgrade: null,
    early: ['1'],
    status: 425,
  })),
  { method: 'POST', upgrade: null, early: [], status: undefined },
  { method: 'POST', upgrade: null, early: ['0'], status: 425 },
  { method: 'POST', upgrade: null, early: ['1', '1'], status: 425 },
  { method: 'POST', upgrade: null, early: [''], status: 425 },
  { method: 'GET', upgrade: 'websocket', early: ['1'], status: 425 },
  { method: 'CONNECT', upgrade: 'websocket', early: ['1'], status: 425 },
  { method: 'GET', upgrade: 'websocket', early: [], status: undefined },
])('$method, upgrade $upgrade, Early-Data $early: $status', ({ method, upgrade, early, status }) => {
  const cx = testContext({ method, upgrade, headers: { 'Early-Data': early } })
  const verdict = earlyData().onRequest?.(cx) as Reply | undefined
  expect(verdict?.status).toBe(status)
  expect(verdict?.reason).toBe(status && 'too-early')
})
