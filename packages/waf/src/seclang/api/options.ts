/** Options of the rule engine. */
import { ConfigError, type ConfigFault } from '@postern/core'

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
}

const OPTIONS = ['files', 'rules', 'recommended', 'mode', 'set']
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
  if (faults.length > 0) throw new ConfigError(faults)
}

type Add = (place: string, problem: string, fix: string) => void

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
