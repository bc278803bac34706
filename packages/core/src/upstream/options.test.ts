import { describe, expect, test } from 'vitest'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { UpstreamOptions } from './options.ts'
import { readTarget } from './target-url.ts'
import { upstream } from './upstream.ts'

describe('a target', () => {
  const read = (given: unknown) => {
    const faults: ConfigFault[] = []
    return { spec: readTarget(given as string, 'upstream x', faults), faults }
  }
  test.each([
    ['http://app', { id: 'http://app', origin: 'http://app', authority: 'app', basePath: '', named: true }],
    ['http://app:80/', { id: 'http://app', authority: 'app', basePath: '' }],
    [
      'https://APP.test:8443/v1/',
      { id: 'https://app.test:8443/v1', authority: 'app.test:8443', basePath: '/v1', secure: true },
    ],
    [
      'http://[::1]:8080',
      { origin: 'http://[::1]:8080', hostname: '::1', authority: '[::1]:8080', named: false },
    ],
    ['http://127.0.0.1:1/a//b', { hostname: '127.0.0.1', basePath: '/a//b', named: false }],
    [
      'unix:/run/app.sock',
      {
        id: 'unix:/run/app.sock',
        socketPath: '/run/app.sock',
        basePath: '',
        authority: 'localhost',
        named: false,
      },
    ],
    [
      'unix:/run/app.sock:/v1/',
      { id: 'unix:/run/app.sock:/v1', socketPath: '/run/app.sock', basePath: '/v1' },
    ],
    [
      { url: 'http://app', weight: 7 },
      { id: 'http://app', weight: 7 },
    ],
  ])('%j', (given, expected) => {
    const { spec, faults } = read(given)
    expect(faults).toEqual([])
    expect(spec).toMatchObject(expected)
  })

  test.each([
    'app:80',
    'ftp://app',
    'http://user:secret@app',
    'http://app?x',
    'http://app#x',
    'http://',
    'http://app:70000',
    'http://[fe80::1%25eth0]:80',
    'unix:',
    'unix:relative.sock',
    'unix:/a:b',
    `unix:/${'x'.repeat(107)}`,
    'unix:/run/a\0b',
    '',
    7,
    null,
    {},
    { url: 'http://app', weight: 0 },
    { url: 'http://app', weight: 1.5 },
    { url: 'http://app', heavy: 1 },
  ])('%j is refused, and its text not told', given => {
    const { spec, faults } = read(given)
    expect(spec).toBe(null)
    expect(faults).toHaveLength(1)
    expect(faults[0]!.fix).not.toBe('')
    expect(JSON.stringify(faults)).not.toContain('secret')
  })
})

describe('faults of a group', () => {
  const targets = ['http://127.0.0.1:1']
  test.each([
    [{ targets: [] }, 'upstream x.targets'],
    [{ targets: ['http://a', 'http://a/'] }, 'upstream x.targets'],
    [{ targets: Array.from({ length: 1025 }, (_, at) => `http://a${at}`) }, 'upstream x.targets'],
    [{ balance: 'random' }, 'upstream x.balance'],
    [{ balance: { hash: 'name' } }, 'upstream x.balance'],
    [{ balance: { hash: { header: 'a b' } } }, 'upstream x.balance'],
    [{ balance: {} }, 'upstream x.balance'],
    [{ balance: null }, 'upstream x.balance'],
    [{ balance: 'round-robin', targets: [{ url: 'http://a', weight: 2 }] }, 'upstream x.balance'],
    [{ sticky: { cookie: 'a b' } }, 'upstream x.sticky.cookie'],
    [{ sticky: { cookie: '__Host-x' } }, 'upstream x.sticky.secure'],
    [{ sticky: { cookie: '__Host-x', secure: true, path: '/y' } }, 'upstream x.sticky.path'],
    [{ sticky: { path: '/; Domain=evil.test' } }, 'upstream x.sticky.path'],
    [{ sticky: { sameSite: 'None' } }, 'upstream x.sticky.secure'],
    [{ sticky: { sameSite: 'lax' } }, 'upstream x.sticky.sameSite'],
    [{ sticky: { secret: 'short' } }, 'upstream x.sticky.secret'],
    [{ sticky: { maxAge: 0 } }, 'upstream x.sticky.maxAge'],
    [{ sticky: { domain: 'x' } }, 'upstream x.sticky.domain'],
    [{ slowStart: -1 }, 'upstream x.slowStart'],
    [{ warm: 129 }, 'upstream x.warm'],
    [{ connections: 0 }, 'upstream x.connections'],
    [{ drainTimeout: 0 }, 'upstream x.drainTimeout'],
    [{ timeouts: { head: 0 } }, 'upstream x.timeouts.head'],
    [{ timeouts: { heads: 1 } }, 'upstream x.timeouts.heads'],
    [{ tls: { key: '-----BEGIN PRIVATE KEY-----' } }, 'upstream x.tls.cert'],
    [{ tls: { servername: 'a b' } }, 'upstream x.tls.servername'],
    [{ tls: { rejectUnauthorized: false } }, 'upstream x.tls.rejectUnauthorized'],
    [{ dns: { interval: -1, minimum: 1 } }, 'upstream x.dns.interval'],
    [{ dns: { interval: 500, minimum: 501 } }, 'upstream x.dns.minimum'],
    [{ dns: { resolver: '8.8.8.8' } }, 'upstream x.dns.resolver'],
    [{ health: { panic: 2 } }, 'upstream x.health.panic'],
    [{ health: { checks: {} } }, 'upstream x.health.checks'],
    [{ health: { check: 'healthz' } }, 'upstream x.health.check.path'],
    [{ health: { check: { path: '/a b' } } }, 'upstream x.health.check.path'],
    [{ health: { check: { path: '/', method: 'POST' } } }, 'upstream x.health.check.method'],
    [{ health: { check: { host: 'a b' } } }, 'upstream x.health.check.host'],
    [{ health: { check: { status: 99 } } }, 'upstream x.health.check.status'],
    [{ health: { check: { initial: 'unknown' } } }, 'upstream x.health.check.initial'],
    [{ health: { check: { rise: 0 } } }, 'upstream x.health.check.rise'],
    [{ health: { passive: { consecutive: 0 } } }, 'upstream x.health.passive.consecutive'],
    [{ health: { passive: { errorRate: { share: 0 } } } }, 'upstream x.health.passive.errorRate.share'],
    [{ health: { passive: { slow: { factor: 1 } } } }, 'upstream x.health.passive.slow.factor'],
    [{ health: { passive: { statuses: [200] } } }, 'upstream x.health.passive.statuses'],
    [{ health: { passive: { backoff: 10, maxBackoff: 9 } } }, 'upstream x.health.passive.maxBackoff'],
    [{ health: { passive: { probe: 1 } } }, 'upstream x.health.passive.probe'],
    [{ onChange: 'log' }, 'upstream x.onChange'],
    [{ target: 'http://a' }, 'upstream x.target'],
    [{ health: null }, 'upstream x.health'],
    [{ health: { check: null } }, 'upstream x.health.check'],
    [{ health: { check: 5 } }, 'upstream x.health.check'],
    [{ health: { passive: null } }, 'upstream x.health.passive'],
    [{ health: { passive: { statuses: 500 } } }, 'upstream x.health.passive.statuses'],
    [{ health: { passive: { slow: 5 } } }, 'upstream x.health.passive.slow'],
    [{ dns: null }, 'upstream x.dns'],
    [{ sticky: 'srv' }, 'upstream x.sticky'],
    [{ tls: [] }, 'upstream x.tls'],
    [{ tls: { ca: 'no certificate' } }, 'upstream x.tls.ca'],
  ])('%j', (options, place) => {
    let thrown: unknown
    try {
      void upstream({ name: 'x', targets, ...options } as UpstreamOptions).destroy()
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(ConfigError)
    const { faults } = thrown as ConfigError
    expect(faults.map(fault => fault.place)).toEqual([place])
    expect(faults[0]!.fix).toMatch(/[.?…]$/)
  })

  test('are told all at once', () => {
    expect(() => upstream({ name: '', targets: [], warm: -1, slowStart: 0.5 })).toThrow(
      /name[\s\S]*targets[\s\S]*slowStart[\s\S]*warm/,
    )
  })
})

test('add, remove, drain and restore name what is wrong', async () => {
  const group = upstream({ name: 'x', targets: ['http://127.0.0.1:1'] })
  expect(() => group.add('http://127.0.0.1:1/')).toThrow(/there already/)
  expect(() => group.add('nothing')).toThrow(/not an http: or https: URL/)
  for (const call of [
    () => group.remove('http://b'),
    () => group.drain('http://b'),
    () => group.restore('b'),
  ]) {
    expect(call).toThrow(/there is no such target/)
  }
  await group.destroy()
})
