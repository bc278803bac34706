/** Rules of the ModSecurity language, the OWASP Core Rule Set above all. */

export type { RuleEngine } from './api/engine.ts'
export type { SeclangOptions } from './api/options.ts'
export { seclang } from './api/seclang.ts'
export type { AuditEntry, AuditOptions, AuditSink } from './audit/options.ts'
export { RuleError, type RuleFault } from './parse/fault.ts'
export type { ReloadEvent } from './reload/watch.ts'
