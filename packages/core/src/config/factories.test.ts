/** Every factory with options: an unknown name, null and a wrong type of each option is a ConfigError that names the place. */
import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import * as core from '../index.ts'
import { ConfigError, type ConfigFault } from '../index.ts'
import { openTelemetry } from '../observe/opentelemetry/index.ts'

const app = core.pipeline().handle()
const group = core.upstream({ name: 'test', targets: ['http://127.0.0.1:9'] })

const NUMBER = [null, '5', Number.NaN, -1, {}, [], true, 3n, Symbol('x')]
const FLAG = [null, 'yes', 1, {}, []]
const TEXT = [null, 5, {}, [], true]
const CALLBACK = [null, 'x', 5, {}, []]
const LIST = [null, 'x', 5, {}, [5], [null], () => {}]
const OPTIONS = [null, 'x', 5, [], true]
const CHOICE = [null, 'nonsense', 5, {}, []]
const PROTO = ['__proto__', 'constructor', 'toString']
const by = [null, 'nobody', 5, {}, { header: 5 }, { header: 'a b' }, { header: 'a', apiKey: 'b' }]

interface Factory {
  /** As it stands in faults. */
  place: string
  make: (options: never) => unknown
  /** What it needs at least. */
  least?: Record<string, unknown>
  /** Wrong values of each option. */
  options: Record<string, readonly unknown[]>
}

const FACTORIES: Factory[] = [
  {
    place: 'pipeline',
    make: core.pipeline,
    options: {
      trust: [null, '10.0.0.0/8', 5, {}, [5], ['everybody'], ['10.0.0.0/33']],
      readings: [null, 'backslash', {}, ['slash'], [null], () => {}],
    },
  },
  {
    place: 'baseline',
    make: core.baseline as never,
    options: {
      health: OPTIONS,
      securityHeaders: OPTIONS,
      requestId: OPTIONS,
      traceContext: OPTIONS,
      uriLength: OPTIONS,
      methods: OPTIONS,
      headerLimits: OPTIONS,
      earlyData: [null, true, {}, 'x'],
      hosts: LIST,
      bodyLimit: OPTIONS,
    },
  },
  {
    place: 'health',
    make: core.health,
    options: { live: [...TEXT, 'x', '/a/../b'], ready: [...TEXT, '/healthz'], isReady: CALLBACK },
  },
  {
    place: 'securityHeaders',
    make: core.securityHeaders,
    options: {
      hsts: OPTIONS,
      contentTypeOptions: FLAG,
      frameOptions: [...CHOICE, true],
      referrerPolicy: [...CHOICE, true],
      permissionsPolicy: [...CHOICE, true],
      contentSecurityPolicy: [null, 5, {}, [], true, 'a,b'],
      crossOriginOpenerPolicy: [...CHOICE, true],
      crossOriginEmbedderPolicy: [...CHOICE, true],
      crossOriginResourcePolicy: [...CHOICE, true],
      remove: LIST,
      override: FLAG,
    },
  },
  {
    place: 'securityHeaders.hsts',
    make: (hsts: never) => core.securityHeaders({ hsts }),
    options: { maxAge: NUMBER, includeSubDomains: FLAG, preload: FLAG },
  },
  {
    place: 'requestId',
    make: core.requestId,
    options: { header: [...TEXT, 'Host', 'a_b'], accept: CHOICE, generate: CALLBACK },
  },
  {
    place: 'traceContext',
    make: core.traceContext,
    options: { accept: CHOICE, generate: FLAG, sampleRatio: [...NUMBER, 1.1], random: CALLBACK },
  },
  { place: 'uriLength', make: core.uriLength, options: { max: NUMBER } },
  {
    place: 'methods',
    make: core.methods,
    options: { allow: [null, 'GET', 5, {}, [], [5], [null], [3n], ['get'], ['CONNECT']] },
  },
  { place: 'headerLimits', make: core.headerLimits, options: { maxCount: NUMBER, maxBytes: NUMBER } },
  { place: 'earlyData', make: core.earlyData, options: {} },
  {
    place: 'hostAllowList',
    make: core.hostAllowList,
    least: { hosts: ['a.example'] },
    options: { hosts: [...LIST, [], ['a b']] },
  },
  { place: 'bodyLimit', make: core.bodyLimit, options: { max: NUMBER } },
  {
    place: 'rateLimit',
    make: core.rateLimit as never,
    least: { perSecond: 1 },
    options: {
      by,
      v6Prefix: [...NUMBER, 31, 129],
      perSecond: [...NUMBER, 0, Number.POSITIVE_INFINITY],
      burst: NUMBER,
      name: [...TEXT, '', 'a b', ...PROTO],
      as: [...TEXT, '', ...PROTO],
      headers: FLAG,
      maxClients: NUMBER,
      store: [null, {}, 5, 'redis://x', () => {}],
      storeTimeout: [...NUMBER, 0, 2 ** 31],
      clock: CALLBACK,
    },
  },
  {
    place: 'concurrencyLimit',
    make: core.concurrencyLimit,
    options: { by, v6Prefix: NUMBER, perClient: [...NUMBER, 0], total: [...NUMBER, 0] },
  },
  {
    place: 'ipAccess',
    make: core.ipAccess,
    least: { allow: ['10.0.0.1'] },
    options: { allow: [...LIST, [], ['everybody']], deny: [...LIST, ['10.0.0.0/33']] },
  },
  {
    place: 'cors',
    make: core.cors,
    least: { origins: ['https://a.example'] },
    options: {
      origins: [null, 5, 'https://a.example', {}, [5], [null], ['https://a.example/']],
      methods: LIST,
      headers: LIST,
      exposedHeaders: LIST,
      credentials: FLAG,
      maxAge: NUMBER,
      privateNetwork: FLAG,
    },
  },
  {
    place: 'accessLog',
    make: core.accessLog,
    options: {
      logger: [null, {}, 5, console],
      level: CHOICE,
      redact: [...LIST, ['']],
      headers: [...LIST, ['a b'], ['Cookie']],
      skip: CALLBACK,
    },
  },
  {
    place: 'upstream test',
    make: core.upstream,
    least: { name: 'test', targets: ['http://127.0.0.1:9'] },
    options: {
      name: [...TEXT, '', 'a\nb', ...PROTO],
      targets: [
        null,
        'http://a',
        {},
        [],
        [5],
        [null],
        ['a'],
        ['ftp://a'],
        ['http://u:p@a'],
        ['http://a:0'],
        ['http://a?b'],
      ],
      balance: [
        ...CHOICE,
        { hash: 'name' },
        { hash: { header: 'a b' } },
        { hash: { cookie: 5 } },
        { hash: null },
      ],
      sticky: [null, 'x', 5, []],
      slowStart: NUMBER,
      health: OPTIONS,
      dns: [null, 'x', 5, []],
      onChange: CALLBACK,
      protocol: [...CHOICE, 'h2'],
      http1: [...CHOICE, 'node'],
      http2: OPTIONS,
      tunnels: NUMBER,
      connections: [...NUMBER, 0],
      warm: [...NUMBER, 129],
      queue: NUMBER,
      keepAlive: [...NUMBER, 0],
      drainTimeout: [...NUMBER, 0],
      timeouts: OPTIONS,
      tls: OPTIONS,
    },
  },
  ...(['sticky', 'dns', 'health', 'http2'] as const).map(
    (part): Factory => ({
      place: `upstream test.${part}`,
      make: (options: never) =>
        core.upstream({ name: 'test', targets: ['http://127.0.0.1:9'], [part]: options }).destroy(),
      options: {
        sticky: {
          cookie: [...TEXT, '', 'a b', '__Host-x'],
          secret: [...TEXT, 'short'],
          path: [...TEXT, 'x', '/; Domain=evil.test'],
          sameSite: [...CHOICE, 'None'],
          secure: [null, 'yes', 1, {}],
          maxAge: [...NUMBER, 0],
        },
        dns: {
          resolver: [...CHOICE, '8.8.8.8'],
          interval: [...NUMBER, 0],
          minimum: [...NUMBER, 0, 30_001],
          timeout: [...NUMBER, 0],
        },
        health: {
          check: [null, 5, [], 'healthz', true],
          passive: [null, 5, [], 'x'],
          panic: [null, 'x', -0.1, 1.1, Number.NaN, true, {}],
        },
        http2: {
          streams: [...NUMBER, 0],
          idle: [...NUMBER, 0],
          pingAfter: NUMBER,
          pingTimeout: [...NUMBER, 0],
        },
      }[part],
    }),
  ),
  {
    place: 'upstream test.health.check',
    make: (check: never) =>
      core.upstream({ name: 'test', targets: ['http://127.0.0.1:9'], health: { check } }).destroy(),
    options: {
      path: [...TEXT, 'x', '/a b'],
      method: [...CHOICE, 'POST'],
      host: [...TEXT, 'a b'],
      interval: [...NUMBER, 0],
      timeout: [...NUMBER, 0],
      rise: [...NUMBER, 0],
      fall: [...NUMBER, 0],
      initial: CHOICE,
      status: [null, '200', 99, 600, [], [null], {}],
    },
  },
  {
    place: 'upstream test.health.passive',
    make: (passive: never) =>
      core.upstream({ name: 'test', targets: ['http://127.0.0.1:9'], health: { passive } }).destroy(),
    options: {
      consecutive: [...NUMBER, 0],
      errorRate: OPTIONS,
      slow: OPTIONS,
      statuses: [...LIST, [200]],
      backoff: [...NUMBER, 0],
      maxBackoff: [...NUMBER, 0, 4999],
      probes: [...NUMBER, 0],
      successes: [...NUMBER, 0],
    },
  },
  {
    place: 'upstream test.health.passive.errorRate',
    make: (errorRate: never) =>
      core
        .upstream({ name: 'test', targets: ['http://127.0.0.1:9'], health: { passive: { errorRate } } })
        .destroy(),
    least: { share: 0.5 },
    options: { share: [null, 0, 1.1, '1', Number.NaN], window: [...NUMBER, 9], atLeast: [...NUMBER, 0] },
  },
  {
    place: 'upstream test.health.passive.slow',
    make: (slow: never) =>
      core
        .upstream({ name: 'test', targets: ['http://127.0.0.1:9'], health: { passive: { slow } } })
        .destroy(),
    least: { factor: 3 },
    options: { factor: [null, 1, '2', Number.NaN], atLeast: NUMBER, requests: [...NUMBER, 0] },
  },
  {
    place: 'metrics',
    make: core.metrics,
    options: { upstreams: [...LIST, [{}], [group, group]], prefix: [...TEXT, '', '1x', 'a-b'] },
  },
  {
    place: 'rewriteLocation',
    make: core.rewriteLocation as never,
    least: { upstream: group },
    options: { upstream: OPTIONS, prefix: [...TEXT, '', 'x', '/', '/x/'], names: [...LIST, ['a/b'], ['']] },
  },
  {
    place: 'rewriteCookies',
    make: core.rewriteCookies,
    options: {
      domains: [null, 'x', 5, { 'a b': '' }, { a: 5 }, { a: 'b; Path=/' }],
      prefix: [...TEXT, 'x', '/a;b', '/x/'],
      secure: FLAG,
    },
  },
  ...([core.compress, core.storeCompressed] as const).map(make => ({
    place: make.name,
    make: make as never,
    options: {
      encodings: [...LIST, [], ['gzip', 'frob'], ['identity']],
      types: [...LIST, ['text'], ['Text/html'], ['text/html; x'], ['*'], ['*/html']],
      minLength: NUMBER,
      levels: [null, 5, [], { br: 12 }, { gzip: 0 }, { zstd: '3' }, { frob: 1 }],
      maxStreams: [...NUMBER, 0],
      skip: CALLBACK,
    },
  })),
  {
    place: 'openTelemetry',
    make: openTelemetry as never,
    options: {
      accept: CHOICE,
      query: FLAG,
      redact: LIST,
      skip: CALLBACK,
      tracerProvider: OPTIONS,
      meterProvider: OPTIONS,
    },
  },
  {
    place: 'decodeReplies',
    make: core.decodeReplies as never,
    options: {
      required: FLAG,
      maxBytes: [...NUMBER, 0],
      maxRatio: [...NUMBER, 0],
      maxStreams: [...NUMBER, 0],
    },
  },
  {
    place: 'editReplyBody',
    make: core.editReplyBody as never,
    least: { transform: () => undefined },
    options: {
      transform: CALLBACK,
      types: [...LIST, ['text'], ['*']],
      required: FLAG,
      maxBytes: [...NUMBER, 0],
      maxRatio: [...NUMBER, 0],
      maxStreams: [...NUMBER, 0],
    },
  },
  ...([core.editRequestHeaders, core.editReplyHeaders] as const).map(
    (make): Factory => ({
      place: make.name,
      make: make as never,
      options: {
        remove: [...LIST, ['a b'], ['Host']],
        set: [null, 'x', 5, { 'a b': 'c' }, { a: 5 }, { a: 'b\r\nc' }, { 'Content-Length': '5' }],
        add: [null, 'x', 5, { 'a b': 'c' }, { a: null }, { a: 'b\n' }, { Connection: 'close' }],
      },
    }),
  ),
  {
    place: 'upstream test.timeouts',
    make: (timeouts: never) => core.upstream({ name: 'test', targets: ['http://127.0.0.1:9'], timeouts }),
    options: { connect: NUMBER, head: NUMBER, idle: NUMBER, total: NUMBER, tunnel: NUMBER },
  },
  {
    place: 'upstream test.tls',
    make: (tls: never) => core.upstream({ name: 'test', targets: ['https://127.0.0.1:9'], tls }),
    options: {
      ca: [
        null,
        5,
        {},
        [],
        '',
        'garbage',
        Buffer.from('x'),
        ['garbage'],
        [5],
        '-----BEGIN CERTIFICATE-----\nx',
      ],
      servername: [...TEXT, '', 'a b'],
      cert: [null, 5, {}, [], '', 'garbage'],
      key: [null, 5, {}, [], '', 'garbage'],
      passphrase: TEXT,
    },
  },
  {
    place: 'proxy',
    make: (options: never) => core.proxy(group, options),
    options: {
      host: [...TEXT, 'a b', ''],
      forwarded: CHOICE,
      forwardedHeader: FLAG,
      upgrades: [null, 'websocket', 5, {}, [5], [null], ['h2c']],
      retry: [null, 'x', 5, [], true],
    },
  },
  {
    place: 'proxy.retry',
    make: (retry: never) => core.proxy(group, { retry }),
    options: {
      attempts: [...NUMBER, 0, 11],
      budget: [...NUMBER, 101],
      perSecond: NUMBER,
      statuses: [...LIST, [500]],
      maxWait: NUMBER,
    },
  },
  {
    place: 'attach',
    make: (options: never) => core.attach(createServer(), app, options),
    options: {
      drainTimeout: NUMBER,
      sessionIdleTimeout: [...NUMBER, 0],
      sendTimeout: NUMBER,
      http2: OPTIONS,
      wire: FLAG,
      minHeaderRate: NUMBER,
      minBodyRate: NUMBER,
      rateGrace: [...NUMBER, 0],
      handshakeTimeout: [...NUMBER, 0],
      maxConnections: NUMBER,
      maxConnectionsPerClient: NUMBER,
      exemptClients: [...LIST, ['everybody']],
    },
  },
  {
    place: 'connectionCap',
    make: core.connectionCap,
    options: {
      maxConnections: NUMBER,
      maxConnectionsPerClient: NUMBER,
      exemptClients: [...LIST, ['everybody']],
    },
  },
  { place: 'slowUploads', make: core.slowUploads, options: {} },
  {
    place: 'toHandler',
    make: (options: never) => core.toHandler(app, options),
    options: { body: CALLBACK, target: CHOICE, sendTimeout: NUMBER },
  },
]

function faultsOf(make: () => unknown): readonly ConfigFault[] {
  try {
    make()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const { place, problem, fix } of error.faults) {
      // Each tells something, and nothing that objects turn into by themselves.
      expect(`${place} ${problem} ${fix}`).not.toMatch(/\[object|undefined\b.*undefined/)
      expect([place, problem, fix]).not.toContain('')
    }
    return error.faults
  }
  return []
}

const whole = FACTORIES.filter(one => !one.place.includes('.'))

describe.each(FACTORIES)('$place', ({ place, make, least = {}, options }) => {
  const names = Object.keys(options)

  test('works with what it needs, and with undefined for all the rest', () => {
    const rest = Object.fromEntries(names.filter(name => !(name in least)).map(name => [name, undefined]))
    expect(faultsOf(() => make({ ...least, ...rest } as never))).toEqual([])
  })

  test('an unknown name is refused, and all options are in this test', () => {
    const [fault, ...more] = faultsOf(() => make({ ...least, nonsense: 1 } as never))
    expect(more).toEqual([])
    expect(fault).toMatchObject({ place: `${place}.nonsense`, problem: 'there is no such option' })
    const listed = /^It has (?!no options)(.*)\.$/.exec(fault!.fix)?.[1]?.split(', ') ?? []
    expect([...listed].sort()).toEqual([...names].sort())
  })

  test.each(names)('a misspelt %s is told apart', name => {
    const [head = '', ...tail] = name
    const written = `${head.toUpperCase()}${tail.join('')}`
    const faults = faultsOf(() => make({ ...least, [written]: 1 } as never))
    expect(faults).toMatchObject([{ place: `${place}.${written}`, fix: `Did you mean ${name}?` }])
  })

  test.each(names.flatMap(name => options[name]!.map(value => [name, value] as const)))(
    '%s: %s',
    (name, value) => {
      const faults = faultsOf(() => make({ ...least, [name]: value } as never))
      expect(faults.length).toBeGreaterThan(0)
      // A part of a bundle, or a group with another name, tells of itself.
      const owners = [
        place,
        name,
        'upstream',
        'upstream ',
        ...PROTO.map(one => `upstream ${one}`),
        'upstream a\nb',
      ]
      for (const fault of faults)
        expect(
          owners.some(owner => fault.place.startsWith(owner)),
          fault.place,
        ).toBe(true)
    },
  )

  test.each(whole.some(one => one.place === place) ? [null, 'x', 5, true, [], () => {}] : [null])(
    'options that are %s',
    value => {
      if (place === 'securityHeaders.hsts' && value === null)
        return expect(faultsOf(() => make(value as never))).toHaveLength(1)
      expect(faultsOf(() => make(value as never)).length).toBeGreaterThan(0)
    },
  )
})
