/** Traces and metrics of requests and attempts, through @opentelemetry/api. */
import { context, type MeterProvider, ROOT_CONTEXT, type TracerProvider } from '@opentelemetry/api'
import { callback, flag, oneOf, readOptions, something, strings, type Table } from '../../config/check.ts'
import { ConfigError, type ConfigFault } from '../../errors.ts'
import type {
  AttemptWatch,
  Context,
  Filter,
  Handler,
  Outcome,
  SentAttempt,
  Wrapper,
} from '../../pipeline/contract.ts'
import { warnOf } from '../../pipeline/warn.ts'
import { secretNames } from '../redact.ts'
import { AttemptTelemetry } from './attempt-telemetry.ts'
import type { QueryRule } from './attributes.ts'
import { callerOf } from './propagation.ts'
import { InstrumentFinder, TracerFinder } from './providers.ts'
import { RequestTelemetry } from './request-telemetry.ts'

/** Options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /**
   * Whose trace is carried on; default `always`, because what passes is strictly checked and bounded. `trusted` takes only that of a
   * trusted peer, so that no client decides what is sampled; `never` starts a trace at each request.
   */
  accept?: 'always' | 'trusted' | 'never'
  /** Tell queries, with the values of secrets replaced; default true. `false` leaves them out. */
  query?: boolean
  /** Query parameters whose values are replaced, in addition to the usual ones (token, password, code, sig …). */
  redact?: readonly string[]
  /** Requests that leave no trace and are not counted, probes for example; default none. */
  skip?: (cx: Context) => boolean
  /** Default: the one that is registered with the API, also later. */
  tracerProvider?: TracerProvider
  /** Default: the one that is registered with the API, also later. */
  meterProvider?: MeterProvider
}

/** What {@link openTelemetry} adds to the state. */
export interface OpenTelemetryState {
  /** `null` while there is no SDK, and for requests that are skipped. */
  otel: RequestTelemetry | null
}

const RULES: Table<OpenTelemetryOptions> = {
  accept: oneOf('always', 'trusted', 'never'),
  query: flag,
  redact: strings,
  skip: callback,
  tracerProvider: something(
    'a tracer provider',
    value => typeof (value as TracerProvider | null)?.getTracer === 'function',
  ),
  meterProvider: something(
    'a meter provider',
    value => typeof (value as MeterProvider | null)?.getMeter === 'function',
  ),
}

/**
 * A server span for each request, a client span for each attempt, whose id the target gets as `traceparent`, and the metrics of the
 * semantic conventions for HTTP (1.23 and later). Put it first. Until an SDK is registered it does nothing. The access log tells
 * `trace_id` and `span_id`. See docs/observability.md for names.
 * @example
 * import { openTelemetry } from '@postern/core/opentelemetry'
 * pipeline({ trust: ['10.0.0.0/8'] }).use(openTelemetry({ accept: 'trusted' })).handle(proxy(api))
 * @throws ConfigError for options that cannot work.
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Filter<object, OpenTelemetryState> {
  const faults: ConfigFault[] = []
  const given = readOptions<OpenTelemetryOptions>('openTelemetry', options, RULES, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const { accept = 'always', query = true, redact = [], skip } = given
  const rule: QueryRule = query ? secretNames(redact) : null
  const tracers = new TracerFinder(given.tracerProvider)
  const meters = new InstrumentFinder(given.meterProvider)

  return {
    name: 'open-telemetry',
    state: () => ({ otel: null }),
    onRequest: function beginSpan(cx: Context<OpenTelemetryState>): undefined {
      const tracer = tracers.find()
      const instruments = meters.find()
      if ((tracer === null && instruments === null) || skips(skip, cx)) return
      const { request } = cx
      const known = accept === 'always' || (accept === 'trusted' && request.peerTrusted)
      const parent = tracer !== null && known ? callerOf(request.headers) : ROOT_CONTEXT
      const otel = new RequestTelemetry(cx, tracer, instruments, parent, rule)
      cx.state.otel = otel
      otel.enter()
    },
    onAttempt: function beginAttempt(
      cx: Context<OpenTelemetryState>,
      sent: SentAttempt,
    ): AttemptWatch | undefined {
      const { otel } = cx.state
      if (otel === null) return
      return new AttemptTelemetry(sent, otel.context, otel.span && tracers.find(), meters.find(), rule)
    },
    onDone: function endSpan(cx: Context<OpenTelemetryState>, outcome: Outcome): void {
      let { otel } = cx.state
      if (otel === null) {
        // Its head was refused, or a filter in front of this one answered.
        const tracer = tracers.find()
        const instruments = meters.find()
        if ((tracer === null && instruments === null) || skips(skip, cx)) return
        const since = Date.now() - outcome.duration
        otel = new RequestTelemetry(cx, tracer, instruments, ROOT_CONTEXT, rule, since)
      }
      otel.end(cx, outcome)
    },
  }
}

/** A `skip` that throws skips nothing. */
function skips(skip: OpenTelemetryOptions['skip'], cx: Context): boolean {
  if (skip === undefined) return false
  try {
    return skip(cx) === true
  } catch (cause) {
    warnOf('openTelemetry.skip', cause)
    return false
  }
}

/**
 * Runs the handlers behind it with the request's span as the active one, for code that asks the API for it: instrumented clients of
 * databases, for example. It needs a context manager, which SDKs for Node register. `proxy()` does not need it.
 * @example pipeline().use(openTelemetry()).wrap(activeSpan()).route('GET /users/:id', r => r.handle(readUser)).handle()
 */
export function activeSpan(): Wrapper<OpenTelemetryState> {
  return <S extends OpenTelemetryState, P extends object>(inner: Handler<S, P>): Handler<S, P> =>
    cx =>
      cx.state.otel === null ? inner(cx) : context.with(cx.state.otel.context, inner, undefined, cx)
}
