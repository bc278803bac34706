/** One request through one engine. */
import type { Engine, Inspection, InspectRequest } from '../engine/types.ts'

/** An inspection that knows where it comes from, so that a failing test can explain it. */
export interface Inspected extends Inspection {
  readonly engine: Engine
  readonly request: InspectRequest
}

/**
 * Inspects a request.
 * @example expect(inspect(signatures(), request`GET /?id=${"1' or '1'='1"}`)).toBeBlocked()
 */
export function inspect(engine: Engine, request: InspectRequest): Inspected {
  return { ...engine.inspect(request), engine, request }
}
