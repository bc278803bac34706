/** What the connections of one server, or of one `(req, res)` function, share. */
import type { ProxyError } from '../../errors.ts'
import type {
  App,
  ClientLink,
  Flow,
  OpenExchange,
  Outcome,
  Reply,
  RequestHead,
  Source,
} from '../../pipeline/contract.ts'
import type { Deadlines } from '../../proxy/deadlines.ts'
import { bugReply } from '../../reply.ts'

/** An app, and how it is served. */
export interface Serving {
  readonly app: App
  readonly draining: boolean
  /** Ends answers that their clients do not take; `null` for no limit. */
  readonly stalls: Deadlines | null
  /** Tunnels that are open. */
  readonly tunnels: Set<Flow>
}

/** Opens an exchange. An app whose filters cannot even make their state answers 500; no filter is there to log it. */
export function openExchange(
  app: App,
  head: RequestHead,
  body: Source | null,
  link: ClientLink,
  fault: ProxyError | null,
): OpenExchange {
  try {
    return app.open(head, body, link, fault)
  } catch (cause) {
    process.emitWarning(cause instanceof Error ? cause : String(cause), 'PosternFilterWarning')
    return new Unopened(cause)
  }
}

class Unopened implements OpenExchange {
  readonly #reply: Reply
  #status = 0
  #bytesSent = 0

  constructor(cause: unknown) {
    this.#reply = bugReply(cause)
  }

  run(): Reply {
    return this.#reply
  }

  abort(): void {}

  done(status: number, bytesSent: number): void {
    this.#status = status
    this.#bytesSent = bytesSent
  }

  get outcome(): Outcome {
    return {
      status: this.#status,
      filter: null,
      reason: this.#reply.reason ?? null,
      error: this.#reply.error ?? null,
      upstream: null,
      target: null,
      attempts: 0,
      bytesReceived: 0,
      bytesSent: this.#bytesSent,
      duration: 0,
    }
  }
}
