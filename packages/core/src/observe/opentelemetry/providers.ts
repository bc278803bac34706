/** Tracers and instruments of whatever SDK the program has, or `null` while it has none: then nothing else is called. */
import {
  createNoopMeter,
  type Meter,
  type MeterProvider,
  metrics,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { Instruments } from './instruments.ts'

const NAME = '@postern/core'

/** The API's own provider, which stands in until an SDK has registered one. */
interface StandIn extends TracerProvider {
  getDelegateTracer?(name: string): Tracer | undefined
}

/** The tracer of the SDK, asked for again until there is one. */
export class TracerFinder {
  readonly #given: TracerProvider | undefined
  #provider: TracerProvider | null = null
  #tracer: Tracer | null = null

  constructor(given: TracerProvider | undefined) {
    this.#given = given
  }

  find(): Tracer | null {
    const provider = this.#given ?? trace.getTracerProvider()
    if (this.#tracer !== null && provider === this.#provider) return this.#tracer
    this.#provider = provider
    const { getDelegateTracer } = provider as StandIn
    this.#tracer =
      getDelegateTracer === undefined
        ? provider.getTracer(NAME)
        : (getDelegateTracer.call(provider, NAME) ?? null)
    return this.#tracer
  }
}

/** The instruments of the SDK, made once. */
export class InstrumentFinder {
  readonly #given: MeterProvider | undefined
  #provider: MeterProvider | null = null
  #instruments: Instruments | null = null

  constructor(given: MeterProvider | undefined) {
    this.#given = given
  }

  find(): Instruments | null {
    const provider = this.#given ?? metrics.getMeterProvider()
    if (provider === this.#provider) return this.#instruments
    this.#provider = provider
    const meter: Meter = provider.getMeter(NAME)
    this.#instruments = meter === createNoopMeter() ? null : new Instruments(meter)
    return this.#instruments
  }
}
