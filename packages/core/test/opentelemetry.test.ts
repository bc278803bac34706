/** Traces and metrics with the real SDK, between real sockets. */
import { once } from 'node:events'
import { request, type ServerResponse } from 'node:http'
import { metrics, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AlwaysOffSampler, type ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { pino } from 'pino'
import { afterEach, describe, expect, it, test } from 'vitest'
import {
  accessLog,
  type Filter,
  type PipelineOptions,
  type ProxyOptions,
  pipeline,
  proxy,
  refuse,
  reply,
  type UpstreamOptions,
} from '../src/index.ts'
import {
  activeSpan,
  type OpenTelemetryOptions,
  type OpenTelemetryState,
  openTelemetry,
} from '../src/observe/opentelemetry/index.ts'
import { get1, raw1, request2, session2 } from './support/clients.ts'
import { ask } from './support/coded.ts'
import { origin2 } from './support/http2-origin.ts'
import { edge, field, fields, origin, type Seen, scripted, testUpstream, until } from './support/servers.ts'
import { type Telemetry, telemetry } from './support/telemetry.ts'
import { openWebSocket, socketOrigin } from './support/websocket.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`

interface Setup {
  options?: OpenTelemetryOptions
  pipeline?: PipelineOptions
  upstream?: Partial<UpstreamOptions>
  proxy?: ProxyOptions
  kind?: Parameters<typeof edge>[1]
  /** In front of everything. */
  first?: Filter
}

async function traced(
  target: string | string[],
  sdk: Telemetry,
  setup: Setup = {},
): Promise<{ port: number; url: string }> {
  const { tracerProvider, meterProvider } = sdk
  const begun = pipeline(setup.pipeline)
  const app = (setup.first ? begun.use(setup.first) : begun)
    .use(openTelemetry({ tracerProvider, meterProvider, ...setup.options }))
    .route('GET,POST /users/:id', r => r.handle(proxy(testUpstream(target, setup.upstream), setup.proxy)))
    .handle(proxy(testUpstream(target, setup.upstream), setup.proxy))
  return edge(app, setup.kind)
}

const ofKind = (spans: ReadableSpan[], kind: SpanKind): ReadableSpan[] =>
  spans.filter(span => span.kind === kind)
const only = (spans: ReadableSpan[], kind: SpanKind): ReadableSpan => {
  const found = ofKind(spans, kind)
  expect(found).toHaveLength(1)
  return found[0]!
}

describe('spans of a request', () => {
  it('one of the server, one of the client; the origin sees the latter as its parent', async () => {
    const sdk = telemetry()
    const up = await origin()
    const { port } = await traced(up.url, sdk)
    const got = await get1(port, '/users/7?page=2&access_token=s3cret', [
      `traceparent: ${PARENT}`,
      'tracestate: vendor=x, other=y',
      'User-Agent: test/1',
    ])
    expect(got.status).toBe(200)
    const spans = await sdk.ended(2)
    const server = only(spans, SpanKind.SERVER)
    const client = only(spans, SpanKind.CLIENT)
    expect(server.name).toBe('GET /users/:id')
    expect(server.attributes).toMatchObject({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'http.route': '/users/:id',
      'url.scheme': 'http',
      'url.path': '/users/7',
      'url.query': 'page=2&access_token=[redacted]',
      'server.address': 'edge.test',
      'server.port': 80,
      'client.address': '127.0.0.1',
      'network.peer.address': '127.0.0.1',
      'network.protocol.version': '1.1',
      'user_agent.original': 'test/1',
      'postern.upstream': 'test',
    })
    expect(server.attributes['network.peer.port']).toBeGreaterThan(0)
    expect([server.status.code, server.parentSpanContext?.spanId]).toEqual([
      SpanStatusCode.UNSET,
      'b7ad6b7169203331',
    ])
    expect(server.parentSpanContext?.isRemote).toBe(true)
    expect(client.name).toBe('GET')
    expect(client.attributes).toMatchObject({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(up.url).port),
      'url.full': `${up.url}/users/7?page=2&access_token=[redacted]`,
    })
    expect(client.attributes['http.request.resend_count']).toBeUndefined()
    expect(client.parentSpanContext?.spanId).toBe(server.spanContext().spanId)
    for (const span of spans) expect(span.spanContext().traceId).toBe(TRACE)
    const { raw } = up.seen[0]!
    expect(fields(raw, 'traceparent')).toEqual([`00-${TRACE}-${client.spanContext().spanId}-01`])
    expect(fields(raw, 'tracestate')).toEqual(['vendor=x,other=y'])
    expect(JSON.stringify(spans.map(span => span.attributes))).not.toContain('s3cret')
  })

  it('over HTTP/2 on both sides', async () => {
    const sdk = telemetry()
    const up = await origin2((stream, headers) => {
      stream.respond({ ':status': 201, 'x-parent': String(headers.traceparent) })
      stream.end('made')
    })
    const { url } = await traced(up.url, sdk, { kind: 'h2', upstream: { protocol: 'h2c' } })
    const got = await request2(
      session2(url),
      { ':path': '/x', ':method': 'POST', 'content-length': '3' },
      'abc',
    )
    expect([got.status, got.body]).toEqual([201, 'made'])
    const spans = await sdk.ended(2)
    const server = only(spans, SpanKind.SERVER)
    const client = only(spans, SpanKind.CLIENT)
    expect(server.name).toBe('POST')
    expect(server.attributes).toMatchObject({
      'network.protocol.version': '2',
      'url.scheme': 'https',
      'server.port': 443,
    })
    expect(server.attributes['http.route']).toBeUndefined()
    expect(got.headers['x-parent']).toBe(
      `00-${server.spanContext().traceId}-${client.spanContext().spanId}-01`,
    )
    const [size] = await sdk.series('http.server.request.body.size')
    expect([size!.count, size!.sum, size!.attributes['network.protocol.version']]).toEqual([1, 3, '2'])
  })

  it('a WebSocket: both last as long as the tunnel', async () => {
    const sdk = telemetry()
    const up = await socketOrigin()
    const { port } = await traced(up.url, sdk)
    const socket = openWebSocket(`ws://127.0.0.1:${port}/hello`)
    await once(socket, 'message')
    expect(sdk.spans()).toEqual([])
    expect((await sdk.series('http.server.active_requests'))[0]!.sum).toBe(1)
    socket.close(1000)
    const spans = await sdk.ended(2)
    const server = only(spans, SpanKind.SERVER)
    const client = only(spans, SpanKind.CLIENT)
    for (const span of [server, client]) {
      expect(span.attributes['http.response.status_code']).toBe(101)
      expect(span.status.code).toBe(SpanStatusCode.UNSET)
    }
    expect(server.attributes['postern.upgrade']).toBe('websocket')
    expect(field(up.heads[0]!, 'traceparent')).toContain(client.spanContext().spanId)
    expect((await sdk.series('http.server.active_requests'))[0]!.sum).toBe(0)
    expect((await sdk.series('http.client.active_requests'))[0]!.sum).toBe(0)
  })
})

describe('whose trace it is', () => {
  it.each<[OpenTelemetryOptions['accept'], string[], boolean]>([
    ['always', [], true],
    ['trusted', [], false],
    ['trusted', ['127.0.0.1'], true],
    ['never', ['127.0.0.1'], false],
  ])("accept %s, trusted peers %j: the caller's %s", async (accept, trust, taken) => {
    const sdk = telemetry()
    const up = await origin()
    const { port } = await traced(up.url, sdk, { options: { accept: accept! }, pipeline: { trust } })
    await get1(
      port,
      '/',
      [`traceparent: ${PARENT}`, 'tracestate: a=b', 'Trace_Parent: x', 'TraceParent: x'].slice(0, 3),
    )
    const spans = await sdk.ended(2)
    expect(spans[0]!.spanContext().traceId === TRACE).toBe(taken)
    const { raw } = up.seen[0]!
    expect(fields(raw, 'traceparent')).toHaveLength(1)
    expect(field(raw, 'traceparent')!.includes(TRACE)).toBe(taken)
    expect(fields(raw, 'tracestate')).toEqual(taken ? ['a=b'] : [])
  })

  it.each([
    ['zeros', '00-00000000000000000000000000000000-b7ad6b7169203331-01'],
    ['junk', 'x'.repeat(500)],
    ['version ff', PARENT.replace(/^00/, 'ff')],
    ['upper case', PARENT.toUpperCase()],
  ])('an invalid one (%s) begins a trace', async (_, line) => {
    const sdk = telemetry()
    const up = await origin()
    const { port } = await traced(up.url, sdk)
    await get1(port, '/', [`traceparent: ${line}`, 'tracestate: a=b'])
    const [first] = await sdk.ended(2)
    expect(first!.spanContext().traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/)
    expect(fields(up.seen[0]!.raw, 'tracestate')).toEqual([])
  })

  it('two of them are none', async () => {
    const sdk = telemetry()
    const { port } = await traced((await origin()).url, sdk)
    await get1(port, '/', [`traceparent: ${PARENT}`, `traceparent: ${PARENT}`])
    expect(only(await sdk.ended(2), SpanKind.SERVER).parentSpanContext).toBeUndefined()
  })

  it('what is not sampled is passed on as such, and leaves no span', async () => {
    const sdk = telemetry(new AlwaysOffSampler())
    const up = await origin()
    const { port } = await traced(up.url, sdk)
    await get1(port, '/', [`traceparent: ${PARENT}`])
    expect(field(up.seen[0]!.raw, 'traceparent')).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))
    await until('it is counted', () => true)
    expect(sdk.spans()).toEqual([])
    expect((await sdk.series('http.server.request.duration'))[0]!.count).toBe(1)
  })
})

describe('attempts', () => {
  it('each is a span, and says how often it was sent again', async () => {
    const sdk = telemetry()
    const bad = await origin(res => res.writeHead(503).end())
    const good = await origin()
    // One target refuses the connection, one the request, one answers.
    const { port } = await traced(['http://127.0.0.1:9', bad.url, good.url], sdk, {
      proxy: { retry: { statuses: [503], attempts: 3, budget: 100 } },
    })
    const counts: number[] = []
    for (let i = 0; i < 12; i++) {
      const before = sdk.spans().length
      expect((await get1(port, `/${i}`)).status).toBe(200)
      await until(
        'the server span ends',
        () => ofKind(sdk.spans().slice(before), SpanKind.SERVER).length === 1,
      )
      const spans = sdk.spans().slice(before)
      const server = only(spans, SpanKind.SERVER)
      const clients = ofKind(spans, SpanKind.CLIENT)
      counts.push(clients.length)
      expect(server.status.code).toBe(SpanStatusCode.UNSET)
      expect(server.attributes['postern.attempts']).toBe(clients.length === 1 ? undefined : clients.length)
      expect(clients.map(span => span.attributes['http.request.resend_count'])).toEqual(
        clients.map((_, at) => (at === 0 ? undefined : at)),
      )
      for (const client of clients) {
        expect(client.parentSpanContext?.spanId).toBe(server.spanContext().spanId)
        const type = client.attributes['error.type']
        if (client.attributes['server.port'] === 9) expect(type).toBe('connect-refused')
        else if (client.attributes['server.port'] === Number(new URL(bad.url).port)) expect(type).toBe('503')
        else expect(type).toBeUndefined()
        expect(client.status.code).toBe(type === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR)
      }
      // The last attempt is the one that the answering origin was told of.
      expect(field(good.seen.at(-1)!.raw, 'traceparent')).toContain(clients.at(-1)!.spanContext().spanId)
    }
    expect(Math.max(...counts)).toBeGreaterThan(1)
    const durations = await sdk.series('http.client.request.duration')
    expect(durations.reduce((sum, one) => sum + one.count, 0)).toBe(counts.reduce((sum, one) => sum + one, 0))
    for (const one of await sdk.series('http.client.active_requests')) expect(one.sum).toBe(0)
  })
})

describe('what goes wrong', () => {
  it.each<[string, Setup, number, string]>([
    ['nobody listens', { upstream: {} }, 502, 'connect-refused'],
    ['a timeout', { upstream: { timeouts: { head: 100 } } }, 504, 'head-timeout'],
  ])('%s', async (what, setup, status, type) => {
    const sdk = telemetry()
    const target = what === 'a timeout' ? (await origin(() => {})).url : 'http://127.0.0.1:9'
    const { port } = await traced(target, sdk, { ...setup, proxy: { retry: false } })
    expect((await get1(port, '/')).status).toBe(status)
    const spans = await sdk.ended(2)
    const server = only(spans, SpanKind.SERVER)
    expect(server.attributes).toMatchObject({ 'http.response.status_code': status, 'error.type': type })
    const client = only(spans, SpanKind.CLIENT)
    expect(client.attributes['error.type']).toBe(type)
    expect(client.attributes['http.response.status_code']).toBeUndefined()
    for (const span of spans) expect(span.status.code).toBe(SpanStatusCode.ERROR)
    const [one] = await sdk.series('http.server.request.duration')
    expect(one!.attributes).toMatchObject({ 'error.type': type, 'http.response.status_code': status })
  })

  it('an origin that breaks off in its body', async () => {
    const sdk = telemetry()
    const up = await scripted('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc', 'reset')
    const { port } = await traced(up.url, sdk)
    await ask(port, '/').catch(() => {})
    const spans = await sdk.ended(2)
    for (const span of spans) {
      expect(span.attributes).toMatchObject({
        'http.response.status_code': 200,
        'error.type': 'upstream-reset',
      })
      expect(span.status.code).toBe(SpanStatusCode.ERROR)
    }
  })

  it("a client that leaves is nobody's fault", async () => {
    const sdk = telemetry()
    const held: ServerResponse[] = []
    const up = await origin(res => void held.push(res))
    const { port } = await traced(up.url, sdk)
    const req = request({ port, host: '127.0.0.1', agent: false }).end()
    req.on('error', () => {})
    await until('the origin is asked', () => held.length === 1)
    req.destroy()
    const spans = await sdk.ended(2)
    for (const span of spans) {
      expect(span.attributes['error.type']).toBe('client-closed')
      expect(span.attributes['http.response.status_code']).toBeUndefined()
      expect(span.status.code).toBe(SpanStatusCode.UNSET)
    }
    for (const name of ['http.server.active_requests', 'http.client.active_requests'])
      for (const one of await sdk.series(name)) expect(one.sum).toBe(0)
  })

  it('what a filter refuses, a head that cannot be read, a bug', async () => {
    const sdk = telemetry()
    const first: Filter = {
      name: 'gate',
      onRequest: cx => {
        if (cx.request.path === '/no') return refuse(403, 'not-you')
        if (cx.request.path === '/bug') throw new Error('a bug')
      },
    }
    const { port } = await traced((await origin()).url, sdk, { first })
    await get1(port, '/no')
    const [refused] = await sdk.ended(1)
    expect(refused!.attributes).toMatchObject({
      'http.response.status_code': 403,
      'postern.filter': 'gate',
      'postern.reason': 'not-you',
    })
    expect(refused!.status.code).toBe(SpanStatusCode.UNSET)
    await raw1(port, 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n')
    await raw1(port, 'GET /x HTTP/1.1\r\n\r\n')
    await get1(port, '/bug')
    const spans = await sdk.ended(3)
    const bug = spans.find(span => span.attributes['http.response.status_code'] === 500)!
    expect([bug.status.code, bug.attributes['error.type']]).toEqual([SpanStatusCode.ERROR, 'internal'])
    for (const one of await sdk.series('http.server.active_requests')) expect(one.sum).toBe(0)
  })

  it('attributes are bounded and printable, and metrics have no word of a client in them', async () => {
    const sdk = telemetry()
    const { port } = await traced((await origin()).url, sdk)
    const long = 'x'.repeat(5000)
    for (const method of ['PROPFIND', 'GET'])
      await raw1(
        port,
        `${method} /${long}%e9?q=${long} HTTP/1.1\r\nHost: h-${method.toLowerCase()}.test:81\r\nUser-Agent: ${long}\xff\r\nConnection: close\r\n\r\n`,
      )
    const spans = ofKind(await sdk.ended(4), SpanKind.SERVER)
    for (const span of spans) {
      for (const [name, value] of Object.entries(span.attributes)) {
        if (typeof value === 'string') expect(value.length, name).toBeLessThan(2100)
        expect(String(value), name).toMatch(/^[\x20-\x7e…]*$/)
      }
      expect(['HTTP', 'GET']).toContain(span.name)
    }
    const series = await sdk.series('http.server.request.duration')
    for (const { attributes } of series) {
      expect(Object.keys(attributes).filter(name => !LABELS.has(name))).toEqual([])
      expect(['_OTHER', 'GET']).toContain(attributes['http.request.method'])
    }
    expect(series.length).toBeLessThan(5)
  })
})

const LABELS = new Set([
  'http.request.method',
  'url.scheme',
  'network.protocol.version',
  'http.route',
  'http.response.status_code',
  'error.type',
])

describe('metrics', () => {
  it('durations, sizes and requests under way, by route', async () => {
    const sdk = telemetry()
    const held: [ServerResponse, Seen][] = []
    const up = await origin((res, seen) => void held.push([res, seen]))
    const { port } = await traced(up.url, sdk)
    const asked = [ask(port, '/users/1'), ask(port, '/users/2'), ask(port, '/else')]
    await until('all are there', () => held.length === 3)
    expect(await sdk.series('http.server.active_requests')).toMatchObject([
      { sum: 3, attributes: { 'http.request.method': 'GET', 'url.scheme': 'http' } },
    ])
    for (const [res] of held) res.end('four')
    await Promise.all(asked)
    await sdk.ended(6)
    const durations = await sdk.series('http.server.request.duration')
    expect(durations.map(one => [one.attributes['http.route'] ?? '', one.count]).sort()).toEqual([
      ['', 1],
      ['/users/:id', 2],
    ])
    const sizes = await sdk.series('http.server.response.body.size')
    expect(sizes.reduce((sum, one) => sum + one.sum, 0)).toBe(12)
    expect((await sdk.series('http.server.active_requests'))[0]!.sum).toBe(0)
    const [client] = await sdk.series('http.client.request.duration')
    expect(client!.attributes).toEqual({
      'http.request.method': 'GET',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(up.url).port),
      'http.response.status_code': 200,
    })
  })

  it('without a tracer', async () => {
    const sdk = telemetry()
    const up = await origin()
    const app = pipeline()
      .use(openTelemetry({ meterProvider: sdk.meterProvider }))
      .handle(proxy(testUpstream(up.url)))
    const { port } = await edge(app)
    await get1(port, '/', [`traceparent: ${PARENT}`])
    await until('it is over', () => up.seen.length === 1)
    expect(field(up.seen[0]!.raw, 'traceparent')).toBe(PARENT)
    expect((await sdk.series('http.client.request.duration'))[0]!.count).toBe(1)
    expect(sdk.spans()).toEqual([])
  })
})

test('skip() leaves requests out, and a query can be left out', async () => {
  const sdk = telemetry()
  const skip: OpenTelemetryOptions['skip'] = cx => {
    if (cx.request.path === '/throws') throw new Error('a bug')
    return cx.request.path === '/healthz'
  }
  const { port } = await traced((await origin()).url, sdk, { options: { skip, query: false } })
  for (const path of ['/healthz', '/throws?a=1']) await get1(port, path)
  const spans = await sdk.ended(2)
  expect(spans).toHaveLength(2)
  expect(only(spans, SpanKind.SERVER).attributes['url.query']).toBeUndefined()
  expect(String(only(spans, SpanKind.CLIENT).attributes['url.full'])).toMatch(/\/throws$/)
})

test('the access log tells trace and span', async () => {
  const sdk = telemetry()
  const lines: string[] = []
  const logger = pino({ base: null }, { write: line => void lines.push(line) })
  const app = pipeline()
    .use(accessLog({ logger }))
    .use(openTelemetry({ tracerProvider: sdk.tracerProvider }))
    .handle(() => reply(200, 'x'))
  await app.inject({ headers: { traceparent: PARENT } })
  const [span] = sdk.spans()
  expect(JSON.parse(lines[0]!)).toMatchObject({
    trace_id: TRACE,
    span_id: span!.spanContext().spanId,
    trace_flags: '01',
  })
})

test('activeSpan() hands the span to code that asks the API', async () => {
  const sdk = telemetry()
  let seen: Span | undefined
  const inner = async (): Promise<ReturnType<typeof reply>> => {
    seen = trace.getActiveSpan()
    return reply(200, 'x')
  }
  const app = pipeline()
    .use(openTelemetry({ tracerProvider: sdk.tracerProvider }))
    .wrap(activeSpan())
    .handle(inner)
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks')
  const { context } = await import('@opentelemetry/api')
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  try {
    await app.inject()
  } finally {
    context.disable()
  }
  expect(seen?.spanContext()).toEqual(sdk.spans()[0]!.spanContext())
})

describe("the API's own providers", () => {
  afterEach(() => {
    trace.disable()
    metrics.disable()
  })

  it('without an SDK nothing is made, told or changed', async () => {
    const states: OpenTelemetryState[] = []
    const up = await origin()
    const app = pipeline()
      .use(openTelemetry())
      .use({ name: 'look', onDone: cx => void states.push(cx.state as OpenTelemetryState) })
      .handle(proxy(testUpstream(up.url)))
    const { port } = await edge(app)
    await get1(port, '/', ['traceparent: whatever', 'tracestate: it=says'])
    await until('it is over', () => states.length === 1)
    expect(states[0]!.otel).toBeNull()
    expect(field(up.seen[0]!.raw, 'traceparent')).toBe('whatever')
    expect(field(up.seen[0]!.raw, 'tracestate')).toBe('it=says')
  })

  it('an SDK that is registered later is found', async () => {
    const sdk = telemetry()
    const app = pipeline()
      .use(openTelemetry())
      .handle(() => reply(200, 'x'))
    await app.inject()
    expect(sdk.spans()).toEqual([])
    trace.setGlobalTracerProvider(sdk.tracerProvider)
    metrics.setGlobalMeterProvider(sdk.meterProvider)
    await app.inject()
    expect(sdk.spans()).toHaveLength(1)
    expect((await sdk.series('http.server.request.duration'))[0]!.count).toBe(1)
    trace.disable()
    metrics.disable()
    await app.inject()
    expect(sdk.spans()).toHaveLength(1)
  })
})
