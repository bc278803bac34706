/** The real SDK, with what it collects kept in memory. */
import type { Attributes } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { onTestFinished } from 'vitest'
import { until } from './servers.ts'

/** One series of a histogram or a counter. */
export interface Series {
  attributes: Attributes
  /** Of a histogram; a counter's value is its sum. */
  count: number
  sum: number
}

export interface Telemetry {
  tracerProvider: BasicTracerProvider
  meterProvider: MeterProvider
  /** Spans that have ended. */
  spans(): ReadableSpan[]
  /** Waits for so many spans; server spans come last. */
  ended(count: number): Promise<ReadableSpan[]>
  /** All series of a metric. */
  series(name: string): Promise<Series[]>
}

export function telemetry(sampler?: Sampler): Telemetry {
  const exporter = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler && { sampler }),
  })
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 3_600_000,
    exportTimeoutMillis: 30_000,
  })
  const meterProvider = new MeterProvider({ readers: [reader] })
  onTestFinished(async () => {
    await tracerProvider.shutdown()
    await meterProvider.shutdown()
  })
  return {
    tracerProvider,
    meterProvider,
    spans: () => exporter.getFinishedSpans(),
    async ended(count) {
      await until(`${count} spans have ended`, () => exporter.getFinishedSpans().length >= count)
      return exporter.getFinishedSpans()
    },
    async series(name) {
      metricExporter.reset()
      await reader.forceFlush()
      const all = metricExporter
        .getMetrics()
        .flatMap(one => one.scopeMetrics)
        .flatMap(one => one.metrics)
      return all
        .filter(one => one.descriptor.name === name)
        .flatMap(one =>
          one.dataPoints.map(({ attributes, value }) =>
            typeof value === 'number'
              ? { attributes, count: 0, sum: value }
              : {
                  attributes,
                  count: (value as { count: number }).count,
                  sum: (value as { sum: number }).sum,
                },
          ),
        )
    },
  }
}
