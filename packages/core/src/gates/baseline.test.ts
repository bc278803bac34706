import { describe, expect, test } from 'vitest'
import { ConfigError } from '../errors.ts'
import type { Filter, InjectOptions } from '../pipeline/contract.ts'
import { pipeline } from '../pipeline/pipeline.ts'
import { reply } from '../reply.ts'
import { type BaselineOptions, baseline } from './baseline.ts'
import { securityHeaders } from './security-headers.ts'

const names = (filter: Pick<Filter, 'parts'>): string[] => (filter.parts ?? []).map(part => part.name)

const ALL = [
  ...['health', 'security-headers', 'request-id', 'trace-context', 'uri-length', 'methods', 'header-limits'],
  ...['early-data', 'host-allow-list', 'body-limit'],
]

test('all parts, in order', () => {
  expect(names(baseline({ hosts: ['a.example'] }))).toEqual(ALL)
  expect(names(baseline())).toEqual(ALL.filter(name => name !== 'host-allow-list'))
})

test.each([
  ['health', 'health'],
  ['securityHeaders', 'security-headers'],
  ['requestId', 'request-id'],
  ['traceContext', 'trace-context'],
  ['uriLength', 'uri-length'],
  ['methods', 'methods'],
  ['headerLimits', 'header-limits'],
  ['earlyData', 'early-data'],
  ['bodyLimit', 'body-limit'],
] as const)('%s: false leaves %s out, and nothing else', (option, name) => {
  const options: BaselineOptions = { hosts: ['a.example'], [option]: false }
  expect(names(baseline(options))).toEqual(ALL.filter(other => other !== name))
})

describe('what it refuses', () => {
  const app = pipeline()
    .use(baseline({ hosts: ['localhost'], bodyLimit: { max: 10 } }))
    .handle(cx => reply(200, cx.state.requestId, { headers: { Server: 'origin/1' } }))

  const cases: { what: string; request: InjectOptions; status: number; filter: string | null }[] = [
    { what: 'nothing of a plain request', request: {}, status: 200, filter: null },
    { what: 'a long target', request: { path: `/${'a'.repeat(9000)}` }, status: 414, filter: 'uri-length' },
    { what: 'TRACE', request: { method: 'TRACE' }, status: 405, filter: 'methods' },
    {
      what: 'many fields',
      request: { headers: { 'X-A': Array<string>(70).fill('b') } },
      status: 431,
      filter: 'header-limits',
    },
    {
      what: 'early data',
      request: { method: 'POST', headers: { 'Early-Data': '1' } },
      status: 425,
      filter: 'early-data',
    },
    { what: 'another host', request: { authority: 'evil.example' }, status: 421, filter: 'host-allow-list' },
    { what: 'a large body', request: { body: 'x'.repeat(11) }, status: 413, filter: 'body-limit' },
    {
      what: 'no probe by another name',
      request: { path: '/healthz', authority: '10.0.0.1' },
      status: 200,
      filter: 'health',
    },
  ]
  test.each(cases)('$what: $status by $filter', async ({ request, status, filter }) => {
    const answer = await app.inject(request)
    expect(answer.status).toBe(status)
    expect(answer.outcome.filter).toBe(filter)
    if (filter === 'health') return
    // Also a refusal is strict, and can be found in the log.
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/)
    expect(answer.headers.has('server')).toBe(false)
  })

  test('a target that is refused before any gate has an id and strict headers too', async () => {
    const answer = await app.inject({ path: '/..%2f..' })
    expect(answer.status).toBe(400)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/)
  })

  test('the id of the state is the id of the reply', async () => {
    const answer = await app.inject()
    expect(answer.text()).toBe(answer.headers.get('x-request-id'))
  })
})

test('a route has its own policy', async () => {
  const page = () => reply(200, '')
  const app = pipeline()
    .use(baseline({ securityHeaders: { frameOptions: 'DENY', contentSecurityPolicy: "default-src 'self'" } }))
    .route('/admin', r =>
      r.use(securityHeaders({ contentSecurityPolicy: "default-src 'none'" })).handle(page),
    )
    .handle(page)
  const admin = await app.inject({ path: '/admin' })
  expect(admin.headers.all('content-security-policy')).toEqual(["default-src 'none'"])
  expect(admin.headers.all('x-frame-options')).toEqual(['DENY'])
  const other = await app.inject({ path: '/' })
  expect(other.headers.all('content-security-policy')).toEqual(["default-src 'self'"])
})

test('options of a part are checked', () => {
  expect(() => baseline({ uriLength: { max: 0 } })).toThrow(ConfigError)
})
