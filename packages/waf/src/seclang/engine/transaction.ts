/** One request and its reply, as rules see them. */
import { emptyBody, type ParsedBody } from '../body/body.ts'
import type { Macro, OperatorContext } from '../operators/operator.ts'
import type { Selector, Target } from '../parse/targets.ts'
import type { Condition, Rule } from '../rules/model.ts'
import type { EngineMode, Settings } from '../rules/settings.ts'
import { type KnownVariable, variableAt, variableOf } from '../variables/index.ts'
import type { RequestView } from '../variables/request.ts'
import { Entry } from './form.ts'
import type { PersistentRecord } from './persistent.ts'
import type { RuleProgram } from './program.ts'
import { Removed } from './removed.ts'
import { TxVariables } from './tx-variables.ts'

/** A reply's head as rules see it. */
export interface ResponseView {
  readonly status: number
  readonly protocol: string
  readonly headers: readonly Entry[]
}

/** A rule that matched, for the log. Strings are bytes. */
export interface RuleMatch {
  readonly rule: Rule
  readonly message: string
  readonly data: string
  /** Name and value of the variable that matched last. */
  readonly variable: string
  readonly value: string
  /** The condition that matched last; `null` for `SecAction`. */
  readonly condition: Condition | null
}

/** What a rule asks the server to do. */
export type Interruption =
  | { readonly kind: 'deny'; readonly status: number; readonly rule: number }
  | { readonly kind: 'drop'; readonly status: number; readonly rule: number }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string; readonly rule: number }

/** Whether a match of a rule on a variable is to be passed over. */
export type Exempt = (id: number, tags: readonly string[], variable: string) => boolean

/** What one variable of a list gives. */
export interface Segment {
  /** As it stands in `MATCHED_VAR_NAME`. */
  readonly name: string
  readonly entries: readonly Entry[]
}

/** What a list of variables gives. */
export type Reading = readonly Segment[]

const NO_BODY: ParsedBody = emptyBody()

export class Transaction implements OperatorContext {
  readonly program: RuleProgram
  readonly request: RequestView
  readonly startedAt: number = performance.now()
  /** Settings that `ctl` changed. */
  readonly settings: Settings
  mode: EngineMode
  body: ParsedBody = NO_BODY
  processor = ''
  requestBody = ''
  /** The body as it came; `null` without one. */
  rawBody: Uint8Array | null = null
  requestBodyLength = 0
  forceRequestBody = false
  inboundTooLong = false
  response: ResponseView | null = null
  responseBody = ''
  forceResponseBody = false
  outboundTooLong = false
  auditEngine: Settings['auditEngine']
  matchedValue = ''
  matchedName = ''
  matchedBy: Condition | null = null
  /** Everything that matched in the running chain: names as keys. */
  matched: Entry[] = []
  highestSeverity = 255
  interruption: Interruption | null = null
  /** `allow`: phases up to this one are skipped. */
  allowedUpTo = 0
  readonly matches: RuleMatch[] = []
  /** Matches for the audit log alone: `nolog,auditlog`. */
  readonly quietMatches: RuleMatch[] = []
  readonly removed: Removed = new Removed()
  /** Exceptions that whoever asked has made. */
  exempt: Exempt | null = null
  /** The rule that runs, for `RULE` and messages. */
  running: Rule | null = null
  /** The last phase that ran to its end by the plan, after all before it did. */
  plannedPhases = 0
  /** The collection `TX`. */
  variables: TxVariables
  #records: Map<string, PersistentRecord> | null = null
  /** By the number of the variable. */
  readonly #values: (readonly Entry[] | undefined)[] = []
  readonly #readings: (Reading | undefined)[] = []
  #captured: (() => readonly (string | undefined)[]) | null = null
  #groups: readonly (string | undefined)[] = []

  constructor(program: RuleProgram, request: RequestView) {
    this.program = program
    this.request = request
    this.variables = new TxVariables(program.plan?.watched)
    // A copy only where something is changed.
    this.settings = Object.create(program.set.settings) as Settings
    this.mode = this.settings.engine
    this.auditEngine = this.settings.auditEngine
  }

  /** A body or a reply has come: what was kept about variables that depend on it is no longer true. */
  refresh(): void {
    for (let i = 0; i < this.#values.length; i++) if (variableAt(i).late) this.#values[i] = undefined
    this.#readings.length = 0
  }

  /** An entry for each key of a collection, with the key as its value. */
  named(entries: readonly Entry[]): Entry[] {
    return entries.map(({ key }) => this.program.entry(key, key))
  }

  /** What a variable that is no collection gives. */
  scalar(value: string | number): Entry[] {
    return [this.program.entry('', String(value))]
  }

  /** Values of a variable. */
  values(name: string): readonly Entry[] {
    const variable = variableOf(name)
    return variable === undefined ? [] : this.#valuesOf(variable)
  }

  #valuesOf(variable: KnownVariable): readonly Entry[] {
    if (variable.volatile) return variable.values(this)
    let known = this.#values[variable.number]
    if (known === undefined) {
      known = variable.values(this)
      this.#values[variable.number] = known
    }
    return known
  }

  /** Members that a target names. */
  select(target: Target): readonly Entry[] {
    const { selector, source } = target
    if (source.select !== undefined) return source.select(this, target)
    const all = this.#valuesOf(source)
    if (selector === null) return all
    if (selector.kind === 'key') return all.filter(entry => entry.lower === selector.key)
    return all.filter(entry => this.selects(selector, entry.key))
  }

  selects(selector: NonNullable<Selector>, key: string): boolean {
    return selector.kind === 'key' ? selector.key === key.toLowerCase() : selector.matches(key)
  }

  /** What a list of variables gave before, if that can't have changed since. */
  reading(reads: number): Reading | undefined {
    return reads === -1 ? undefined : this.#readings[reads]
  }

  keepReading(reads: number, reading: Reading): Reading {
    if (reads !== -1) this.#readings[reads] = reading
    return reading
  }

  capture(groups: () => readonly (string | undefined)[]): void {
    this.#captured = groups
  }

  #captures(): readonly (string | undefined)[] {
    if (this.#captured !== null) {
      this.#groups = this.#captured()
      this.#captured = null
    }
    return this.#groups
  }

  /** A variable that rules set; for `TX` also the captures 0 to 9. */
  variable(collection: string, key: string): Entry | undefined {
    if (collection !== 'TX') return this.#records?.get(collection)?.get(key, Date.now())
    if (key.length === 1 && key >= '0' && key <= '9') {
      const group = this.#captures()[Number(key)]
      if (group !== undefined) return new Entry(key, group)
    }
    return this.variables.get(key)
  }

  /** Variables of a collection that rules set: all of them, or those whose keys a selector takes. */
  collection(collection: string, selector: Selector = null): readonly Entry[] {
    const takes = ({ key }: Entry): boolean => selector === null || this.selects(selector, key)
    if (collection !== 'TX') return this.#records?.get(collection)?.entries(Date.now()).filter(takes) ?? []
    const found: Entry[] = []
    for (const entry of this.variables.entries()) if (takes(entry)) found.push(entry)
    const groups = this.#captures()
    for (let i = 0; i < groups.length && i <= 9; i++) {
      const group = groups[i]
      if (group === undefined) continue
      const entry = new Entry(String(i), group)
      if (takes(entry)) found.push(entry)
    }
    return found
  }

  setVariable(collection: string, key: string, value: string): void {
    if (collection === 'TX') this.variables.set(key, value)
    else this.#records?.get(collection)?.set(key, value, Date.now())
  }

  removeVariable(collection: string, key: string): void {
    if (collection === 'TX') this.variables.remove(key)
    else this.#records?.get(collection)?.delete(key)
  }

  expireVariable(collection: string, key: string, seconds: number): void {
    this.#records?.get(collection)?.expire(key, Date.now() + seconds * 1000)
  }

  openRecord(collection: string, key: string): void {
    this.#records ??= new Map()
    this.#records.set(collection, this.program.persistent.record(collection, key))
  }

  /** Text with its macros replaced. A variable that is not there is empty. */
  expand(macro: Macro): string {
    if (macro.constant !== null) return macro.constant
    let out = ''
    for (const part of macro.parts) {
      if (typeof part === 'string') out += part
      else out += this.#macroValue(part.variable, part.key) ?? part.source
    }
    return out
  }

  #macroValue(name: string, key: string | null): string | null {
    const source = variableOf(name)
    if (source === undefined) return null
    if (key === null) return this.values(name)[0]?.value ?? ''
    if (name === 'TX') return this.variable('TX', key)?.value ?? ''
    const selector: Selector = { kind: 'key', key }
    return this.select({ variable: name, selector, count: false, source })[0]?.value ?? ''
  }

  /** `RULE`: fields of the rule that runs. */
  ruleFields(): Entry[] {
    const { running } = this
    if (running === null) return []
    return [
      new Entry('id', String(running.id)),
      new Entry('msg', running.message === null ? '' : running.message.source),
      new Entry('severity', running.severity === null ? '' : String(running.severity)),
      new Entry('rev', running.revision),
    ]
  }
}
