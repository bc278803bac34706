/** The whole of /metrics after real traffic: every line is right, and adds up. */
import { expect, it, onTestFinished } from 'vitest'
import { ipAccess, metrics, pipeline, proxy, upstream } from '../src/index.ts'
import { get1, openSocket } from './support/clients.ts'
import { parseExposition } from './support/exposition.ts'
import { edge, origin, until } from './support/servers.ts'

it('tells what happened', async () => {
  const good = await origin(res => setTimeout(() => res.end('good'), 5))
  const bad = await origin((_res, _seen, req) => req.socket.destroy())
  const m = metrics()
  const api = upstream({
    name: 'api',
    targets: [good.url, bad.url],
    onChange: m.onChange,
    health: { passive: { consecutive: 2, backoff: 60_000 } },
  })
  onTestFinished(() => api.destroy())
  const untrack = m.track(api)
  const app = pipeline()
    .use(m.filter)
    .route('GET /metrics', r => r.use(ipAccess({ allow: ['127.0.0.1'] })).handle(m.handler))
    .handle(proxy(api))
  const { port } = await edge(app)
  for (let i = 0; i < 10; i++) expect((await get1(port, '/')).status).toBe(200)
  const socket = openSocket(port)
  const left = good.seen.length
  socket.write('GET /left HTTP/1.1\r\nHost: a\r\n\r\n')
  await until('it runs', () => good.seen.length === left + 1)

  const { status, head, body } = await get1(port, '/metrics')
  expect([status, /text\/plain; version=0\.0\.4; charset=utf-8/.test(head)]).toEqual([200, true])
  const families = parseExposition(body)
  const value = (name: string, labels: Record<string, string>): number | undefined =>
    families
      .get(name)
      ?.samples.find(one => Object.entries(labels).every(([label, text]) => one.labels[label] === text))
      ?.value
  expect(
    value('postern_requests_total', { route: '*', method: 'GET', status: '200' }),
  ).toBeGreaterThanOrEqual(10)
  const retries = value('postern_upstream_retries_total', { upstream: 'api' })!
  expect(retries).toBe(2)
  expect(value('postern_upstream_target_requests_total', { target: bad.url })).toBe(2)
  expect(value('postern_upstream_target_failures_total', { target: bad.url })).toBe(2)
  expect(value('postern_upstream_target_used', { target: bad.url })).toBe(0)
  expect(value('postern_upstream_target_state', { target: bad.url, state: 'open' })).toBe(1)
  expect(value('postern_upstream_target_state', { target: good.url, state: 'up' })).toBe(1)
  expect(
    value('postern_upstream_changes_total', { target: bad.url, to: 'open', reason: 'consecutive-failures' }),
  ).toBe(1)
  expect(value('postern_upstream_panic', { upstream: 'api' })).toBe(0)
  expect(value('postern_upstream_target_connections', { target: good.url })).toBeGreaterThan(0)

  untrack()
  expect(m.text()).not.toContain('postern_upstream_target_requests_total{')
})

it('does not answer those that may not ask, and other methods', async () => {
  const m = metrics()
  const app = pipeline()
    .use(m.filter)
    .route('/metrics', r =>
      r.use(ipAccess({ deny: ['127.0.0.2'], allow: ['127.0.0.0/8'] })).handle(m.handler),
    )
    .handle()
  expect((await app.inject({ path: '/metrics', address: '127.0.0.2' })).status).toBe(403)
  const posted = await app.inject({ path: '/metrics', method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})
