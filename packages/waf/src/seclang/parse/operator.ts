import { Mistake } from './fault.ts'

/** An operator as written. */
export interface OperatorSpec {
  /** Lower case, without `@`. */
  readonly name: string
  readonly argument: string
  readonly negated: boolean
}

/** Reads `@rx pattern`, `!@pm a b`, or a bare pattern, which means `@rx`. */
export function parseOperator(text: string): OperatorSpec {
  const trimmed = text.trimStart()
  const negated = trimmed.startsWith('!')
  const body = negated ? trimmed.slice(1).trimStart() : trimmed
  if (!body.startsWith('@')) return { name: 'rx', argument: body, negated }
  const found = /^@([A-Za-z0-9]+)(?:[ \t]+([\s\S]*))?$/.exec(body)
  if (!found) throw new Mistake(`'${body.slice(0, 40)}' is no operator`, 'Write @name argument.')
  return { name: found[1]!.toLowerCase(), argument: found[2] ?? '', negated }
}
