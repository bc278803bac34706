/** What is told of one request: its server span, and its share of the metrics. */
import {
  type Context as ApiContext,
  type Attributes,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Context, Outcome } from '../../pipeline/contract.ts'
import { printable } from '../redact.ts'
import { errorType, methodOf, type QueryRule, routeOf, serverAttributes, spanName } from './attributes.ts'
import type { Instruments } from './instruments.ts'

/** A request in traces and metrics. */
export class RequestTelemetry {
  /** The server span; `null` when nothing traces. */
  readonly span: Span | null
  /** The API's context with the span in it: the parent of spans of your own. */
  readonly context: ApiContext
  /** 32 hex digits; `''` without a trace. */
  readonly traceId: string
  /** 16 hex digits; `''` without a trace. */
  readonly spanId: string
  readonly sampled: boolean
  readonly #instruments: Instruments | null
  readonly #labels: Attributes
  #active = false

  /** `since`: when it began, in ms of the epoch, if that is over already. */
  constructor(
    cx: Context,
    tracer: Tracer | null,
    instruments: Instruments | null,
    parent: ApiContext,
    rule: QueryRule,
    since?: number,
  ) {
    this.#instruments = instruments
    this.#labels = {
      'http.request.method': methodOf(cx.request.method),
      'url.scheme': cx.request.scheme,
    }
    if (tracer === null) {
      this.span = null
      this.context = parent
    } else {
      const options = { kind: SpanKind.SERVER, attributes: serverAttributes(cx, rule) }
      this.span = tracer.startSpan(
        spanName(cx),
        since === undefined ? options : { ...options, startTime: since },
        parent,
      )
      this.context = trace.setSpan(parent, this.span)
    }
    const told = this.span?.spanContext()
    this.traceId = told?.traceId ?? ''
    this.spanId = told?.spanId ?? ''
    this.sampled = ((told?.traceFlags ?? 0) & 1) === 1
  }

  /** It counts as under way from now on. */
  enter(): void {
    this.#active = true
    this.#instruments?.serverActive.add(1, this.#labels, this.context)
  }

  end(cx: Context, outcome: Outcome): void {
    const { error, status } = outcome
    const type = errorType(error, status, 500)
    // 499 is what the log calls it; nothing was sent.
    const sent = status === 499 ? undefined : status
    this.#record(cx, outcome, type, sent)
    const { span } = this
    if (span === null) return
    if (span.isRecording()) {
      if (sent !== undefined) span.setAttribute('http.response.status_code', sent)
      if (type !== undefined) span.setAttribute('error.type', type)
      span.setAttributes(ownAttributes(outcome))
      // A client that leaves, or is refused, is no failure of this server.
      if (status >= 500 || (error !== null && error.source !== 'client')) {
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
    }
    span.end()
  }

  #record(cx: Context, outcome: Outcome, type: string | undefined, sent: number | undefined): void {
    const all = this.#instruments
    if (all === null) return
    const { context } = this
    if (this.#active) all.serverActive.add(-1, this.#labels, context)
    const labels: Attributes = { ...this.#labels, 'network.protocol.version': versionOf(cx) }
    const route = routeOf(cx)
    if (route !== undefined) labels['http.route'] = route
    if (sent !== undefined) labels['http.response.status_code'] = sent
    if (type !== undefined) labels['error.type'] = type
    all.serverDuration.record(outcome.duration / 1000, labels, context)
    all.requestBody.record(outcome.bytesReceived, labels, context)
    all.responseBody.record(outcome.bytesSent, labels, context)
  }
}

function versionOf(cx: Context): string {
  const { version } = cx.request
  return version === '2.0' ? '2' : version
}

function ownAttributes({ filter, reason, upstream, attempts }: Outcome): Attributes {
  const own: Attributes = {}
  if (filter !== null) own['postern.filter'] = filter
  if (reason !== null) own['postern.reason'] = printable(reason, 128)
  if (upstream !== null) own['postern.upstream'] = upstream
  if (attempts > 1) own['postern.attempts'] = attempts
  return own
}
