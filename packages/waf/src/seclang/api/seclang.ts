/** The engine that runs rules of the ModSecurity language. */
import type {
  Category,
  Engine,
  Excepted,
  Finding,
  Inspection,
  InspectRequest,
  Severity,
} from '../../engine/types.ts'
import {
  endTransaction,
  startTransaction,
  takeRequestBody,
  takeResponseBody,
  takeResponseHead,
} from '../engine/process.ts'
import { RuleProgram } from '../engine/program.ts'
import type { RuleMatch, Transaction } from '../engine/transaction.ts'
import { loadRules, type RuleSource } from '../rules/load.ts'
import { checkOptions, type SeclangOptions } from './options.ts'
import { preamble } from './recommended.ts'

/** A reply as rules see it; strings hold one character a byte. */
export interface InspectReply {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body?: Uint8Array | null
}

/** An engine of rules. It takes requests like any other, and replies too. */
export interface RuleEngine extends Engine {
  /** Rules that are loaded. */
  readonly rules: number
  /** Runs phases 1, 2 and 5 over a request. */
  inspect(request: InspectRequest, excepted?: Excepted | null): Inspection
  /** Runs all five phases over a request and its reply. */
  inspectExchange(request: InspectRequest, reply: InspectReply): Inspection
}

/**
 * Loads rules and makes an engine of them.
 * @example const crs = await seclang({ files: ['crs-setup.conf', 'rules/*.conf'], set: { paranoia: 1 } })
 * @throws ConfigError for options that cannot work; RuleError with every mistake of the rules: file, line, rule id, fix.
 */
export async function seclang(options: SeclangOptions): Promise<RuleEngine> {
  checkOptions(options)
  const sources: RuleSource[] = [{ text: preamble(options), name: '(options)' }]
  for (const path of options.files ?? []) sources.push({ path })
  const { rules = [] } = options
  for (const [index, text] of (typeof rules === 'string' ? [rules] : rules).entries()) {
    sources.push({ text, name: `(rules ${index + 1})` })
  }
  return engineOf(new RuleProgram(loadRules(sources)))
}

/** Makes an engine of a loaded program. */
export function engineOf(program: RuleProgram): RuleEngine {
  return Object.freeze({
    name: 'seclang',
    rules: program.set.rules.length,
    inspect(request: InspectRequest, excepted: Excepted | null = null): Inspection {
      const tx = begin(program, request, excepted)
      endTransaction(tx)
      return inspectionOf(tx)
    },
    inspectExchange(request: InspectRequest, reply: InspectReply): Inspection {
      const tx = begin(program, request, null)
      if (tx.interruption === null) takeResponseHead(tx, reply.status, reply.headers)
      if (tx.interruption === null) takeResponseBody(tx, reply.body ?? null)
      endTransaction(tx)
      return inspectionOf(tx)
    },
  })
}

function begin(program: RuleProgram, request: InspectRequest, excepted: Excepted | null): Transaction {
  const exempt =
    excepted === null
      ? null
      : (id: number, tags: readonly string[], name: string) =>
          excepted(String(id), categoryOf(tags), placeOf(name))
  const tx = startTransaction(
    program,
    {
      method: request.method,
      target: request.target,
      protocol: request.protocol ?? 'HTTP/1.1',
      headers: request.headers,
      ...(request.clientAddress === undefined ? {} : { remoteAddress: request.clientAddress }),
    },
    exempt,
  )
  if (tx.interruption === null) takeRequestBody(tx, request.body ?? null)
  return tx
}

function inspectionOf(tx: Transaction): Inspection {
  const number = (name: string): number => Number(tx.variable('TX', name)?.value ?? 0) || 0
  const { interruption } = tx
  return {
    blocked: interruption !== null,
    score: number('blocking_inbound_anomaly_score') + number('blocking_outbound_anomaly_score'),
    threshold: number('inbound_anomaly_score_threshold'),
    findings: tx.matches.map(findingOf),
    violation:
      interruption !== null && interruption.rule === 0
        ? { rule: 'body-limit', place: 'body', message: 'The body is larger than the rules allow.' }
        : null,
  }
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

function findingOf({ rule, message, variable, value }: RuleMatch): Finding {
  const severity = rule.severity ?? 5
  return {
    rule: String(rule.id),
    category: categoryOf(rule.tags),
    severity: SEVERITIES[severity]!,
    score: rule.severity === null ? 0 : SCORES[severity]!,
    place: placeOf(variable),
    excerpt: printable(value),
    message: printable(message, 200),
  }
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

function categoryOf(tags: readonly string[]): Category {
  return CATEGORIES.find(([tag]) => tags.includes(tag))?.[1] ?? 'protocol'
}

/** Names of variables come from clients in part. */
function placeOf(name: string): string {
  return printable(name, 200)
}

function printable(text: string, most: number = MOST): string {
  return text.slice(0, most).replace(/[^\x20-\x7e]/g, '.')
}
