/** Runs the regression tests of the Core Rule Set, one JSON record a line, against a rule program. */
import {
  endTransaction,
  startTransaction,
  takeRequestBody,
  takeResponseBody,
  takeResponseHead,
} from '../engine/process.ts'
import type { RuleProgram } from '../engine/program.ts'
import type { RuleMatch, Transaction } from '../engine/transaction.ts'
import { utf8Bytes } from '../transform/bytes.ts'

/** One test: a list of requests, with what the log must say after each. */
export interface FtwTest {
  readonly id: string
  readonly stages: readonly FtwStage[]
}

export interface FtwStage {
  readonly input: FtwInput
  readonly output: FtwOutput
  readonly backend: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string | { readonly text?: string; readonly base64?: string }
    readonly reflect?: boolean
  }
}

interface FtwInput {
  readonly method: string
  readonly uri: string
  readonly version: string
  readonly sent: { readonly headers: readonly (readonly [string, string])[]; readonly body: FtwBody } | null
  readonly parsed?: {
    readonly method: string
    readonly uri: string
    readonly version: string
    readonly headers: readonly (readonly [string, string])[]
    readonly body: FtwBody | string | null
  }
}

type FtwBody = { readonly text?: string; readonly base64?: string }

interface FtwOutput {
  readonly expectIds: readonly number[]
  readonly noExpectIds: readonly number[]
  readonly logContains: string | null
  readonly noLogContains: string | null
}

/** Why a test failed; `null` when it passed. */
export function runFtw(program: RuleProgram, test: FtwTest): string | null {
  for (const [index, stage] of test.stages.entries()) {
    const problem = runStage(program, stage)
    if (problem !== null) return test.stages.length > 1 ? `stage ${index + 1}: ${problem}` : problem
  }
  return null
}

/** What each stage of a test leaves behind. */
export function transactionsOf(program: RuleProgram, test: FtwTest): Transaction[] {
  return test.stages.map(stage => transactionOf(program, stage))
}

function runStage(program: RuleProgram, stage: FtwStage): string | null {
  return verdict(stage.output, transactionOf(program, stage).matches)
}

function transactionOf(program: RuleProgram, { input, backend }: FtwStage): Transaction {
  const head = input.parsed ?? { ...input, headers: input.sent!.headers, body: input.sent!.body }
  const headers = head.headers.map(([name, value]) => [utf8Bytes(name), utf8Bytes(value)] as const)
  const tx = startTransaction(program, {
    method: utf8Bytes(head.method),
    target: utf8Bytes(head.uri),
    protocol: head.version,
    headers,
  })
  takeRequestBody(tx, bodyOf(head.body, headers))
  const answer = bytesOf(backend.body)
  takeResponseHead(tx, backend.status, [
    ...(answer.length > 0 ? ([['Content-Type', 'text/plain']] as const) : []),
    ...Object.entries(backend.headers ?? {}),
  ])
  takeResponseBody(tx, answer)
  endTransaction(tx)
  return tx
}

/** The body as a server cuts it: at Content-Length, chunks joined, none without either. */
function bodyOf(
  body: FtwBody | string | null,
  headers: readonly (readonly [string, string])[],
): Uint8Array | null {
  const bytes = bytesOf(body)
  const field = (wanted: string): string | undefined =>
    headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
  if (/chunked/i.test(field('transfer-encoding') ?? '')) return dechunk(bytes)
  const length = field('content-length')
  return length === undefined ? null : bytes.subarray(0, Number(length))
}

function dechunk(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = []
  let at = 0
  const text = Buffer.from(bytes).toString('latin1')
  for (;;) {
    const line = text.indexOf('\r\n', at)
    const size = line === -1 ? Number.NaN : Number.parseInt(text.slice(at, line), 16)
    if (Number.isNaN(size) || size === 0) break
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
  // Tests that name the coding but send the body as it is.
  return parts.length === 0 ? bytes : Buffer.concat(parts)
}

function bytesOf(body: FtwBody | string | null): Uint8Array {
  if (body === null) return Buffer.alloc(0)
  if (typeof body === 'string') return Buffer.from(body, 'utf8')
  return body.base64 === undefined ? Buffer.from(body.text ?? '', 'utf8') : Buffer.from(body.base64, 'base64')
}

function verdict(output: FtwOutput, matches: readonly RuleMatch[]): string | null {
  const ids = new Set(matches.map(({ rule }) => rule.id))
  const missing = output.expectIds.filter(id => !ids.has(id))
  if (missing.length > 0) return `rule ${missing.join(', ')} did not match`
  const unwanted = output.noExpectIds.filter(id => ids.has(id))
  if (unwanted.length > 0) return `rule ${unwanted.join(', ')} matched`
  const lines = matches.map(logLine)
  if (output.logContains !== null && !lines.some(line => new RegExp(output.logContains!).test(line))) {
    return `no log line fits ${output.logContains}`
  }
  if (output.noLogContains !== null && lines.some(line => new RegExp(output.noLogContains!).test(line))) {
    return `a log line fits ${output.noLogContains}`
  }
  return null
}

/** A match as ModSecurity writes it into the error log. */
export function logLine({ rule, message, data }: RuleMatch): string {
  return `[id "${rule.id}"] [msg "${message}"] [data "${data}"]`
}
