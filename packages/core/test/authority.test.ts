/** B034: one name for router, log and upstream. */
import { describe, expect, it } from 'vitest'
import { type Filter, pipeline, proxy, reply } from '../src/index.ts'
import { raw1, request2, session2 } from './support/clients.ts'
import { edge, field, fields, origin, testUpstream } from './support/servers.ts'

async function hosted() {
  const up = await origin()
  const seen: string[] = []
  const spy: Filter = {
    name: 'spy',
    onRequest: cx => {
      seen.push(cx.request.authority)
      return undefined
    },
  }
  const app = pipeline()
    .use(spy)
    .host('b.test', h => h.handle(() => reply(200, 'site b')))
    .host('*.wild.test', h => h.handle(() => reply(200, 'wild')))
    .handle(proxy(testUpstream(up.url)))
  return { up, seen, h1: await edge(app), h2: await edge(app, 'h2c') }
}

const ask = (port: number, ...lines: string[]) =>
  raw1(port, ['GET / HTTP/1.1', ...lines, 'Connection: close', '', ''].join('\r\n'))

describe('HTTP/1.1', () => {
  it.each([
    ['A.Test', 'a.test'],
    ['a.test.', 'a.test'],
    ['a.test:80', 'a.test'],
    ['a.test:8080', 'a.test:8080'],
    ['[::1]:80', '[::1]'],
    ['[2001:DB8:0::1]:81', '[2001:db8::1]:81'],
    ['a.test:', 'a.test'],
  ])('reads Host %s as %s', async (host, expected) => {
    const { h1, seen, up } = await hosted()
    expect((await ask(h1.port, `Host: ${host}`)).status).toBe(200)
    expect(seen).toEqual([expected])
    expect(field(up.seen[0]!.raw, 'x-forwarded-host')).toBe(expected)
    expect(fields(up.seen[0]!.raw, 'host')).toEqual([expected])
  })

  it.each([
    ['two lines', ['Host: a.test', 'Host: a.test']],
    ['two different lines', ['Host: a.test', 'Host: b.test']],
    ['none', []],
    ['an empty one', ['Host:']],
    ['a list', ['Host: a.test, b.test']],
    ['a port out of range', ['Host: a.test:99999']],
    ['user information', ['Host: x@a.test']],
    ['a path', ['Host: a.test/x']],
    ['percent-encoding', ['Host: a%2etest']],
    ['an open bracket', ['Host: [::1']],
    ['a space inside', ['Host: a .test']],
  ])('refuses %s', async (_what, lines) => {
    const { h1, up } = await hosted()
    expect((await ask(h1.port, ...lines)).status).toBe(400)
    expect(up.seen).toEqual([])
  })

  it('routes by host, wildcard and exact', async () => {
    const { h1 } = await hosted()
    expect((await ask(h1.port, 'Host: B.test:81')).body).toBe('site b')
    expect((await ask(h1.port, 'Host: x.y.wild.test')).body).toBe('wild')
    expect((await ask(h1.port, 'Host: wild.test')).body).toBe('')
  })
})

describe('HTTP/2', () => {
  it.each([
    ['the same Host', { host: 'a.test' }, 200],
    ['the same Host with the default port', { host: 'a.test:80' }, 200],
    ['another Host', { host: 'evil.test' }, 400],
    ['no Host', {}, 200],
  ])(':authority with %s', async (_what, headers, status) => {
    const { h2, up } = await hosted()
    const answer = await request2(session2(h2.url), { ':path': '/', ':authority': 'a.test', ...headers })
    expect(answer.status).toBe(status)
    if (status === 200) expect(fields(up.seen[0]!.raw, 'host')).toEqual(['a.test'])
  })

  it('takes Host where :authority is missing', async () => {
    const { h2, seen } = await hosted()
    const answer = await request2(session2(h2.url), { ':path': '/', ':authority': '', host: 'a.test' })
    if (answer.status === 200) expect(seen).toEqual(['a.test'])
    else expect([0, 400]).toContain(answer.status)
  })
})
