/** Carries a distributed trace through the edge: W3C Trace Context, `traceparent` and `tracestate`. */
import { callback, flag, oneOf, readOptions, something } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context, Filter, ForwardHead } from '../pipeline/contract.ts'
import { onlyValue, replaceField } from './fields.ts'
import { randomHex } from './random-hex.ts'
import { boundedTraceState, readTraceParent } from './trace-parent.ts'

/** Options of {@link traceContext}. */
export interface TraceContextOptions {
  /**
   * Whose trace is carried on; default `always`, because what passes is strictly checked and bounded. `trusted` takes
   * only that of a trusted peer, so that no client decides what is sampled; `never` starts a trace at each request.
   */
  accept?: 'always' | 'trusted' | 'never'
  /** Start a trace where none came, or an invalid one; default true. Without it such a request is forwarded untraced. */
  generate?: boolean
  /** Share of the traces started here that is marked as sampled, 0 to 1; default 1. */
  sampleRatio?: number
  /** Random bytes as lower-case hex; default from the system's generator. */
  random?: (bytes: number) => string
}

const RULES = {
  accept: oneOf('always', 'trusted', 'never'),
  generate: flag,
  sampleRatio: something(
    'a share from 0 to 1',
    ratio => typeof ratio === 'number' && ratio >= 0 && ratio <= 1,
  ),
  random: callback,
}

/** A request's place in its trace. */
export interface Trace {
  /** 32 hex digits, the same for the whole trace. */
  readonly traceId: string
  /** 16 hex digits: the edge's own part, and the parent of what the origin does. */
  readonly spanId: string
  /** Span of the caller; `null` when the trace starts here. */
  readonly parentId: string | null
  readonly sampled: boolean
  /** `tracestate` as it will be forwarded; `''` when there is none. */
  readonly state: string
}

/** What {@link traceContext} adds to the state. */
export interface TraceState {
  /** `null` for a request without a trace (only with `generate: false`, or when the head was refused). */
  trace: Trace | null
}

/**
 * Reads the caller's `traceparent`, or starts a trace, and forwards one that names the edge as the parent.
 * An invalid one is dropped, together with its `tracestate`; it is never a reason to refuse the request
 * (W3C Trace Context, 3.2 and 4).
 * @example pipeline().use(traceContext({ sampleRatio: 0.1 }))
 * @throws ConfigError for an unknown `accept` or a ratio outside 0 to 1.
 */
export function traceContext(options: TraceContextOptions = {}): Filter<object, TraceState> {
  const faults: ConfigFault[] = []
  const given = readOptions<TraceContextOptions>('traceContext', options, RULES, faults)
  const { accept = 'always', generate = true, sampleRatio = 1, random = randomHex } = given
  if (faults.length > 0) throw new ConfigError(faults)

  return {
    name: 'trace-context',
    state: () => ({ trace: null }),
    onRequest: function takeTrace(cx: Context<TraceState>): undefined {
      const { request } = cx
      if (accept === 'always' || (accept === 'trusted' && request.peerTrusted)) {
        const line = onlyValue(request.headers.raw, 'traceparent')
        const parent = line ? readTraceParent(line) : null
        if (parent) {
          cx.state.trace = {
            traceId: parent.traceId,
            spanId: random(8),
            parentId: parent.parentId,
            sampled: parent.sampled,
            state: boundedTraceState(request.headers.joined('tracestate')),
          }
          return
        }
      }
      if (!generate) return
      const traceId = random(16)
      cx.state.trace = {
        traceId,
        spanId: random(8),
        parentId: null,
        sampled: chosen(traceId, sampleRatio),
        state: '',
      }
    },
    onForward: function forwardTrace(cx: Context<TraceState>, out: ForwardHead): void {
      const { trace } = cx.state
      const { raw } = out.headers
      if (trace === null) {
        replaceField(raw, 'traceparent', 'traceparent', null)
        replaceField(raw, 'tracestate', 'tracestate', null)
        return
      }
      const parent = `00-${trace.traceId}-${trace.spanId}-${trace.sampled ? '01' : '00'}`
      replaceField(raw, 'traceparent', 'traceparent', parent)
      replaceField(raw, 'tracestate', 'tracestate', trace.state === '' ? null : trace.state)
    },
  }
}

/** Decided by the id, so that all who apply the same ratio choose the same traces. */
function chosen(traceId: string, ratio: number): boolean {
  return ratio === 1 || Number.parseInt(traceId.slice(24), 16) < ratio * 0x1_0000_0000
}
