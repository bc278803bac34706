/** Matchers for Vitest and Jest. */
import { explain } from './explain.ts'
import type { Inspected } from './inspect.ts'

/** What the matchers add to `expect(inspect(engine, request))`. */
export interface WafMatchers<R = unknown> {
  /** The request is blocked, by its score or for its form. */
  toBeBlocked(): R
  /** The request passes. Findings below the threshold are fine. */
  toPass(): R
  /** A rule or structure gate of this id spoke, whatever came of it; `*` at the end stands for any: `sqli-*`. */
  toMatchRule(id: string): R
}

interface Outcome {
  readonly pass: boolean
  readonly message: () => string
}

/**
 * The matchers as plain functions, for `expect.extend(matchers)`. Importing `@postern/waf/testing/vitest` or
 * `@postern/waf/testing/jest` does that and brings their types.
 */
export const matchers: {
  toBeBlocked(received: unknown): Outcome
  toPass(received: unknown): Outcome
  toMatchRule(received: unknown, id: string): Outcome
} = {
  toBeBlocked: received => outcome(received, ({ blocked }) => blocked, 'to be blocked'),
  toPass: received => outcome(received, ({ blocked }) => !blocked, 'to pass'),
  toMatchRule: (received, id) =>
    outcome(received, inspected => matchesRule(inspected, id), `to match rule ${id}`),
}

/** True when a rule of this id spoke. */
export function matchesRule({ findings, violation }: Inspected, id: string): boolean {
  const fits = id.endsWith('*')
    ? (rule: string): boolean => rule.startsWith(id.slice(0, -1))
    : (rule: string): boolean => rule === id
  return (violation !== null && fits(violation.rule)) || findings.some(finding => fits(finding.rule))
}

function outcome(received: unknown, test: (inspected: Inspected) => boolean, wish: string): Outcome {
  const inspected = received as Inspected
  if (typeof inspected?.engine?.inspect !== 'function' || typeof inspected.blocked !== 'boolean') {
    throw new TypeError('expect takes what inspect(engine, request) gives')
  }
  const pass = test(inspected)
  const message = (): string =>
    `expected the request ${pass ? 'not ' : ''}${wish}\n\n${explain(inspected.engine, inspected.request, inspected)}`
  return { pass, message }
}
