/** One exchange on its way through the five phases. */
import type { Excepted, Following, Inspection, InspectRequest } from '../../engine/types.ts'
import type { AuditLog } from '../audit/log.ts'
import {
  endTransaction,
  startTransaction,
  takeRequestBody,
  takeResponseBody,
  takeResponseHead,
  wantsResponseBody,
} from '../engine/process.ts'
import type { RuleProgram } from '../engine/program.ts'
import type { Exempt, Interruption, RuleMatch, Transaction } from '../engine/transaction.ts'
import { categoryOf, inspectionOf, placeOf } from './findings.ts'

/** Starts a transaction and runs phase 1. */
export function begin(program: RuleProgram, request: InspectRequest, excepted: Excepted | null): Transaction {
  const { method, target, headers, protocol = 'HTTP/1.1', clientAddress } = request
  return startTransaction(
    program,
    {
      method,
      target,
      protocol,
      headers,
      ...(clientAddress === undefined ? {} : { remoteAddress: clientAddress }),
    },
    exemptOf(excepted),
  )
}

function exemptOf(excepted: Excepted | null): Exempt | null {
  if (excepted === null) return null
  return (id, tags, name) => excepted(String(id), categoryOf(tags), placeOf(name))
}

/** {@link Following} over a transaction. It stays with the program that it began with. */
export class RuleFollowing implements Following {
  readonly #tx: Transaction
  readonly #audit: AuditLog | null
  #replyBodyLimit = 0

  constructor(
    program: RuleProgram,
    request: InspectRequest,
    excepted: Excepted | null,
    audit: AuditLog | null,
  ) {
    this.#tx = begin(program, request, excepted)
    this.#audit = audit
  }

  get refused(): boolean {
    return this.#tx.interruption !== null
  }

  requestBody(bytes: Uint8Array | null): boolean {
    takeRequestBody(this.#tx, bytes)
    return this.refused
  }

  replyHead(status: number, headers: readonly (readonly [string, string])[]): boolean {
    const tx = this.#tx
    takeResponseHead(tx, status, headers)
    if (wantsResponseBody(tx)) this.#replyBodyLimit = tx.settings.responseBodyLimit
    return this.refused
  }

  get replyBodyLimit(): number {
    return this.#replyBodyLimit
  }

  replyBody(bytes: Uint8Array | null): boolean {
    takeResponseBody(this.#tx, bytes)
    return this.refused
  }

  end(status: number, headers: readonly (readonly [string, string])[]): void {
    endTransaction(this.#tx)
    this.#audit?.tell(this.#tx, status, headers)
  }

  /** The rules that matched and are logged. */
  get matches(): readonly RuleMatch[] {
    return this.#tx.matches
  }

  get interruption(): Interruption | null {
    return this.#tx.interruption
  }

  inspection(): Inspection {
    return inspectionOf(this.#tx)
  }
}
