/** Arguments of the commands, checked. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { ruleFiles } from '../seclang/testing/settings.ts'
import { line, UsageError } from './output.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/** What was given: values of options, and the rest in order. */
export interface Given {
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>
  readonly files: readonly string[]
}

/** @throws UsageError for options that are not known, and values that are missing. */
export function given(args: readonly string[], options: Options): Given {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
    })
    return { values: values as Given['values'], files: positionals }
  } catch (error) {
    const { message } = error as Error
    throw new UsageError(line(message.split('. ')[0]!))
  }
}

/** An option that may be given several times. */
export function list({ values }: Given, name: string): string[] {
  return ((values[name] ?? []) as readonly string[]).slice()
}

export function text({ values }: Given, name: string): string | undefined {
  return values[name] as string | undefined
}

/** A whole number in a range. */
export function number(from: Given, name: string, least: number, most: number): number | undefined {
  const value = text(from, name)
  if (value === undefined) return undefined
  const found = Number(value)
  if (!/^\d{1,9}$/.test(value) || found < least || found > most)
    throw new UsageError(`--${name} takes a whole number from ${least} to ${most}, not '${line(value, 40)}'`)
  return found
}

/** Rule files of `--rules`. */
export function rulesOf(from: Given): string[] {
  const paths = list(from, 'rules')
  if (paths.length === 0) throw new UsageError('--rules is missing')
  return paths.flatMap(ruleFiles)
}

export const RULE_OPTIONS = {
  rules: { type: 'string', multiple: true },
  paranoia: { type: 'string' },
} as const
