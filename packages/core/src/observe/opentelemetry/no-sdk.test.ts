/** What the filter costs while there is no SDK: calls and memory. */
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { trace } from '@opentelemetry/api'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'
import type { Context, Outcome, SentAttempt } from '../../pipeline/contract.ts'
import { testContext } from '../../testing/context.ts'
import { type OpenTelemetryState, openTelemetry } from './open-telemetry.ts'

const OUTCOME = { status: 200, error: null, duration: 1 } as Outcome
const filter = openTelemetry()
const cx = testContext({ headers: { traceparent: 'x' } }, { otel: null }) as Context<OpenTelemetryState>

/** How often the young generation was collected while `step` ran many times. */
async function scavenges(step: () => unknown): Promise<number> {
  let count = 0
  const observer = new PerformanceObserver(list => {
    for (const entry of list.getEntries()) {
      const { detail } = entry as unknown as { detail: { kind: number } }
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MINOR) count++
    }
  })
  for (let i = 0; i < 10_000; i++) step()
  observer.observe({ entryTypes: ['gc'] })
  for (let i = 0; i < 500_000; i++) step()
  await new Promise(resolve => setTimeout(resolve, 50))
  observer.disconnect()
  return count
}

function request(): void {
  filter.onRequest!(cx)
  filter.onAttempt!(cx, undefined as never as SentAttempt)
  filter.onDone!(cx, OUTCOME)
}

test('nothing is made: half a million requests leave no garbage', { timeout: 60_000 }, async () => {
  const kept: object[] = []
  const control = await scavenges(() => {
    kept[0] = new Array(16)
    request()
  })
  const own = await scavenges(request)
  expect(cx.state.otel).toBeNull()
  // The control makes 144 bytes a request, less than a span takes.
  expect(control).toBeGreaterThan(3)
  expect(own).toBeLessThan(control / 2)
})

test('nothing of the API is called but the look-up of a provider', () => {
  const calls: string[] = []
  const spied = (target: object): object =>
    new Proxy(target, {
      get(object, name) {
        if (name !== 'getDelegateTracer') calls.push(String(name))
        return Reflect.get(object, name)
      },
    })
  const provider = spied(trace.getTracerProvider())
  const own = openTelemetry({ tracerProvider: provider as never })
  calls.length = 0
  own.onRequest!(cx)
  own.onDone!(cx, OUTCOME)
  // The stand-in looks whether it has been replaced, and that is all.
  expect(new Set(calls)).toEqual(new Set(['_delegate']))
})

test('a provider of an SDK is no stand-in', () => {
  const sdk = new BasicTracerProvider()
  const state: OpenTelemetryState = { otel: null }
  openTelemetry({ tracerProvider: sdk }).onRequest!(testContext({}, state))
  expect(state.otel?.traceId).toMatch(/^[0-9a-f]{32}$/)
})
