/** Tables of requests. */
import type { Engine, InspectRequest } from '../engine/types.ts'
import { explain } from './explain.ts'
import { inspect } from './inspect.ts'
import { matchesRule } from './matchers.ts'

/** A row: a name, a request, and what has to come of it: `blocked`, `passes`, or the id of a rule that has to speak. */
export type Row = readonly [
  name: string,
  request: InspectRequest,
  expected: 'blocked' | 'passes' | (string & {}),
]

/** A row that did not come out as it should. */
export interface Failure {
  readonly name: string
  readonly expected: string
  readonly explanation: string
}

/** Runs a table and gives the rows that failed. For tests without a framework, and for reports. */
export function failures(engine: Engine, rows: readonly Row[]): Failure[] {
  const failed: Failure[] = []
  for (const [name, request, expected] of rows) {
    const inspected = inspect(engine, request)
    const fits =
      expected === 'blocked'
        ? inspected.blocked
        : expected === 'passes'
          ? !inspected.blocked
          : matchesRule(inspected, expected)
    if (!fits) failed.push({ name, expected, explanation: explain(engine, request, inspected) })
  }
  return failed
}

/**
 * Runs a table.
 * @example assertTable(engine, [['a name', request('POST /people', { form: { name: "O'Reilly" } }), 'passes']])
 * @throws Error that explains every row that failed; for an empty table too, which proves nothing.
 */
export function assertTable(engine: Engine, rows: readonly Row[]): void {
  if (rows.length === 0) throw new Error('the table is empty')
  const failed = failures(engine, rows)
  if (failed.length === 0) return
  const told = failed.map(
    ({ name, expected, explanation }) => `${name}: expected ${expected}\n${explanation}`,
  )
  throw new Error(`${failed.length} of ${rows.length} rows failed\n\n${told.join('\n\n')}`)
}
