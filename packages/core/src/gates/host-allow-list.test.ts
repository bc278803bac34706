import { expect, test } from 'vitest'
import { ConfigError, pipeline, reply } from '../index.ts'
import { hostAllowList } from './host-allow-list.ts'

test.each([
  [
    ['example.com'],
    ['example.com', 'EXAMPLE.com.', 'example.com:8080'],
    ['www.example.com', 'example.com.evil', 'xexample.com', '127.0.0.1'],
  ],
  [
    ['*.example.com'],
    ['a.example.com', 'a.b.example.com:81'],
    ['example.com', 'xexample.com', 'a.example.com.evil'],
  ],
  [['example.com:8443'], ['example.com:8443'], ['example.com', 'example.com:8444']],
  [
    ['Example.COM', '[0:0::1]', '10.0.0.1'],
    ['example.com', '[::1]', '[::1]:81', '10.0.0.1:9'],
    ['[::2]', '10.0.0.2'],
  ],
])('%j serves %j and not %j', async (hosts, served, refused) => {
  const app = pipeline()
    .use(hostAllowList({ hosts }))
    .handle(() => reply(200))
  for (const authority of served)
    expect([authority, (await app.inject({ authority })).status]).toEqual([authority, 200])
  for (const authority of refused) {
    const { status, outcome } = await app.inject({ authority })
    expect([authority, status, outcome.reason]).toEqual([authority, 421, 'misdirected'])
  }
})

test('a request without a host is not for anybody', async () => {
  const app = pipeline()
    .use(hostAllowList({ hosts: ['example.com'] }))
    .handle(() => reply(200))
  expect((await app.inject({ version: '1.0', authority: '' })).status).toBe(421)
})

test.each([
  [[], 1],
  [['a b', 'http://a', 'a/b', 'ok.example'], 3],
  [['*', '*.', '*.a:81', '**.a', 'a.*.b'], 5],
])('%j has %i faults', (hosts, count) => {
  let thrown: unknown
  try {
    hostAllowList({ hosts })
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(ConfigError)
  expect((thrown as ConfigError).faults).toHaveLength(count)
})

test.each([
  ['example.com:80', 'http', 'example.com', 'example.com:81'],
  ['example.com:443', 'https', 'example.com', 'example.com:8443'],
  ['[0::1]:443', 'https', '[::1]', '[::1]:444'],
  ['example.com:080', 'http', 'example.com', 'example.com:8080'],
] as const)('%s over %s is %s and not %s', async (entry, scheme, served, refused) => {
  const app = pipeline()
    .use(hostAllowList({ hosts: [entry] }))
    .handle(() => reply(200))
  expect((await app.inject({ scheme, authority: served })).status).toBe(200)
  expect((await app.inject({ scheme, authority: refused })).status).toBe(421)
  const other = scheme === 'http' ? 'https' : 'http'
  expect((await app.inject({ scheme: other, authority: served })).status).toBe(421)
})

test.each(['*.example.com:80', '*.[::1]', 'example.com:', '::1', 'example.com:65536'])(
  '%s is no host',
  entry => {
    expect(() => hostAllowList({ hosts: [entry] })).toThrow(ConfigError)
  },
)
