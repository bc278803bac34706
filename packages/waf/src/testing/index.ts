/** @postern/waf/testing: rules are tested in an app's own suite, with no server running. */
export {
  type CorpusLine,
  type CorpusResult,
  type Count,
  formatCorpus,
  parseCorpus,
  readCorpus,
  requestOf,
  runCorpus,
} from './corpus.ts'
export { explain } from './explain.ts'
export {
  type DescribeFtw,
  type DescribeFtwOptions,
  type FtwBackend,
  type FtwBody,
  type FtwFile,
  type FtwHead,
  type FtwInput,
  type FtwOutput,
  type FtwStage,
  type FtwTest,
  ftwSettings,
  ftwSuites,
  readFtw,
  ruleFiles,
  runFtw,
  type SuiteApi,
} from './ftw.ts'
export { type Inspected, inspect } from './inspect.ts'
export { matchers, type WafMatchers } from './matchers.ts'
export { type RequestParts, request, type UploadedFile } from './request.ts'
export { assertTable, type Failure, failures, type Row } from './table.ts'
