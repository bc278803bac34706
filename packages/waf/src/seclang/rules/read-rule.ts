/** One `SecRule` or `SecAction`, read from its words. */

import { parseMacro } from '../engine/macro.ts'
import type { Pipeline, Pipelines } from '../engine/pipeline.ts'
import { operatorFactory } from '../operators/index.ts'
import type { Operator, OperatorSource } from '../operators/operator.ts'
import type { ActionSpec } from '../parse/actions.ts'
import { Mistake } from '../parse/fault.ts'
import { parseOperator } from '../parse/operator.ts'
import type { TargetList } from '../parse/targets.ts'
import { transformation, transformationNames } from '../transform/index.ts'
import { triggersOf } from '../transform/triggers.ts'
import type { Assignment, Condition, Control, Disruption, Expiry, Initialisation } from './model.ts'
import { readCtl } from './read-ctl.ts'
import { readExpirevar, readInitcol, readSetvar } from './read-setvar.ts'

/** A disruptive action as written; `block` waits for the phase's default. */
export type WrittenDisruption = Disruption | { readonly kind: 'block' }

/** What the actions of one rule say. */
export interface Draft {
  id: number | null
  phase: number | null
  disruption: WrittenDisruption | null
  status: number | null
  chain: boolean
  skipAfter: string | null
  skip: number
  /** `log`, `nolog`, `auditlog`, `noauditlog`, in order. */
  readonly logging: string[]
  message: string | null
  logData: string | null
  severity: number | null
  readonly tags: string[]
  version: string
  revision: string
  maturity: string
  accuracy: string
  /** Names of transformations; `none` empties what stood before it. */
  transformations: string[]
  multiMatch: boolean
  capture: boolean
  readonly assignments: Assignment[]
  readonly controls: Control[]
  readonly initialisations: Initialisation[]
  readonly expiries: Expiry[]
}

const SEVERITIES = ['EMERGENCY', 'ALERT', 'CRITICAL', 'ERROR', 'WARNING', 'NOTICE', 'INFO', 'DEBUG']

/** Actions of servers that an embedded engine can't or need not do; they are accepted without effect. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'sanitisearg',
  'sanitisematched',
  'sanitisematchedbytes',
  'sanitiserequestheader',
  'sanitiseresponseheader',
  'deprecatevar',
  'setuid',
  'setrsc',
  'setsid',
  'xmlns',
  'setenv',
  'pause',
])

export function emptyDraft(): Draft {
  return {
    id: null,
    phase: null,
    disruption: null,
    status: null,
    chain: false,
    skipAfter: null,
    skip: 0,
    logging: [],
    message: null,
    logData: null,
    severity: null,
    tags: [],
    version: '',
    revision: '',
    maturity: '',
    accuracy: '',
    transformations: [],
    multiMatch: false,
    capture: false,
    assignments: [],
    controls: [],
    initialisations: [],
    expiries: [],
  }
}

/** Carries actions out on a draft, in order. */
export function applyActions(draft: Draft, actions: readonly ActionSpec[]): void {
  for (const action of actions) applyAction(draft, action)
}

function applyAction(draft: Draft, { name, value }: ActionSpec): void {
  const needed = (): string => {
    if (value === null || value === '')
      throw new Mistake(`action ${name} has no value`, `Write ${name}:value.`)
    return value
  }
  const number = (least: number, most: number): number => {
    const text = needed()
    if (!/^\d{1,15}$/.test(text) || Number(text) < least || Number(text) > most) {
      throw new Mistake(
        `${name}:${text.slice(0, 40)} is out of range`,
        `Write a number from ${least} to ${most}.`,
      )
    }
    return Number(text)
  }
  switch (name) {
    case 'id':
      draft.id = number(1, Number.MAX_SAFE_INTEGER)
      break
    case 'phase':
      draft.phase = phaseOf(needed())
      break
    case 'block':
    case 'pass':
    case 'drop':
      draft.disruption = { kind: name }
      break
    case 'deny':
      draft.disruption = { kind: 'deny', status: 403 }
      break
    case 'redirect':
      draft.disruption = { kind: 'redirect', status: 302, location: parseMacro(needed()) }
      break
    case 'allow':
      draft.disruption = { kind: 'allow', scope: value === null ? 'all' : allowScope(value) }
      break
    case 'status':
      draft.status = number(100, 599)
      break
    case 'chain':
      draft.chain = true
      break
    case 'skipafter':
      draft.skipAfter = needed()
      break
    case 'skip':
      draft.skip = number(1, 10_000)
      break
    case 'log':
    case 'nolog':
    case 'auditlog':
    case 'noauditlog':
      draft.logging.push(name)
      break
    case 'msg':
      draft.message = needed()
      break
    case 'logdata':
      draft.logData = needed()
      break
    case 'severity':
      draft.severity = severityOf(needed())
      break
    case 'tag':
      draft.tags.push(needed())
      break
    case 'ver':
      draft.version = needed()
      break
    case 'rev':
      draft.revision = needed()
      break
    case 'maturity':
      draft.maturity = needed()
      break
    case 'accuracy':
      draft.accuracy = needed()
      break
    case 't':
      draft.transformations = needed().toLowerCase() === 'none' ? [] : [...draft.transformations, needed()]
      break
    case 'multimatch':
      draft.multiMatch = true
      break
    case 'capture':
      draft.capture = true
      break
    case 'setvar':
      draft.assignments.push(readSetvar(needed()))
      break
    case 'ctl':
      draft.controls.push(readCtl(needed()))
      break
    case 'initcol':
      draft.initialisations.push(readInitcol(needed()))
      break
    case 'expirevar':
      draft.expiries.push(readExpirevar(needed()))
      break
    case 'exec':
    case 'proxy':
    case 'append':
    case 'prepend':
      throw new Mistake(
        `action ${name} is not supported`,
        'Leave it out: rules may not start programs or change bodies.',
      )
    default:
      if (!WITHOUT_EFFECT.has(name)) throw new Mistake(`action ${name} is not known`, 'Check its spelling.')
  }
}

function phaseOf(text: string): number {
  const names: Readonly<Record<string, number>> = { request: 2, response: 4, logging: 5 }
  const phase = names[text.toLowerCase()] ?? Number(text)
  if (![1, 2, 3, 4, 5].includes(phase)) throw new Mistake(`phase:${text} does not exist`, 'Write 1 to 5.')
  return phase
}

function allowScope(text: string): 'phase' | 'request' {
  if (text !== 'phase' && text !== 'request')
    throw new Mistake(`allow:${text} is not known`, 'Write allow, allow:phase or allow:request.')
  return text
}

function severityOf(text: string): number {
  const index = SEVERITIES.indexOf(text.toUpperCase())
  const number = index === -1 ? Number(text) : index
  if (!Number.isInteger(number) || number < 0 || number > 7 || text === '') {
    throw new Mistake(`severity:${text} does not exist`, `Write 0 to 7 or ${SEVERITIES.join(', ')}.`)
  }
  return number
}

/** Makes the condition of a draft. */
export function readCondition(
  draft: Draft,
  list: TargetList,
  operatorText: string | null,
  pipelines: Pipelines,
  source: OperatorSource,
): Condition {
  const spec = operatorText === null ? null : parseOperator(operatorText)
  const operator: Operator | null = spec === null ? null : operatorFactory(spec.name)(spec.argument, source)
  const steps: Pipeline[] = [pipelines.empty]
  for (const name of draft.transformations) {
    const run = transformation(name)
    if (!run)
      throw new Mistake(`transformation ${name} is not known`, `Known are ${transformationNames.join(', ')}.`)
    steps.push(pipelines.after(steps.at(-1)!, name.toLowerCase(), run, triggersOf(name)))
  }
  return {
    targets: list.targets,
    exclusions: list.exclusions,
    operator,
    negated: spec?.negated ?? false,
    pipeline: steps.at(-1)!,
    steps: draft.multiMatch ? steps : null,
    capture: draft.capture,
    assignments: draft.assignments,
    controls: draft.controls,
    initialisations: draft.initialisations,
    expiries: draft.expiries,
    reads: -1,
    slot: -1,
  }
}
