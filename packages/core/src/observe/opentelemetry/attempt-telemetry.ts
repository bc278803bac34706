/** What is told of one attempt: its client span, which the target sees as its parent, and its share of the metrics. */
import {
  type Context as ApiContext,
  type Attributes,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { ProxyError } from '../../errors.ts'
import type { AttemptWatch, SentAttempt } from '../../pipeline/contract.ts'
import { errorType, methodOf, placeOf, type QueryRule, urlOf } from './attributes.ts'
import type { Instruments } from './instruments.ts'
import { tellParent } from './propagation.ts'

export class AttemptTelemetry implements AttemptWatch {
  readonly #span: Span | null
  readonly #context: ApiContext
  readonly #instruments: Instruments | null
  readonly #labels: Attributes
  readonly #startedAt = performance.now()
  #status: number | undefined

  constructor(
    sent: SentAttempt,
    parent: ApiContext,
    tracer: Tracer | null,
    instruments: Instruments | null,
    rule: QueryRule,
  ) {
    const place = placeOf(sent.target)
    const method = methodOf(sent.method)
    this.#labels = { 'http.request.method': method, 'server.address': place.address }
    if (place.port !== undefined) this.#labels['server.port'] = place.port
    this.#instruments = instruments
    if (tracer === null) {
      this.#span = null
      this.#context = parent
    } else {
      const attributes: Attributes = {
        ...this.#labels,
        'url.full': urlOf(place, sent.path, rule),
        'postern.upstream': sent.upstream,
      }
      if (sent.attempt > 1) attributes['http.request.resend_count'] = sent.attempt - 1
      if (place.peer !== undefined) attributes['network.peer.address'] = place.peer
      const name = method === '_OTHER' ? 'HTTP' : method
      this.#span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent)
      this.#context = trace.setSpan(parent, this.#span)
      tellParent(sent.headers, this.#span.spanContext())
    }
    instruments?.clientActive.add(1, this.#labels, this.#context)
  }

  onHead(status: number): void {
    this.#status = status
  }

  onEnd(error: ProxyError | null): void {
    const status = this.#status
    const type = errorType(error, status ?? 0, 400)
    const all = this.#instruments
    if (all !== null) {
      all.clientActive.add(-1, this.#labels, this.#context)
      const labels: Attributes = { ...this.#labels }
      if (status !== undefined) labels['http.response.status_code'] = status
      if (type !== undefined) labels['error.type'] = type
      all.clientDuration.record((performance.now() - this.#startedAt) / 1000, labels, this.#context)
    }
    const span = this.#span
    if (span === null) return
    if (span.isRecording()) {
      if (status !== undefined) span.setAttribute('http.response.status_code', status)
      if (type !== undefined) span.setAttribute('error.type', type)
      // Who gives up because the client has left says nothing about the target.
      const failed = error === null ? (status ?? 0) >= 400 : error.source !== 'client'
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end()
  }
}
