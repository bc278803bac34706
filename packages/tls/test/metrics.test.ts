/** The numbers of a store and a front, as Prometheus reads them. */
import { pipeline, reply } from '@postern/core'
import { expect, onTestFinished, test } from 'vitest'
import { listen, tlsMetrics } from '../src/index.ts'
import { authority } from './support/authority.ts'
import { client, get1, store } from './support/servers.ts'

const ca = authority('Root')

test('tells handshakes, connections and the end of each certificate', async () => {
  const pem = [ca.issue({ names: ['a.test', 'b.test'] }), ca.issue({ names: ['*.c.test'] })]
  const { tls } = await store({ pem })
  const front = await listen(
    tls,
    pipeline().handle(() => reply(200)),
    { port: 0, host: '127.0.0.1' },
  )
  onTestFinished(() => front.drain(0))
  const first = await client(front.port, { servername: 'a.test' }, true)
  await get1(front.port, 'a.test', { session: first.session! })
  const text = tlsMetrics(tls, { front })
  expect(text).toContain('\npostern_tls_handshakes_total 2\n')
  expect(text).toContain('\npostern_tls_resumed_total 1\n')
  expect(text).toContain('\npostern_tls_timed_out_total 0\n')
  expect(text).toContain('\npostern_tls_problems 0\n')
  expect(text).toContain('\npostern_tls_connections_total{what="tls"} 2\n')
  const end = Math.floor(tls.find('a.test')!.validTo / 1000)
  expect(text).toContain(`\npostern_tls_certificate_end_seconds{name="a.test"} ${end}\n`)
  expect(text).toContain('{name="*.c.test"}')
  // Every line is a comment or a sample, and no sample is there twice.
  const samples = text
    .trimEnd()
    .split('\n')
    .filter(line => !line.startsWith('# '))
  for (const line of samples) expect(line).toMatch(/^postern_tls_[a-z_]+(\{[a-z]+="[^"\\]*"\})? \d+$/)
  expect(new Set(samples.map(line => line.split(' ')[0])).size).toBe(samples.length)
  expect(tlsMetrics(tls, { prefix: 'edge' })).toMatch(/^# HELP edge_tls_/)
  expect(() => tlsMetrics(tls, { prefix: 'a b' })).toThrow(/no start of a metric name/)
})
