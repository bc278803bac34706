/** Rules of the ModSecurity language as an engine. */
import { auditLog } from '../audit/log.ts'
import { Rules } from '../reload/rules.ts'
import { watchRules } from '../reload/watch.ts'
import type { RuleSource } from '../rules/load.ts'
import { engineOf, type RuleEngine } from './engine.ts'
import { checkOptions, type SeclangOptions } from './options.ts'
import { preamble } from './recommended.ts'

/**
 * Loads rules and makes an engine of them.
 * @example const crs = await seclang({ files: ['crs-setup.conf', 'rules/*.conf'], set: { paranoia: 1 }, watch: true })
 * @throws ConfigError for options that cannot work; RuleError with every mistake of the rules: file, line, rule id, fix.
 */
export async function seclang(options: SeclangOptions): Promise<RuleEngine> {
  checkOptions(options)
  const { watch = false, onReload, audit } = options
  const rules = new Rules(sourcesOf(options))
  await rules.reload()
  if (watch !== false) {
    const { interval = 2000 } = watch === true ? {} : watch
    watchRules(rules, interval, onReload ?? warnOfFailure)
  }
  return engineOf(rules, audit === undefined ? null : auditLog(audit), watch !== false)
}

/** What is read, in order. */
export function sourcesOf(options: SeclangOptions): RuleSource[] {
  const sources: RuleSource[] = [{ text: preamble(options), name: '(options)' }]
  for (const path of options.files ?? []) sources.push({ path })
  const { rules = [] } = options
  for (const [index, text] of (typeof rules === 'string' ? [rules] : rules).entries()) {
    sources.push({ text, name: `(rules ${index + 1})` })
  }
  return sources
}

const warnOfFailure: NonNullable<SeclangOptions['onReload']> = ({ error }) => {
  if (error !== null) process.emitWarning(error.message, 'PosternRulesNotReloaded')
}
