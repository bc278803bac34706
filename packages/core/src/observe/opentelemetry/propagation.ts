/** The trace on the wire: W3C Trace Context in both directions. */
import {
  type Context as ApiContext,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { onlyValue, replaceField } from '../../gates/fields.ts'
import { boundedTraceState, readTraceParent } from '../../gates/trace-parent.ts'
import type { HeaderList } from '../../headers/list.ts'

/** The context of a request's caller; the root where there is none, or one that is invalid. */
export function callerOf(headers: HeaderList): ApiContext {
  const line = onlyValue(headers.raw, 'traceparent')
  const parent = line ? readTraceParent(line) : null
  if (parent === null) return ROOT_CONTEXT
  const state = boundedTraceState(headers.joined('tracestate'))
  const context: SpanContext = {
    traceId: parent.traceId,
    spanId: parent.parentId,
    traceFlags: parent.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(state !== '' && { traceState: createTraceState(state) }),
  }
  return trace.setSpanContext(ROOT_CONTEXT, context)
}

/** Names a span as the parent of what a target does; whatever the client sent of these fields goes. */
export function tellParent(headers: HeaderList, span: SpanContext): void {
  if (!isSpanContextValid(span)) return
  const { raw } = headers
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, '0')
  replaceField(raw, 'traceparent', 'traceparent', `00-${span.traceId}-${span.spanId}-${flags}`)
  const state = span.traceState?.serialize() ?? ''
  replaceField(raw, 'tracestate', 'tracestate', state === '' ? null : boundedTraceState(state) || null)
}
