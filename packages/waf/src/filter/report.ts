/** What the filter says of a request: to the app, to the log, to metrics. */
import type { Finding, Inspection, Violation } from '../engine/types.ts'

/** What the WAF made of a request; in `cx.state.waf` once it has looked. */
export interface WafReport {
  /** True when the request was, or in shadow mode would have been, refused. */
  readonly blocked: boolean
  /** `block` or `shadow`. */
  readonly mode: 'block' | 'shadow'
  /** Name of the engine. */
  readonly engine: string
  readonly score: number
  readonly threshold: number
  /** Without those that are excepted. Excerpts of cookies, passwords and the like are redacted. */
  readonly findings: readonly Finding[]
  readonly violation: Violation | null
  /** True when only the beginning of the body was looked at. */
  readonly partial: boolean
  /** One bounded line for the log: `blocked 12/5 sqli-union-select@query.id`. `''` when there is nothing to tell. */
  readonly line: string
}

/** Rules that a line names. */
const MOST_NAMED = 8

/** Makes a report of what an engine found and what of it counts. */
export function reportOf(
  engine: string,
  mode: 'block' | 'shadow',
  { blocked, score, threshold, violation }: Inspection,
  findings: readonly Finding[],
  partial: boolean,
): WafReport {
  const line =
    findings.length === 0 && violation === null
      ? ''
      : lineOf(mode, blocked, score, threshold, findings, violation)
  return { blocked, mode, engine, score, threshold, findings, violation, partial, line }
}

function lineOf(
  mode: 'block' | 'shadow',
  blocked: boolean,
  score: number,
  threshold: number,
  findings: readonly Finding[],
  violation: Violation | null,
): string {
  const verdict = !blocked ? 'passed' : mode === 'block' ? 'blocked' : 'would block'
  const named = findings.slice(0, MOST_NAMED).map(({ rule, place }) => `${rule}@${place}`)
  if (violation !== null) named.unshift(`${violation.rule}@${violation.place}`)
  if (findings.length > MOST_NAMED) named.push(`and ${findings.length - MOST_NAMED} more`)
  return `${verdict} ${score}/${threshold} ${named.join(' ')}`
}

/**
 * Reason for the log: `waf-` and the category that weighs most, or `waf-form` for a structure gate. A bounded set, fit for
 * a metrics label. It is not sent.
 */
export function reasonOf({ violation, findings }: WafReport): string {
  if (violation !== null) return 'waf-form'
  const scores = new Map<string, number>()
  let best = 'score'
  let most = 0
  for (const { category, score } of findings) {
    const sum = (scores.get(category) ?? 0) + score
    scores.set(category, sum)
    if (sum > most) {
      most = sum
      best = category
    }
  }
  return `waf-${best}`
}
