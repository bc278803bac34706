/** Rules of the ModSecurity language, the OWASP Core Rule Set above all. */
export type { SeclangOptions } from './api/options.ts'
export { type InspectReply, type RuleEngine, seclang } from './api/seclang.ts'
export { RuleError, type RuleFault } from './parse/fault.ts'
