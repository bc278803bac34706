/** A rule program as an engine. */
import type {
  Engine,
  Excepted,
  Following,
  Inspection,
  InspectReply,
  InspectRequest,
} from '../../engine/types.ts'
import type { AuditLog } from '../audit/log.ts'
import { endTransaction, takeRequestBody } from '../engine/process.ts'
import type { RuleProgram } from '../engine/program.ts'
import { inspectionOf } from './findings.ts'
import { begin, RuleFollowing } from './follow.ts'

/** An engine of rules. It takes requests like any other, and replies too. */
export interface RuleEngine extends Engine {
  /** Rules that are loaded. */
  readonly rules: number
  /** Runs phases 1, 2 and 5 over a request. */
  inspect(request: InspectRequest, excepted?: Excepted | null): Inspection
  /** Runs all five phases over a request and its reply. Writes to the audit log, if there is one. */
  inspectExchange(request: InspectRequest, reply: InspectReply): Inspection
  /** Follows an exchange phase by phase: what `waf()` does. */
  follow(request: InspectRequest, excepted?: Excepted | null): Following
  /**
   * Reads files and rules again. Exchanges that have begun end with the rules that they began with.
   * @throws RuleError with every mistake; then the rules that run stay.
   */
  reload(): Promise<void>
  /** Stops watching. The engine goes on with the rules that it has. */
  close(): void
}

/** Where an engine takes its program from, for each exchange anew. */
export interface Running {
  readonly program: RuleProgram
  reload(): Promise<void>
  close(): void
}

const programs = new WeakMap<Engine, Running>()

/** The program that an engine runs now; `null` for an engine of another kind. */
export function programOf(engine: Engine): RuleProgram | null {
  return programs.get(engine)?.program ?? null
}

/** Makes an engine. */
export function engineOf(running: Running, audit: AuditLog | null, mayChange: boolean): RuleEngine {
  const engine: RuleEngine = Object.freeze({
    name: 'seclang',
    looksAtReplies: mayChange || audit !== null || running.program.looksAtReplies,
    get rules() {
      return running.program.set.rules.length
    },
    inspect(request: InspectRequest, excepted: Excepted | null = null): Inspection {
      const tx = begin(running.program, request, excepted)
      takeRequestBody(tx, request.body ?? null)
      endTransaction(tx)
      return inspectionOf(tx)
    },
    follow: (request: InspectRequest, excepted: Excepted | null = null): Following =>
      new RuleFollowing(running.program, request, excepted, audit),
    inspectExchange(request: InspectRequest, reply: InspectReply): Inspection {
      const following = new RuleFollowing(running.program, request, null, audit)
      if (!following.refused) following.requestBody(request.body ?? null)
      if (!following.refused) following.replyHead(reply.status, reply.headers)
      if (!following.refused) following.replyBody(reply.body ?? null)
      following.end(reply.status, reply.headers)
      return following.inspection()
    },
    reload: () => running.reload(),
    close: () => running.close(),
  })
  programs.set(engine, running)
  return engine
}
