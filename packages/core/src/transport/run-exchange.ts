/** From an exchange that is open to the reply that its link sends, the same for every transport. */
import type { ProxyError } from '../errors.ts'
import type { OpenExchange, Reply } from '../pipeline/contract.ts'
import { bugReply } from '../reply.ts'

/** A client's side of an exchange. */
export interface Answering {
  /** Sends the reply. `error`: why the exchange gave none, and this stands in for it. */
  answer(reply: Reply, error: ProxyError | null): void
}

/** Runs an exchange and hands on what comes of it, a bug included. */
export function runExchange(exchange: OpenExchange, link: Answering): void {
  try {
    const reply = exchange.run()
    if (reply instanceof Promise) {
      reply.then(
        made => link.answer(made, null),
        cause => answerBug(link, cause),
      )
    } else link.answer(reply, null)
  } catch (cause) {
    answerBug(link, cause)
  }
}

function answerBug(link: Answering, cause: unknown): void {
  const made = bugReply(cause)
  link.answer(made, made.error ?? null)
}
