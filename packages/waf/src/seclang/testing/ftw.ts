/** Runs a test of rules against a rule program, in memory. */
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
import { bytesOf, type FtwBody, type FtwHead, type FtwOutput, type FtwStage, type FtwTest } from './types.ts'

export type { FtwTest } from './types.ts'

/** Why a test failed; `null` when it passed. What only a server decides, a status, is not looked at. */
export function runFtw(program: RuleProgram, test: FtwTest): string | null {
  for (const [index, stage] of test.stages.entries()) {
    const problem = runStage(program, stage)
    if (problem !== null) return test.stages.length > 1 ? `stage ${index + 1}: ${problem}` : problem
  }
  return null
}

/** True for a test whose every stage expects a status and nothing of rules: in memory it proves nothing. */
export function isForServers({ stages }: FtwTest): boolean {
  return stages.every(
    ({ output: { expectIds, noExpectIds, logContains, noLogContains } }) =>
      expectIds.length + noExpectIds.length === 0 && logContains === null && noLogContains === null,
  )
}

/** What each stage of a test leaves behind. */
export function transactionsOf(program: RuleProgram, test: FtwTest): Transaction[] {
  return test.stages.map(stage => transactionOf(program, stage))
}

function runStage(program: RuleProgram, stage: FtwStage): string | null {
  return verdict(stage.output, transactionOf(program, stage).matches)
}

function transactionOf(program: RuleProgram, { input, backend }: FtwStage): Transaction {
  const head: FtwHead = input.parsed ?? { ...input, headers: input.sent!.headers, body: input.sent!.body }
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

/** What the log lacks, or has too much of; `null` when it is as expected. */
export function verdict(output: FtwOutput, matches: readonly RuleMatch[]): string | null {
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
