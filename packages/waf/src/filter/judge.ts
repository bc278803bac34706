/** From what an engine found to what the filter does: the report, the call-back, the answer. */
import { type Context, type Reply, type RequestHead, reply } from '@postern/core'
import type { Inspection, InspectRequest, Violation } from '../engine/types.ts'
import type { RouteExceptions } from './exceptions.ts'
import type { Settings } from './options.ts'
import { reasonOf, reportOf, type WafReport } from './report.ts'
import { redacted } from './secrets.ts'

/** The report of an inspection, with what is excepted left out. */
export function judged(
  { engine, mode, isSecret }: Settings<string>,
  given: Inspection,
  exceptions: RouteExceptions | null,
  partial: boolean,
): WafReport {
  const inspection = exceptions === null ? given : withoutExcepted(given, exceptions.violation)
  return reportOf(engine.name, mode, inspection, redacted(inspection.findings, isSecret), partial)
}

function withoutExcepted(given: Inspection, isExcepted: (violation: Violation) => boolean): Inspection {
  if (given.violation === null || !isExcepted(given.violation)) return given
  return { ...given, violation: null, blocked: given.score >= given.threshold }
}

/** Tells whoever wants to hear of findings. */
export function tell({ onFindings }: Settings<string>, report: WafReport, cx: Context): void {
  if (onFindings === null || report.line === '') return
  try {
    onFindings(report, cx)
  } catch (cause) {
    // Whoever counts must not decide: the request goes on as the rules say.
    warn(cause)
  }
}

export function warn(cause: unknown): void {
  process.emitWarning(cause instanceof Error ? cause : String(cause), 'PosternFilterWarning')
}

/** The refusal: it says nothing of the reason. `undefined` when the request passes. */
export function refusalOf(report: WafReport, answer: Inspection['answer']): Reply | undefined {
  if (!report.blocked || report.mode === 'shadow') return undefined
  const { status, location } = answer ?? { status: 403 }
  const refusal = reply(status, `${status} ${WORDS[status] ?? 'refused'}\n`, { reason: reasonOf(report) })
  if (location !== undefined) refusal.headers.append('Location', location)
  refusal.headers.append('Cache-Control', 'no-store')
  return refusal
}

const WORDS: Readonly<Record<number, string>> = { 403: 'forbidden' }

/** The request as engines take it; the body is the bytes that go to the handler. */
export function requestOf({ request }: Context, body: Uint8Array | null, partial: boolean): InspectRequest {
  const plain = {
    method: request.method,
    target: request.target,
    headers: headersOf(request),
    body,
    clientAddress: request.clientAddress,
    protocol: `HTTP/${request.version}`,
  }
  return partial ? { ...plain, bodyTruncated: true } : plain
}

/** HTTP/2 names the host in `:authority` (RFC 9113, 8.3.1); rules look for it in `Host`. */
function headersOf({ headers, authority }: RequestHead): [string, string][] {
  const pairs = pairsOf(headers.raw)
  if (authority !== '' && !headers.has('host')) pairs.unshift(['Host', authority])
  return pairs
}

/** Names and values in turn, as pairs. */
export function pairsOf(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i]!, raw[i + 1]!])
  return pairs
}
