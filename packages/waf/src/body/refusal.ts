/** How a reader says that a body is refused for its form. */
import type { Violation } from '../engine/types.ts'

/**
 * Thrown by the readers and caught by the one that called them. No `Error`: a stack for each bad body would be a cheap
 * way to make the edge work.
 */
export class Refusal {
  readonly violation: Violation

  constructor(rule: string, place: string, message: string) {
    this.violation = { rule, place, message }
  }
}

/** Gives the violation of a refusal; whatever else was thrown is a fault of the program and goes on. */
export function violationOf(thrown: unknown): Violation {
  if (thrown instanceof Refusal) return thrown.violation
  throw thrown
}
