import { type Logger, pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { ConfigError, ProxyError } from '../errors.ts'
import { requestId } from '../gates/request-id.ts'
import { uriLength } from '../gates/uri-length.ts'
import type { Context, Outcome } from '../pipeline/contract.ts'
import { pipeline } from '../pipeline/pipeline.ts'
import { reply } from '../reply.ts'
import { type TestHead, testContext } from '../testing/context.ts'
import { type AccessLogOptions, accessLog } from './access-log.ts'

type Line = Record<string, unknown> & { headers?: Record<string, string>; error?: Record<string, unknown> }

const OUTCOME: Outcome = {
  status: 200,
  filter: null,
  reason: null,
  error: null,
  upstream: null,
  target: null,
  attempts: 0,
  bytesReceived: 3,
  bytesSent: 5,
  duration: 1.23456,
}

/** The raw lines of a logger in memory. */
const memory = (level = 'info'): { logger: Logger; lines: string[] } => {
  const lines: string[] = []
  return { logger: pino({ base: null, level }, { write: line => void lines.push(line) }), lines }
}

const logged = (
  head: TestHead,
  outcome: Partial<Outcome> = {},
  options: AccessLogOptions = {},
  state: object = {},
): { line: Line; text: string } => {
  const { logger, lines } = memory()
  const cx: Context = testContext(head, state)
  accessLog({ logger, ...options }).onDone?.(cx, { ...OUTCOME, ...outcome })
  expect(lines).toHaveLength(1)
  return { line: JSON.parse(lines[0]!) as Line, text: lines[0]! }
}

test('what was forwarded has its upstream and target, and its attempts when there was more than one', () => {
  const asked = { upstream: 'api', target: 'http://10.0.0.1:80' }
  expect(logged({}, { ...asked, attempts: 1 }).line).toMatchObject(asked)
  expect(logged({}, { ...asked, attempts: 1 }).line).not.toHaveProperty('attempts')
  expect(logged({}, { ...asked, attempts: 3 }).line).toMatchObject({ ...asked, attempts: 3 })
  for (const name of ['upstream', 'target', 'attempts']) expect(logged({}).line).not.toHaveProperty(name)
})

test('one line has what happened', () => {
  const head = {
    path: '/a?b=c',
    authority: 'a.example',
    clientAddress: '192.0.2.1',
    route: '/a',
    method: 'POST',
  }
  const state = { requestId: 'abcdefgh', trace: { traceId: 'f'.repeat(32) } }
  const { line } = logged(head, {}, {}, state)
  const { time, ...rest } = line
  expect(time).toBeTypeOf('number')
  expect(rest).toEqual({
    level: 30,
    id: 'abcdefgh',
    trace: 'f'.repeat(32),
    client: '192.0.2.1',
    method: 'POST',
    host: 'a.example',
    path: '/a?b=c',
    route: '/a',
    version: '1.1',
    status: 200,
    in: 3,
    out: 5,
    ms: 1.235,
  })
})

test('a refusal names filter and reason', () => {
  const { line } = logged({}, { status: 429, filter: 'rate-limit', reason: 'rate-limit' })
  expect(line).toMatchObject({ level: 40, filter: 'rate-limit', reason: 'rate-limit' })
})

test('what a WAF says of a request is bounded and printable', () => {
  const waf = { line: `blocked 5/5 sqli-x@query.\x1b${'y'.repeat(2000)}` }
  const { line } = logged({}, { status: 403, filter: 'waf', reason: 'waf-sqli' }, {}, { waf })
  expect(line.waf).toMatch(/^blocked 5\/5 sqli-x@query\.\\x1by+…$/)
  expect(String(line.waf).length).toBeLessThan(1100)
  expect(logged({}, {}, {}, { waf: { line: '' } }).line.waf).toBeUndefined()
  expect(logged({}, {}, {}, { waf: null }).line.waf).toBeUndefined()
})

describe('a failure', () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 192.0.2.9:80\x1b[2J'), { code: 'ECONNREFUSED' })
  test('tells who, when and how, without a stack', () => {
    const error = new ProxyError({ source: 'upstream', phase: 'connect', code: 'connect-refused', cause })
    const { line } = logged({}, { status: 502, error })
    expect(line.level).toBe(50)
    expect(line.error).toEqual({
      source: 'upstream',
      phase: 'connect',
      code: 'connect-refused',
      cause: 'connect ECONNREFUSED 192.0.2.9:80\\x1b[2J',
      causeCode: 'ECONNREFUSED',
    })
  })

  test('of the program tells the place', () => {
    const error = new ProxyError({
      source: 'proxy',
      phase: 'handler',
      code: 'internal',
      cause: new Error('oh'),
    })
    const { line } = logged({}, { status: 500, error })
    expect(line.error).toMatchObject({ cause: 'oh' })
    expect((line.error as { stack: string[] }).stack[0]).toMatch(/^at .*access-log\.test/)
  })

  test.each([
    { source: 'client', status: 499, level: 40 },
    { source: 'client', status: 200, level: 40 },
    { source: 'upstream', status: 200, level: 50 },
    { source: 'upstream', status: 504, level: 50 },
  ] as const)('of the $source with status $status has level $level', ({ source, status, level }) => {
    const error = new ProxyError({ source, phase: 'reply-body', code: 'client-closed' })
    expect(logged({}, { status, error }).line.level).toBe(level)
  })
})

test.each([
  [200, 30],
  [304, 30],
  [404, 40],
  [499, 40],
  [500, 50],
  [503, 50],
])('status %i has level %i', (status, level) => {
  expect(logged({}, { status }).line.level).toBe(level)
})

describe('secrets', () => {
  const head: TestHead = {
    path: '/x?access_token=s3cret&%63ode=s3cret&page=2&mine=s3cret',
    headers: {
      Authorization: 'Bearer s3cret',
      Cookie: 's=s3cret',
      'User-Agent': 'ua/1',
      Referer: 'https://a.example/?token=s3cret',
    },
  }
  test('stay out of the line', () => {
    const { line, text } = logged(
      head,
      {},
      { redact: ['Mine'], headers: ['User-Agent', 'Referer', 'Accept'] },
    )
    expect(text).not.toContain('s3cret')
    expect(line.path).toBe('/x?access_token=[redacted]&%63ode=[redacted]&page=2&mine=[redacted]')
    expect(line.headers).toEqual({ 'user-agent': 'ua/1', referer: 'https://a.example/?token=[redacted]' })
  })

  test.each(['Authorization', 'cookie', 'PROXY-AUTHORIZATION', 'X-Api-Key', 'Set-Cookie'])(
    '%s is refused when the filter is made',
    name => {
      expect(() => accessLog({ logger: memory().logger, headers: ['Accept', name] })).toThrow(ConfigError)
    },
  )
})

describe('bytes of a client', () => {
  test('cannot forge a line or drive a terminal', () => {
    const head: TestHead = {
      path: '/x?a="},{"level":60\x9b2J\xff',
      headers: { 'User-Agent': 'a"b\\c\t\x9b\xe9' },
    }
    const { line, text } = logged(head, {}, { headers: ['user-agent'] })
    expect(text).toMatch(/^[\x20-\x7e]+\n$/)
    expect(line.level).toBe(30)
    expect(line.path).toBe('/x?a="},{"level":60\\x9b2J\\xff')
    expect(line.headers).toEqual({ 'user-agent': 'a"b\\c\\x09\\x9b\\xe9' })
  })

  test('are bounded', () => {
    const long = 'a'.repeat(100_000)
    const head: TestHead = {
      method: `M${long}`,
      path: `/${long}?${long}`,
      authority: long,
      upgrade: long,
      headers: { 'User-Agent': long },
    }
    const error = new ProxyError({
      source: 'proxy',
      phase: 'handler',
      code: 'internal',
      cause: new Error(long),
    })
    const { text } = logged(head, { error }, { headers: ['user-agent'] }, { requestId: long })
    expect(text.length).toBeLessThan(8_000)
  })

  test('a secret does not show where a long query is cut', () => {
    const { text } = logged({ path: `/?${'a'.repeat(1015)}&token=s3cret` })
    expect(text).not.toContain('s3')
  })
})

test('skip leaves lines out, by request and by outcome', () => {
  const { logger, lines } = memory()
  const gate = accessLog({
    logger,
    skip: (cx, { status }) => cx.request.path === '/healthz' && status === 200,
  })
  gate.onDone?.(testContext({ path: '/healthz' }), OUTCOME)
  gate.onDone?.(testContext({ path: '/healthz' }), { ...OUTCOME, status: 503 })
  gate.onDone?.(testContext({ path: '/' }), OUTCOME)
  expect(lines).toHaveLength(2)
})

test.each([
  { level: 'warn', written: [404, 500] },
  { level: 'error', written: [500] },
  { level: 'silent', written: [] },
] as const)('level $level writes $written', ({ level, written }) => {
  const { logger, lines } = memory()
  const gate = accessLog({ logger, level })
  for (const status of [200, 404, 500]) gate.onDone?.(testContext(), { ...OUTCOME, status })
  expect(lines.map(line => (JSON.parse(line) as Line).status)).toEqual(written)
})

describe('in an app, each request leaves one line', () => {
  const { logger, lines } = memory()
  const app = pipeline()
    .use(accessLog({ logger }))
    .use(requestId())
    .use(uriLength({ max: 20 }))
    .route('/bug', r =>
      r.handle(() => {
        throw new Error('a bug')
      }),
    )
    .route('/fine/:id', r => r.handle(() => reply(200, 'hello')))
    .handle()

  test.each([
    { path: '/fine/1', line: { level: 30, status: 200, route: '/fine/:id', out: 5 } },
    { path: '/none', line: { level: 40, status: 404, reason: 'not-found', route: '*' } },
    {
      path: '/fine/123456789012345',
      line: { level: 40, status: 414, filter: 'uri-length', reason: 'uri-too-long' },
    },
    { path: '/..', line: { level: 40, status: 400, error: { source: 'client', code: 'ambiguous-path' } } },
    {
      path: '/bug',
      line: { level: 50, status: 500, error: { source: 'proxy', code: 'internal', cause: 'a bug' } },
    },
  ])('$path', async ({ path, line }) => {
    lines.length = 0
    const answer = await app.inject({ path })
    expect(lines).toHaveLength(1)
    const logged = JSON.parse(lines[0]!) as Line
    expect(logged).toMatchObject(line)
    expect(logged.id).toBe(answer.headers.get('x-request-id'))
  })
})

test('all faults are told at once', () => {
  let thrown: unknown
  try {
    accessLog({ logger: {}, level: 'loud', redact: [''], headers: ['a b', 'Cookie'], skip: true } as never)
  } catch (error) {
    thrown = error
  }
  expect((thrown as ConfigError).faults.map(fault => fault.place).sort()).toEqual([
    'accessLog.headers',
    'accessLog.headers',
    'accessLog.level',
    'accessLog.logger',
    'accessLog.redact',
    'accessLog.skip',
  ])
})
