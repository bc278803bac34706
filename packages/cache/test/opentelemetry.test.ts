/** Spans around a cache: a hit asks nobody, and what is asked is told below the request that wanted it. */
import { pipeline, proxy } from '@postern/core'
import { openTelemetry } from '@postern/core/opentelemetry'
import { expect, it } from 'vitest'
import { ask } from '../../core/test/support/coded.ts'
import { edge, field, origin, testUpstream, until } from '../../core/test/support/servers.ts'
import { telemetry } from '../../core/test/support/telemetry.ts'
import { cache } from '../src/index.ts'

const SERVER = 1
const CLIENT = 2

it('a miss has a client span, a hit has none, a renewal in the background has one', async () => {
  const sdk = telemetry()
  let fields: Record<string, string> = { 'Cache-Control': 'max-age=60' }
  const up = await origin(res => res.writeHead(200, fields).end('x'))
  const app = pipeline()
    .use(openTelemetry({ tracerProvider: sdk.tracerProvider, meterProvider: sdk.meterProvider }))
    .wrap(cache())
    .handle(proxy(testUpstream(up.url)))
  const { port } = await edge(app)
  for (let i = 0; i < 3; i++) await ask(port, '/kept')
  const kept = await sdk.ended(4)
  expect(kept.map(span => span.kind).sort()).toEqual([SERVER, SERVER, SERVER, CLIENT])
  const client = kept.find(span => span.kind === CLIENT)!
  const first = kept.find(span => span.spanContext().spanId === client.parentSpanContext?.spanId)
  expect([first?.kind, first?.attributes['postern.upstream']]).toEqual([SERVER, 'test'])
  expect(field(up.seen[0]!.raw, 'traceparent')).toContain(client.spanContext().spanId)

  fields = { 'Cache-Control': 'max-age=0, stale-while-revalidate=60' }
  await ask(port, '/stale')
  const before = (await sdk.ended(6)).length
  await ask(port, '/stale')
  await until('it is renewed', () => up.seen.length === 3 && sdk.spans().length === before + 2)
  const [renewal, asked] = [CLIENT, SERVER].map(kind =>
    sdk
      .spans()
      .slice(before)
      .find(span => span.kind === kind),
  )
  expect(renewal!.parentSpanContext?.spanId).toBe(asked!.spanContext().spanId)
  for (const one of await sdk.series('http.client.active_requests')) expect(one.sum).toBe(0)
})
