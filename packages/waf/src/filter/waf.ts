/**
 * The filter: an engine in the pipeline.
 *
 *   1. a request without a body is looked at with its head
 *   2. a body is held, whole or up to the limit, and looked at together with the head
 *   3. what counts is put into the state, told, and answered with 403
 *
 * The engine sees the raw target, the fields and the bytes that go to the handler, and nothing else of the request.
 */
import { type Context, type Filter, type Reply, refuse, reply } from '@postern/core'
import { Collector, declaredLength } from '../body/collector.ts'
import type { Engine, Inspection, InspectRequest, Violation } from '../engine/types.ts'
import { type Settings, settle, type WafOptions } from './options.ts'
import { reasonOf, reportOf, type WafReport } from './report.ts'
import { redacted } from './secrets.ts'

/** State of the filter: what it made of the request; `null` before it has looked. */
export type WafState<Field extends string> = { [K in Field]: WafReport | null }

/**
 * Looks at each request with `engine` and refuses what it blocks: 403, with a reply that says nothing of the reason. The log
 * gets `waf-` and a category as the reason, and the rules with their places through the state.
 *
 * A body waits in memory until it has been looked at: at most `maxBody` bytes and one chunk a request. Streams in both
 * directions (gRPC) do not work through it.
 * @example pipeline().use(waf(signatures(), { mode: 'shadow' }))
 * @throws ConfigError with every fault of the options.
 */
export function waf<const Field extends string = 'waf'>(
  engine: Engine,
  options: WafOptions<Field> = {},
): Filter<object, WafState<Field>> {
  const settings = settle(engine, options)
  const { field, maxBody, rejects } = settings
  // A second WAF in the pipeline holds chunks of its own.
  const held = Symbol('held')
  type Inner = { [held]: Collector | null } & Record<string, WafReport | null>
  const stateOf = (cx: Context): Inner => cx.state as unknown as Inner

  return {
    name: 'waf',
    state: () => ({ [field]: null, [held]: null }) as unknown as WafState<Field>,
    // 1
    onRequest: function lookAtHead(cx: Context): Reply | undefined {
      if (cx.body === null) return decide(settings, cx, null, false, stateOf(cx))
      if (rejects && declaredLength(cx.request.headers.get('content-length')) > maxBody)
        return refuse(413, 'body-too-large')
      stateOf(cx)[held] = new Collector(maxBody)
      return undefined
    },
    // One byte more than the limit tells a body of exactly this size from a longer one.
    holdBody: () => maxBody + 1,
    // 2
    onRequestBody: function lookAtBody(cx: Context, bytes: Uint8Array, end: boolean): Reply | undefined {
      const state = stateOf(cx)
      const mine = state[held]
      if (mine === null || !mine.add(bytes, end)) return undefined
      const { past } = mine
      const body = mine.take()
      if (past && rejects) return refuse(413, 'body-too-large')
      return decide(settings, cx, body, past, state)
    },
  }
}

// 3
function decide(
  settings: Settings<string>,
  cx: Context,
  body: Uint8Array | null,
  partial: boolean,
  state: Record<string, WafReport | null>,
): Reply | undefined {
  const { engine, mode, isSecret, onFindings } = settings
  const exceptions = settings.exceptionsOf(cx.route)
  let given: Inspection
  try {
    given = engine.inspect(requestOf(cx, body, partial), exceptions?.findings ?? null)
  } catch (cause) {
    // An engine that fails has not looked: nothing passes for that, but a shadow never stands in the way.
    if (mode === 'block') throw cause
    warn(cause)
    return undefined
  }
  const inspection = exceptions === null ? given : withoutExcepted(given, exceptions.violation)
  const report = reportOf(engine.name, mode, inspection, redacted(inspection.findings, isSecret), partial)
  state[settings.field] = report
  if (onFindings !== null && report.line !== '') tell(onFindings, report, cx)
  if (!report.blocked || mode === 'shadow') return undefined
  const answer = reply(403, '403 forbidden\n', { reason: reasonOf(report) })
  answer.headers.append('Cache-Control', 'no-store')
  return answer
}

function withoutExcepted(given: Inspection, isExcepted: (violation: Violation) => boolean): Inspection {
  if (given.violation === null || !isExcepted(given.violation)) return given
  return { ...given, violation: null, blocked: given.score >= given.threshold }
}

function tell(onFindings: (report: WafReport, cx: Context) => void, report: WafReport, cx: Context): void {
  try {
    onFindings(report, cx)
  } catch (cause) {
    // Whoever counts must not decide: the request goes on as the rules say.
    warn(cause)
  }
}

function warn(cause: unknown): void {
  process.emitWarning(cause instanceof Error ? cause : String(cause), 'PosternFilterWarning')
}

function requestOf({ request }: Context, body: Uint8Array | null, partial: boolean): InspectRequest {
  const { raw } = request.headers
  const headers: [string, string][] = []
  for (let i = 0; i < raw.length; i += 2) headers.push([raw[i]!, raw[i + 1]!])
  const plain = {
    method: request.method,
    target: request.target,
    headers,
    body,
    clientAddress: request.clientAddress,
    protocol: `HTTP/${request.version}`,
  }
  return partial ? { ...plain, bodyTruncated: true } : plain
}
