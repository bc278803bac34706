import { describe, expect, test } from 'vitest'
import { ConfigError, type HeaderList, pipeline, reply } from '../index.ts'
import { type CorsOptions, cors } from './cors.ts'

const APP = 'https://app.example.com'
const GRANTS = ['origin', 'credentials', 'methods', 'headers', 'max-age', 'expose-headers', 'private-network']

function grants(headers: HeaderList): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of headers) {
    const short = name.toLowerCase().replace(/^access-control-(?:allow-)?/, '')
    if (GRANTS.includes(short)) found[short] = short in found ? `${found[short]} AND ${value}` : value
  }
  return found
}

function app(options: CorsOptions, upstream: Record<string, string | string[]> = {}) {
  return pipeline()
    .use(cors(options))
    .handle(() => reply(200, 'ok', { headers: upstream }))
}

test.each([
  [{ origins: [APP] }, APP, { origin: APP }],
  [{ origins: [APP], credentials: true }, APP, { origin: APP, credentials: 'true' }],
  [{ origins: [APP] }, 'https://evil.example', {}],
  [{ origins: [APP] }, `${APP}.evil.example`, {}],
  [{ origins: [APP] }, 'https://APP.example.com', {}],
  [{ origins: [APP] }, 'null', {}],
  [{ origins: [APP, 'null'] }, 'null', { origin: 'null' }],
  [{ origins: [APP] }, undefined, {}],
  [{ origins: '*' }, 'https://any.example', { origin: '*' }],
  [{ origins: '*', exposedHeaders: ['X-A', 'X-B'] }, 'null', { origin: '*', 'expose-headers': 'X-A, X-B' }],
  [{ origins: [APP], exposedHeaders: ['X-A'] }, 'https://evil.example', {}],
  [{ origins: (o: string) => o.endsWith('.example.com') }, APP, { origin: APP }],
  [{ origins: (o: string) => o.endsWith('.example.com') }, 'https://x.example', {}],
] as [CorsOptions, string | undefined, object][])(
  '%j grants %j on a reply: %j',
  async (options, origin, expected) => {
    const lied = {
      'Access-Control-Allow-Origin': ['*', 'https://evil.example'],
      'access-control-allow-credentials': 'true',
      'Access-Control-Allow-Private-Network': 'true',
    }
    const { status, headers } = await app(options, lied).inject({
      headers: origin === undefined ? {} : { origin },
    })
    expect(status).toBe(200)
    expect(grants(headers)).toEqual(expected)
  },
)

describe('preflight', () => {
  const preflight = (origin: string) => ({
    method: 'OPTIONS',
    headers: { Origin: origin, 'Access-Control-Request-Method': 'PUT' },
  })

  test.each([
    [
      { origins: [APP] },
      APP,
      {
        origin: APP,
        methods: 'GET, HEAD, POST, PUT, PATCH, DELETE',
        headers: 'Content-Type, Authorization',
        'max-age': '600',
      },
    ],
    [
      { origins: [APP], methods: ['LOCK'], headers: [], maxAge: 0, credentials: true },
      APP,
      { origin: APP, credentials: 'true', methods: 'GET, HEAD, POST, LOCK', 'max-age': '0' },
    ],
    [{ origins: [APP], exposedHeaders: ['X-A'] }, 'https://evil.example', {}],
    [
      { origins: '*' },
      'https://any.example',
      {
        origin: '*',
        methods: 'GET, HEAD, POST, PUT, PATCH, DELETE',
        headers: 'Content-Type, Authorization',
        'max-age': '600',
      },
    ],
  ] as [CorsOptions, string, object][])('%j answers %s with %j', async (options, origin, expected) => {
    const { status, headers, body, outcome } = await app(options).inject(preflight(origin))
    expect([status, body.length, outcome.filter, outcome.reason]).toEqual([204, 0, 'cors', 'preflight'])
    expect(grants(headers)).toEqual(expected)
  })

  test.each([
    ['OPTIONS', { Origin: APP }],
    ['OPTIONS', { 'Access-Control-Request-Method': 'PUT' }],
    ['GET', { Origin: APP, 'Access-Control-Request-Method': 'PUT' }],
  ])('%s with %j is none', async (method, headers) => {
    const got = await app({ origins: [APP] }).inject({ method, headers })
    expect([got.status, got.text()]).toEqual([200, 'ok'])
  })
})

test.each([
  [{ origins: [APP] }, undefined, ['Origin']],
  [{ origins: [APP] }, 'Accept-Encoding', ['Accept-Encoding', 'Origin']],
  [{ origins: [APP] }, 'accept, ORIGIN', ['accept, ORIGIN']],
  [{ origins: [APP] }, '*', ['*']],
  [{ origins: [APP] }, 'X-Origin', ['X-Origin', 'Origin']],
  [{ origins: '*' }, undefined, []],
] as [CorsOptions, string | undefined, string[]][])(
  '%j on a reply with Vary: %s',
  async (options, vary, expected) => {
    for (const origin of [APP, 'https://evil.example', undefined]) {
      const got = await app(options, vary === undefined ? {} : { Vary: vary }).inject({
        headers: origin ? { origin } : {},
      })
      expect(got.headers.all('vary')).toEqual(expected)
    }
  },
)

test.each([
  [{ origins: '*', credentials: true }, ['cors.origins']],
  [
    { origins: ['https://a.example/', 'a.example', '*', 'HTTPS://A.example'] },
    new Array(4).fill('cors.origins'),
  ],
  [{}, ['cors.origins']],
  [{ origins: [], methods: ['a b'], headers: [''], exposedHeaders: ['x:'] }, ['cors', 'cors', 'cors']],
  [{ origins: '*', maxAge: -1 }, ['cors.maxAge']],
  [{ origins: '*', maxAge: 86_401, credentials: true }, ['cors.origins', 'cors.maxAge']],
] as [CorsOptions, string[]][])('%j has faults at %j', (options, places) => {
  let thrown: unknown
  try {
    cors(options)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(ConfigError)
  expect((thrown as ConfigError).faults.map(fault => fault.place).sort()).toEqual([...places].sort())
})

describe('who is asked about', () => {
  const granted = async (options: CorsOptions, origin: string | string[] | undefined) => {
    const got = await app(options).inject({ headers: origin === undefined ? {} : { origin } })
    return got.headers.get('access-control-allow-origin')
  }

  test('everybody is told without an Origin too, because a cache may keep that reply', async () => {
    expect(await granted({ origins: '*' }, undefined)).toBe('*')
  })

  test('a function is not asked about null, which any site can be', async () => {
    const asked: string[] = []
    const origins = (origin: string) => asked.push(origin) > 0
    expect(await granted({ origins }, 'null')).toBeUndefined()
    expect(await granted({ origins }, APP)).toBe(APP)
    expect(asked).toEqual([APP])
  })

  test('a promise is no yes', async () => {
    expect(await granted({ origins: (async () => true) as never }, APP)).toBeUndefined()
  })

  test('two origins are none', async () => {
    expect(await granted({ origins: [APP] }, [APP, APP])).toBeUndefined()
    expect(await granted({ origins: () => true }, [APP, 'https://b.example'])).toBeUndefined()
  })

  test.each(['capacitor://localhost', 'chrome-extension://abcdef', 'http://a.example:8080', 'https://[::1]'])(
    '%s may be listed',
    async origin => {
      expect(await granted({ origins: [origin] }, origin)).toBe(origin)
    },
  )
})

test.each([
  [true, APP, 'true', 'true'],
  [true, APP, undefined, undefined],
  [true, 'https://evil.example', 'true', undefined],
  [false, APP, 'true', undefined],
])('privateNetwork %s for %s that asks %s: %s', async (privateNetwork, origin, asks, expected) => {
  const got = await app({ origins: [APP], privateNetwork }).inject({
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'PUT',
      ...(asks && { 'Access-Control-Request-Private-Network': asks }),
    },
  })
  expect([got.status, got.headers.get('access-control-allow-private-network')]).toEqual([204, expected])
})

test('a preflight has each field once, and Vary', async () => {
  const got = await app({ origins: [APP], methods: ['GET', 'PUT', 'PUT'], exposedHeaders: ['X-A'] }).inject({
    method: 'OPTIONS',
    headers: { Origin: APP, 'Access-Control-Request-Method': 'PUT' },
  })
  const names = [...got.headers].map(([name]) => name.toLowerCase())
  expect(names).toEqual([...new Set(names)])
  expect(got.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, PUT')
  expect(got.headers.get('vary')).toBe('Origin')
})

test.each([
  [{ origins: ['https://*.example.com'] }, 1],
  [{ origins: ['https://a.example:443', 'https://a.example?', 'https://u@a.example', 'Capacitor://x'] }, 4],
  [{ origins: ['capacitor://Localhost', 'file:', '//a.example', 'https://b\u00fccher.example'] }, 4],
  [{ origins: [APP], credentials: true, headers: ['*'], methods: ['*'], exposedHeaders: ['*'] }, 3],
  [{ origins: '*', privateNetwork: true }, 1],
  [{ origins: APP as never }, 1],
] as [CorsOptions, number][])('%j has %i faults that a browser would keep to itself', (options, count) => {
  let thrown: unknown
  try {
    cors(options)
  } catch (error) {
    thrown = error
  }
  expect((thrown as ConfigError).faults).toHaveLength(count)
})
