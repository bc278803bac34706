/** @postern/waf: the web application firewall. */
export type { ReadOptions } from './body/index.ts'
export { type SignatureOptions, signatures } from './engine/signatures.ts'
export type {
  Category,
  Engine,
  Excepted,
  Finding,
  Following,
  Inspection,
  InspectReply,
  InspectRequest,
  Severity,
  Violation,
} from './engine/types.ts'
export { CATEGORIES } from './engine/types.ts'
export { type WafException, type WafOptions, type WafReport, type WafState, waf } from './filter/index.ts'
export type { Pattern, Profile } from './patterns/pattern.ts'
export type { Token } from './patterns/tokens.ts'
export * as token from './patterns/tokens.ts'
export { type BodyFault, type JsonSchema, type JsonSchemaOptions, jsonSchema } from './schema/index.ts'
export {
  type AuditEntry,
  type AuditOptions,
  type AuditSink,
  type ReloadEvent,
  type RuleEngine,
  RuleError,
  type RuleFault,
  type SeclangOptions,
  seclang,
} from './seclang/index.ts'
