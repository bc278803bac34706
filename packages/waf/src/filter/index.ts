/** The WAF as a filter of the pipeline. */
export type { WafException } from './exceptions.ts'
export type { WafOptions } from './options.ts'
export type { WafReport } from './report.ts'
export { type WafState, waf } from './waf.ts'
