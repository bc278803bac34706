/** Options of the rule engine. */
import { ConfigError, type ConfigFault } from '@postern/core'
import { type AuditOptions, checkAudit } from '../audit/options.ts'
import type { ReloadEvent } from '../reload/watch.ts'

/** Options of {@link seclang}. */
export interface SeclangOptions {
  /** Rule files in order; `*` and `?` in the last part of a path stand for parts of names, sorted. */
  files?: readonly string[]
  /** Rules as text, read behind the files. */
  rules?: string | readonly string[]
  /**
   * Put the recommended basic configuration in front: bodies are read, JSON and XML by their media types, bodies that
   * cannot be read are refused. Default true.
   */
  recommended?: boolean
  /** What rules may do. `On` (default) blocks, `DetectionOnly` only tells. `SecRuleEngine` in a file wins. */
  mode?: 'On' | 'DetectionOnly'
  /** Settings of the Core Rule Set, set before its own defaults. */
  set?: {
    /** Paranoia level, 1 to 4; the rule set's own default is 1. */
    paranoia?: number
    /** Score from which a request is blocked; the rule set's own default is 5. */
    inboundThreshold?: number
    /** Score from which a reply is blocked; the rule set's own default is 4. */
    outboundThreshold?: number
    /** Any other `tx.` variables, by name without `tx.`. */
    variables?: Readonly<Record<string, string | number>>
  }
  /**
   * Look every `interval` milliseconds (default 2000, at least 10) whether a file has changed, and load all of them anew once
   * they stay as they are for an interval. Default false. Faulty rules are refused with all their mistakes, and those that
   * run stay.
   */
  watch?: boolean | { readonly interval?: number }
  /** Called after each reload that watching caused. Default: a warning of the process for each that failed. */
  onReload?: (event: ReloadEvent) => void
  /** Where to write the audit log; default nowhere. What is written is for the rules to say: `SecAuditEngine` and so on. */
  audit?: AuditOptions
}

const OPTIONS = ['files', 'rules', 'recommended', 'mode', 'set', 'watch', 'onReload', 'audit']
const SET = ['paranoia', 'inboundThreshold', 'outboundThreshold', 'variables']

/** Checks options. @throws ConfigError with every fault. */
export function checkOptions(options: SeclangOptions): void {
  const faults: ConfigFault[] = []
  const add = (place: string, problem: string, fix: string): void =>
    void faults.push({ place: `seclang.${place}`, problem, fix })
  const given: SeclangOptions = isObject(options) ? options : {}
  if (!isObject(options))
    faults.push({
      place: 'seclang',
      problem: 'its options are no object',
      fix: `It has ${OPTIONS.join(', ')}.`,
    })
  known(given, OPTIONS, '', add)
  const { files = [], rules = [], recommended = true, mode = 'On', set = {} } = given
  if (!isStrings(files)) add('files', 'it is no array of paths', "Write files: ['rules/*.conf'].")
  if (typeof rules !== 'string' && !isStrings(rules))
    add('rules', 'it is no text', 'Write rules as a template string.')
  if (typeof recommended !== 'boolean')
    add('recommended', 'it is neither true nor false', 'Leave it out for true.')
  if (mode !== 'On' && mode !== 'DetectionOnly')
    add('mode', 'it is unknown', "Write 'On' or 'DetectionOnly'.")
  if (Array.isArray(files) && files.length === 0 && rules.length === 0) {
    add('files', 'there are no rules', 'Name files, or write rules.')
  }
  if (!isObject(set)) {
    add('set', 'it is no object', `It has ${SET.join(', ')}.`)
  } else checkSet(set, add)
  checkWatch(given, add)
  if (given.audit !== undefined) checkAudit(given.audit, add)
  if (faults.length > 0) throw new ConfigError(faults)
}

function checkWatch({ watch, onReload }: SeclangOptions, add: Add): void {
  if (isObject(watch)) {
    known(watch, ['interval'], 'watch.', add)
    const { interval = 2000 } = watch
    if (!Number.isSafeInteger(interval) || interval < 10 || interval > 3_600_000)
      add('watch.interval', 'it is no whole number from 10 to 3600000', 'Write milliseconds.')
  } else if (watch !== undefined && typeof watch !== 'boolean') {
    add('watch', 'it is neither true nor false', 'Write true, or { interval: milliseconds }.')
  }
  if (onReload !== undefined && typeof onReload !== 'function')
    add(
      'onReload',
      'it is no function',
      'Write for example ({ error }) => error && log.error(error.message).',
    )
}

export type Add = (place: string, problem: string, fix: string) => void

function checkSet(set: NonNullable<SeclangOptions['set']>, add: Add): void {
  known(set, SET, 'set.', add)
  for (const [name, most] of [
    ['paranoia', 4],
    ['inboundThreshold', 1_000_000],
    ['outboundThreshold', 1_000_000],
  ] as const) {
    const value = set[name]
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1 && value <= most)) continue
    add(`set.${name}`, `it is no whole number from 1 to ${most}`, 'Choose one in that range.')
  }
  const { variables = {} } = set
  if (!isObject(variables)) return add('set.variables', 'it is no object', 'Write { name: value }.')
  for (const [name, value] of Object.entries(variables)) {
    const fits =
      /^[\w.-]{1,100}$/.test(name) &&
      /^[\x20-\x7e]{0,1000}$/.test(String(value)) &&
      !/["'\\%]/.test(String(value))
    if (!fits)
      add(
        `set.variables.${name.slice(0, 40)}`,
        'it can not be written as a rule',
        'Use printable characters without quotes, backslashes and %.',
      )
  }
}

function known(given: object, names: readonly string[], at: string, add: Add): void {
  for (const name of Object.keys(given)) {
    if (!names.includes(name))
      add(`${at}${name.slice(0, 40)}`, 'there is no such option', `Known are ${names.join(', ')}.`)
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every(one => typeof one === 'string')
}
