/** What rules found, in the words of every engine. */
import { isFieldValue } from '@postern/core'
import type { Category, Finding, Inspection, Severity, Violation } from '../../engine/types.ts'
import type { Interruption, RuleMatch, Transaction } from '../engine/transaction.ts'
import { Subject } from '../regex/subject.ts'

/** What came of a transaction so far. */
export function inspectionOf(tx: Transaction): Inspection {
  const number = (name: string): number => Number(tx.variable('TX', name)?.value ?? 0) || 0
  const { interruption } = tx
  const plain = {
    blocked: interruption !== null,
    score: number('blocking_inbound_anomaly_score') + number('blocking_outbound_anomaly_score'),
    threshold: number('inbound_anomaly_score_threshold'),
    findings: tx.matches.map(findingOf),
    violation: interruption !== null && interruption.rule === 0 ? violationOf(interruption) : null,
  }
  const answer = interruption === null ? undefined : answerOf(interruption)
  return answer === undefined ? plain : { ...plain, answer }
}

function violationOf({ status }: Interruption): Violation {
  return status === 413
    ? { rule: 'body-limit', place: 'body', message: 'The body is larger than the rules allow.' }
    : { rule: 'reply-limit', place: 'reply', message: 'The reply is larger than the rules allow.' }
}

/** The answer that a rule wants, where it is not 403. What can't be sent is 403: a redirect's place may hold what a client wrote. */
function answerOf(interruption: Interruption): { status: number; location?: string } | undefined {
  const { kind, status } = interruption
  if (kind === 'redirect') {
    const { location } = interruption
    return isFieldValue(location) && location.length <= 2048 ? { status, location } : undefined
  }
  return kind === 'deny' && status >= 400 && status !== 403 ? { status } : undefined
}

const SEVERITIES: readonly Severity[] = [
  'critical',
  'critical',
  'critical',
  'high',
  'medium',
  'low',
  'low',
  'low',
]
/** What the Core Rule Set adds for a match of each severity. */
const SCORES = [5, 5, 5, 4, 3, 2, 0, 0]
const MOST = 80
const BEFORE = 20

function findingOf(match: RuleMatch): Finding {
  const { rule, message, variable, value } = match
  const severity = rule.severity ?? 5
  const offset = offsetOf(match)
  const finding = {
    rule: String(rule.id),
    category: categoryOf(rule.tags),
    severity: SEVERITIES[severity]!,
    score: rule.severity === null ? 0 : SCORES[severity]!,
    place: placeOf(variable),
    excerpt: printable(value.length <= MOST ? value : value.slice(Math.max(0, offset - BEFORE))),
    message: printable(message, 200),
    tags: rule.tags,
  }
  return offset < 0 ? finding : { ...finding, offset }
}

/** Where the match begins in the value that the rule saw; -1 where nobody can tell. */
export function offsetOf({ condition, value }: RuleMatch): number {
  if (condition === null || condition.negated || condition.operator?.offset === undefined) return -1
  return condition.operator.offset(new Subject(value))
}

const CATEGORIES: readonly (readonly [string, Category])[] = [
  ['attack-sqli', 'sqli'],
  ['attack-xss', 'xss'],
  ['attack-rce', 'rce'],
  ['attack-injection-php', 'rce'],
  ['attack-injection-java', 'deserialisation'],
  ['attack-injection-generic', 'rce'],
  ['attack-lfi', 'lfi'],
  ['attack-rfi', 'rfi'],
  ['attack-ssrf', 'ssrf'],
  ['attack-ssti', 'ssti'],
  ['attack-reputation-scanner', 'scanner'],
  ['attack-multipart-header', 'protocol'],
]

export function categoryOf(tags: readonly string[]): Category {
  return CATEGORIES.find(([tag]) => tags.includes(tag))?.[1] ?? 'protocol'
}

/** Names of variables come from clients in part. */
export function placeOf(name: string): string {
  return printable(name, 200)
}

/** The text cut, with a dot for all that is no printable ASCII. */
export function printable(text: string, most: number = MOST): string {
  return text.slice(0, most).replace(/[^\x20-\x7e]/g, '.')
}
